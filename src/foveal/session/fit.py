"""Fit messages into a window without storing anything."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from foveal import catalog, presets, wire
from foveal.config import Tables
from foveal.errors import ConfigError, InputError, NotFoundError
from foveal.model import Conversation, Entry, Format, Message, handle_of
from foveal.pipeline import fit as pipeline
from foveal.pipeline.history import History
from foveal.pipeline.turns import links
from foveal.pipeline.values import Scene
from foveal.session.arguments import a_time, any_text, in_thread, message_number
from foveal.session.budget import asked_reply, budget_for, check_budget
from foveal.session.search.similarity import similarities_to
from foveal.session.target import Count, Target, system_messages, target_for, tools_text, warn
from foveal.window import Window


def fit(  # noqa: PLR0913 — the front door: every option a build has, by name
    messages: Any,
    *,
    model: str = "",
    budget: int | None = None,
    preset: str = "",
    numbers: Tables | None = None,
    task: str = "",
    tools: Any = None,
    system: str | None = None,
    now: float | None = None,
    counter: str | Count | None = None,
    format: Format | None = None,
    catalogue: Path | None = None,
) -> Window:
    """The best window of these messages that fits the budget, in the format they came in.

    `messages`: a list in any provider's format, SDK objects, or a whole request body.
    `budget`: tokens; by default the model's limit less the requested reply, or its longest.
    `numbers`: settings of presets that replace their defaults: `{"reploid": {"recency": 20}}`.
    `task`, `now`: what the window is for, and the time; the preset `recent` uses neither. If the messages do
    not fit, the default preset searches them for what `task` or a new message of the user refers to.

    >>> history = [{"role": "user", "content": f"line {n}"} for n in range(100)]
    >>> window = fit(history, budget=40)
    >>> window.tokens, [message["content"] for message in window.messages]
    (38, ['line 0', 'line 96', 'line 97', 'line 98', 'line 99'])
    """
    check_budget(budget)
    any_text(task, "task")
    model, moment = catalog.checked(model), a_time(now, "now")
    _check_path(catalogue)
    given = wire.load(messages, format=format, model=model)
    given = replace(
        given,
        messages=(*system_messages(system), *given.messages),
        tools=tools_text(tools) or given.tools,
    )
    target = target_for(model or given.model, given.format, counter=counter, catalogue=catalogue)
    target = target.with_tools(given.tools)
    chosen = presets.find(preset, numbers)
    order = target.order(
        chosen,
        budget=budget_for(target.card, budget, reply=asked_reply(given.envelope)),
        tools=given.tools,
        task=task,
        now=time.time() if moment is None else moment,
    )
    warn(order.warnings)
    history = history_of(given, target)
    if chosen.stable_prefix and (found := relevant_to(history, given.messages, order.scene)):
        order = replace(order, scene=replace(order.scene, relevant=found))
    if similarities := similarities_to(chosen, history, task):
        order = replace(order, scene=replace(order.scene, similarities=similarities))
    fitted = pipeline.fit(history, order)
    fetch = partial(_recall, given.messages)
    return target.window(fitted, given, entries=history.entries, fetch=fetch)


afit = in_thread(fit)
"""`fit` off the event loop."""


def _check_path(catalogue: object) -> None:
    """Refuse a catalogue that is not a path."""
    if catalogue is not None and not isinstance(catalogue, Path):
        raise InputError(
            f"`catalogue` is a {type(catalogue).__name__}, not a path",
            remedy="pass the models file as a `pathlib.Path`",
            field="catalogue",
        )


def relevant_to(history: History, messages: Sequence[Message], scene: Scene) -> tuple[int, ...]:
    """Positions of the messages that match the task or a new message of the user, best first.

    They are indexed here, in memory, if they do not fit and there is something to search for.
    """
    if not scene.task.strip() and messages and messages[-1].role != "user":
        return ()
    if history.tokens <= scene.budget:
        return ()
    from foveal.search.embed import embedder_named
    from foveal.search.index import Index
    from foveal.search.values import Document
    from foveal.session.build.relevant import ranked, to_search

    if not to_search(history, scene):
        return ()
    try:
        embedder = embedder_named("")
    except ConfigError:  # the static embeddings are not installed: words alone decide
        embedder = None
    index = Index(embedder.embed if embedder else None)
    index.extend(
        [
            Document(role=each.role, author=each.author, text=each.text, created_at=each.created_at)
            for each in messages
        ]
    )
    return ranked(index, history, scene)


def history_of(given: Conversation, target: Target) -> History:
    history = History(
        lambda start, stop: given.messages[start:stop], target.frame(given.format, given.envelope)
    )
    history.extend([entry_of(seq, message, target) for seq, message in enumerate(given.messages)])
    return history


def entry_of(seq: int, message: Message, target: Target) -> Entry:
    """A message as a history that is not stored has it."""
    link = links(message)
    return Entry(
        seq=seq,
        id=message.id or f"m{seq + 1}",
        digest=message.digest,
        role=message.role,
        calls=link.calls,
        answers=link.answers,
        tokens=target.meter.message(message),
        pinned=message.pinned,
        important=message.important,
        kind=message.kind,
        created_at=message.created_at,
        level=message.level,
        priority=message.priority,
        private=message.private,
        metadata=json.dumps(dict(message.metadata)) if message.metadata else "",
    )


def _recall(messages: Sequence[Message], handle: str) -> Any:
    for message in messages:
        if handle in (handle_of(message.digest), message.id):
            return json.loads(message.body)
    number = message_number(handle)
    if number is not None and number <= len(messages):
        return json.loads(messages[number - 1].body)
    raise NotFoundError(
        f"this window has no message with the handle {handle!r}",
        remedy="`window.handles(decision)` returns them for every decision of the manifest",
    )


def count_tokens(
    content: Any,
    *,
    model: str = "",
    counter: str | Count | None = None,
    tools: Any = None,
    format: Format | None = None,
    catalogue: Path | None = None,
) -> int:
    """Tokens of a text, or of messages or a request body with everything that the format adds.

    >>> count_tokens("Fix the bug in auth.js", model="gpt-5")
    6
    """
    model = catalog.checked(model)
    _check_path(catalogue)
    if isinstance(content, str):
        return target_for(model, "plain", counter=counter, catalogue=catalogue).tokenizer.count(content)
    given = wire.load(content, format=format, model=model)
    target = target_for(model or given.model, given.format, counter=counter, catalogue=catalogue)
    return target.price(given.messages, tools_text(tools) or given.tools)
