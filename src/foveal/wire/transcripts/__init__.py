"""Read files of messages: JSON, JSONL, and the logs of Claude Code and Codex, recognized by their content.

A JSON file contains a message list or a request body. A JSONL file has one message per line; if its lines are
request bodies, each repeats the history before it, so the last one is the conversation.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from foveal.errors import InputError
from foveal.model import Conversation, Format
from foveal.wire.formats.codec import JSON
from foveal.wire.load import load
from foveal.wire.transcripts import claude_code, codex
from foveal.wire.transcripts.lines import Line

_REMEDY = "use a JSON or JSONL file of messages, or a Claude Code or Codex transcript"


def read_text(
    text: str, *, name: str = "input", format: Format | None = None, model: str = ""
) -> Conversation:
    """Read the text of such a file; errors begin with `name`.

    >>> read_text('{"role": "user", "content": "hello"}\\n{"role": "assistant", "content": "hi"}').format
    'openai'
    """
    if not text.strip():
        raise InputError(f"{name} is empty", _REMEDY)
    whole = _whole(text, name)
    if whole is not None and not (isinstance(whole, dict) and _is_log([Line(number=1, value=whole)])):
        return _load(whole, name, format=format, model=model)
    lines = _lines(text, name)
    if claude_code.is_ours(lines):
        return _dated(claude_code.messages(lines, name), name, "anthropic")
    if codex.is_ours(lines):
        return _dated(codex.items(lines, name), name, "responses")
    values = [line.value for line in lines]
    return _load(values[-1] if all(map(_is_body, values)) else values, name, format=format, model=model)


def _is_log(lines: list[Line]) -> bool:
    return claude_code.is_ours(lines) or codex.is_ours(lines)


def _is_body(value: JSON) -> bool:
    return "role" not in value and any(
        isinstance(value.get(key), list) for key in ("messages", "input", "contents")
    )


def _whole(text: str, name: str) -> Any:
    """The text as one JSON value; None when it is not one, so that it may be JSONL."""
    try:
        return json.loads(text)
    except ValueError:
        return None
    except RecursionError:
        raise InputError(f"{name} is nested too deep to read", "flatten it") from None


def _lines(text: str, name: str) -> list[Line]:
    return [
        Line(number=number, value=_object(line, number, name))
        for number, line in enumerate(text.split("\n"), start=1)
        if line.strip()
    ]


def _object(line: str, number: int, name: str) -> JSON:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{name}, line {number}: not JSON ({error})", _REMEDY) from None
    if not isinstance(value, dict):
        raise InputError(f"{name}, line {number}: {type(value).__name__}, not an object", _REMEDY)
    return value


def _load(data: Any, name: str, *, format: Format | None, model: str = "") -> Conversation:
    """Load messages; `load` does not know the file's name, so its errors get it here."""
    try:
        return load(data, format=format, model=model)
    except InputError as error:
        raise InputError(f"{name}, {error.what}", error.remedy, field=error.field) from None


def _dated(found: list[tuple[JSON, float | None]], name: str, format: Format) -> Conversation:
    conversation = _load([item for item, _ in found], name, format=format)
    dates = [date for _, date in found]
    messages = zip(conversation.messages, dates, strict=True)
    return replace(conversation, messages=tuple(replace(m, created_at=date) for m, date in messages))
