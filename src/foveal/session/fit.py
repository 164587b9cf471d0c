"""Fit messages into a window without storing anything."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from foveal import presets, wire
from foveal.config import Tables
from foveal.errors import NotFoundError
from foveal.model import Conversation, Entry, Format, Message, handle_of
from foveal.pipeline import fit as pipeline
from foveal.pipeline.history import History
from foveal.pipeline.turns import links
from foveal.session.arguments import in_thread
from foveal.session.budget import asked_reply, budget_for, check_budget
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
    `task`, `now`: what the window is for, and the time; the preset `recent` uses neither.

    >>> history = [{"role": "user", "content": f"line {n}"} for n in range(100)]
    >>> window = fit(history, budget=40)
    >>> window.tokens, [message["content"] for message in window.messages]
    (38, ['line 95', 'line 96', 'line 97', 'line 98', 'line 99'])
    """
    check_budget(budget)
    given = wire.load(messages, format=format, model=model)
    given = replace(
        given,
        messages=(*system_messages(system), *given.messages),
        tools=tools_text(tools) or given.tools,
    )
    target = target_for(model or given.model, given.format, counter=counter, catalogue=catalogue)
    target = target.with_tools(given.tools)
    warn(target.warnings)
    order = target.order(
        presets.find(preset, numbers),
        budget=budget_for(target.card, budget, reply=asked_reply(given.envelope)),
        tools=given.tools,
        task=task,
        now=time.time() if now is None else now,
    )
    history = history_of(given, target)
    fitted = pipeline.fit(history, order)
    fetch = partial(_recall, given.messages)
    return target.window(fitted, given, entries=history.entries, fetch=fetch)


afit = in_thread(fit)
"""`fit` off the event loop."""


def history_of(given: Conversation, target: Target) -> History:
    history = History(
        lambda start, stop: given.messages[start:stop], target.frame(given.format, given.envelope)
    )
    history.extend([_entry(seq, message, target) for seq, message in enumerate(given.messages)])
    return history


def _entry(seq: int, message: Message, target: Target) -> Entry:
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
        metadata=json.dumps(dict(message.metadata)) if message.metadata else "",
    )


def _recall(messages: Sequence[Message], handle: str) -> Any:
    for seq, message in enumerate(messages):
        if handle in (handle_of(message.digest), message.id, f"m{seq + 1}"):
            return json.loads(message.body)
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
    if isinstance(content, str):
        return target_for(model, "plain", counter=counter, catalogue=catalogue).tokenizer.count(content)
    given = wire.load(content, format=format, model=model)
    target = target_for(model or given.model, given.format, counter=counter, catalogue=catalogue)
    return target.price(given.messages, tools_text(tools) or given.tools)
