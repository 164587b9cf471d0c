"""Messages in → the window that fits, with nothing stored: the stateless half of the product."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from foveal import presets, wire
from foveal.errors import NotFoundError
from foveal.model import Conversation, Entry, Format, Message, Window, handle_of
from foveal.pipeline import fit as pipeline
from foveal.pipeline.history import History
from foveal.pipeline.turns import links
from foveal.session.offload import in_thread
from foveal.session.target import (
    Count,
    Target,
    asked_reply,
    checked_budget,
    system_messages,
    target,
    tools_text,
    warn,
)


def fit(  # noqa: PLR0913 — the front door: every option a build has, by name
    messages: Any,
    *,
    model: str = "",
    budget: int | None = None,
    preset: str = "",
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
    `budget`: tokens; by default the model's limit less the reply that was asked for or is its longest.
    `task`, `now`: what the window is for and when; the preset `recent` needs neither.

    >>> history = [{"role": "user", "content": f"line {n}"} for n in range(100)]
    >>> window = fit(history, budget=40)
    >>> window.tokens, [message["content"] for message in window.messages]
    (38, ['line 95', 'line 96', 'line 97', 'line 98', 'line 99'])
    """
    checked_budget(budget)
    given = wire.load(messages, format=format, model=model)
    given = replace(
        given,
        messages=(*system_messages(system), *given.messages),
        tools=tools_text(tools) or given.tools,
    )
    aim = target(model or given.model, given.format, counter=counter, catalogue=catalogue)
    warn(aim.warnings)
    order = aim.order(
        presets.find(preset),
        budget=aim.budget(asked_reply(given.envelope)) if budget is None else budget,
        tools=given.tools,
        task=task,
        now=time.time() if now is None else now,
    )
    fitted = pipeline.fit(_history(given, aim), order)
    return aim.window(fitted, given, fetch=partial(_recall, given.messages))


afit = in_thread(fit)
"""`fit` off the event loop."""


def _history(given: Conversation, aim: Target) -> History:
    history = History(lambda start, stop: given.messages[start:stop], aim.frame(given.format))
    history.extend([_entry(seq, message, aim) for seq, message in enumerate(given.messages)])
    return history


def _entry(seq: int, message: Message, aim: Target) -> Entry:
    link = links(message)
    return Entry(
        seq=seq,
        id=message.id or f"m{seq + 1}",
        digest=message.digest,
        role=message.role,
        calls=link.calls,
        answers=link.answers,
        tokens=aim.meter.message(message),
        pinned=message.pinned,
    )


def _recall(messages: Sequence[Message], handle: str) -> Any:
    for seq, message in enumerate(messages):
        if handle in (handle_of(message.digest), message.id, f"m{seq + 1}"):
            return json.loads(message.body)
    raise NotFoundError(
        f"no message here has the handle {handle!r}",
        remedy="use a handle of this window's manifest, or a message's id",
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
    """Tokens of a text, or of messages or a request body with everything the format adds.

    >>> count_tokens("Fix the bug in auth.js", model="gpt-5")
    6
    """
    if isinstance(content, str):
        return target(model, "plain", counter=counter, catalogue=catalogue).tokenizer.count(content)
    given = wire.load(content, format=format, model=model)
    aim = target(model or given.model, given.format, counter=counter, catalogue=catalogue)
    return aim.price(given.messages, tools_text(tools) or given.tools)
