"""Messages of a run of tool calls in OpenAI's format, and their history."""

from __future__ import annotations

import json
from typing import Any

from foveal import wire
from foveal.model import Format
from foveal.pipeline.history import History
from foveal.session.fit import history_of
from foveal.session.target import target_for

JSON = dict[str, Any]


def history_with(messages: list[JSON], format: Format | None = None) -> History:
    given = wire.load(messages, format=format)
    return history_of(given, target_for("", given.format))


def said(text: str) -> JSON:
    return {"role": "user", "content": text}


def call(name: str, number: int, **arguments: object) -> JSON:
    return {
        "id": f"c{number}",
        "type": "function",
        "function": {"name": name, "arguments": json.dumps(arguments)},
    }


def calls(*made: JSON, said: str | None = None) -> JSON:
    return {"role": "assistant", "content": said, "tool_calls": list(made)}


def answer(number: int, text: str) -> JSON:
    return {"role": "tool", "tool_call_id": f"c{number}", "content": text}


def step(number: int, name: str, result: str, **arguments: object) -> list[JSON]:
    """A call and its result."""
    return [calls(call(name, number, **arguments)), answer(number, result)]
