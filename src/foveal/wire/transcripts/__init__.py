"""Files of messages → a `Conversation`: JSON, JSONL, and the logs of Claude Code and Codex, told by content.

A JSON file holds a message list or a request body. A JSONL file holds one message per line; if its lines
are request bodies, each repeats the history before it, so the last one is the conversation.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from foveal.errors import InputError
from foveal.model import Conversation, Format
from foveal.wire.formats.codec import JSON
from foveal.wire.load import load
from foveal.wire.transcripts import claude_code, codex
from foveal.wire.transcripts.lines import Line

_REMEDY = "give a JSON or JSONL file of messages, or a Claude Code or Codex transcript"


def read_file(path: str | Path, *, format: Format | None = None, model: str = "") -> Conversation:
    """Read a file of messages, whichever kind it is."""
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8 text: byte {error.start:,} is wrong", _REMEDY) from None
    except OSError as error:
        raise InputError(
            f"{path} cannot be read: {error.strerror}", "check the path and its rights"
        ) from None
    return read_text(text, name=str(path), format=format, model=model)


def read_text(
    text: str, *, name: str = "input", format: Format | None = None, model: str = ""
) -> Conversation:
    """Read the text of such a file; `name` is what errors call it.

    >>> read_text('{"role": "user", "content": "hello"}\\n{"role": "assistant", "content": "hi"}').format
    'openai'
    """
    if not text.strip():
        raise InputError(f"{name} is empty", _REMEDY)
    try:
        return _read(text, name, format, model)
    except InputError as error:
        raise (
            error if error.what.startswith(name) else InputError(f"{name}, {error.what}", error.remedy)
        ) from None


def _read(text: str, name: str, format: Format | None, model: str) -> Conversation:
    whole = _whole(text)
    if whole is not None and not (isinstance(whole, dict) and _is_log([Line(number=1, value=whole)])):
        return load(whole, format=format, model=model)
    lines = _lines(text, name)
    if claude_code.is_ours(lines):
        return _dated(claude_code.messages(lines, name), "anthropic")
    if codex.is_ours(lines):
        return _dated(codex.items(lines, name), "responses")
    bodies = [line.value for line in lines if _is_body(line.value)]
    if bodies and len(bodies) == len(lines):
        return load(bodies[-1], format=format, model=model)
    return load([line.value for line in lines], format=format, model=model)


def _is_log(lines: list[Line]) -> bool:
    return claude_code.is_ours(lines) or codex.is_ours(lines)


def _is_body(value: JSON) -> bool:
    return "role" not in value and any(
        isinstance(value.get(key), list) for key in ("messages", "input", "contents")
    )


def _whole(text: str) -> Any:
    """The text as one JSON value; None when it is not one, so that it may be lines of them."""
    try:
        return json.loads(text)
    except ValueError:
        return None
    except RecursionError:
        raise InputError("it is nested too deep to read", "flatten it") from None


def _lines(text: str, name: str) -> list[Line]:
    found = []
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            found.append(Line(number=number, value=_object(line, number, name)))
    return found


def _object(line: str, number: int, name: str) -> JSON:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{name}, line {number}: not JSON ({error})", _REMEDY) from None
    if not isinstance(value, dict):
        raise InputError(f"{name}, line {number}: {type(value).__name__}, not an object", _REMEDY)
    return value


def _dated(found: list[tuple[JSON, float | None]], format: Format) -> Conversation:
    conversation = load([item for item, _ in found], format=format)
    dates = [date for _, date in found]
    messages = zip(conversation.messages, dates, strict=True)
    return replace(conversation, messages=tuple(replace(m, created_at=date) for m, date in messages))
