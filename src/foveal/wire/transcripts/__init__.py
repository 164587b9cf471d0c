"""Read files of messages: JSON, JSONL, the logs of Claude Code and Codex, exports of ChatGPT and Claude.ai.

The content decides which it is. A JSON file contains a message list, a request body, or the conversations of
an export. A JSONL file has one message per line; if its lines are request bodies, each repeats the history
before it, so the last one is the conversation. What cannot be read is skipped and reported: the last line of
a file that is being written is often half a line.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from foveal.errors import InputError
from foveal.model import Conversation, Format
from foveal.wire.detect import detect
from foveal.wire.formats.codec import JSON
from foveal.wire.jsontext import json_kind
from foveal.wire.load import load, message_of
from foveal.wire.transcripts import chatgpt, claude_ai, claude_code, codex
from foveal.wire.transcripts.values import Found, Line, Recorded, Skipped, Transcript

__all__ = ["Skipped", "Transcript", "is_export", "read_text"]

_REMEDY = "use a JSON or JSONL file of messages, a Claude Code or Codex transcript, or an export of chats"
_EXPORTS = (chatgpt, claude_ai)
_LOGS = (claude_code, codex)


def read_text(
    text: str, *, name: str = "input", format: Format | None = None, model: str = ""
) -> tuple[Transcript, ...]:
    """Read the text of such a file: one conversation, or all of an export. Errors begin with `name`.

    >>> (found,) = read_text('{"role": "user", "content": "hello"}\\n{"role": "assist')
    >>> [message.text for message in found.conversation.messages], found.skipped[0].where
    (['hello'], 'line 2')
    """
    if not text.strip():
        raise InputError(f"{name} is empty", _REMEDY)
    whole = _whole(text, name)
    if conversations := _conversations(whole):
        return _exported(conversations, name)
    if whole is not None and not (isinstance(whole, dict) and _log([Line(number=1, value=whole)])):
        return (Transcript(conversation=_load(whole, name, format=format, model=model)),)
    lines, skipped = _lines(text, name)
    if log := _log(lines):
        recorded = log.read(lines)
        return (_transcript(replace(recorded, skipped=(*skipped, *recorded.skipped)), name),)
    values = [line.value for line in lines]
    if all(map(_is_body, values)):
        last = _load(values[-1], name, format=format, model=model)
        return (Transcript(conversation=last, skipped=skipped),)
    found = [Found(value=each.value, where=f"line {each.number}", line=each.number) for each in lines]
    return (_listed(found, name, format, model, skipped),)


def _log(lines: list[Line]) -> Any:
    """The reader of an agent's log; None where the lines are messages."""
    return next((reader for reader in _LOGS if reader.is_ours(lines)), None)


def _is_body(value: JSON) -> bool:
    return "role" not in value and any(
        isinstance(value.get(key), list) for key in ("messages", "input", "contents")
    )


def _whole(text: str, name: str) -> Any:
    """The text as one JSON value; None when it is not one, so that it may be JSONL."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        if _is_one_value(text):  # cut or damaged
            raise InputError(f"{name}, line {error.lineno}: {_not_json(error)}", _REMEDY) from None
        return None
    except ValueError as error:  # valid, but for Python
        if _is_one_value(text):
            raise InputError(f"{name} has a number with too many digits", "write it as text") from error
        return None
    except RecursionError:
        raise InputError(f"{name} is nested too deep to read", "flatten it") from None


def _is_one_value(text: str) -> bool:
    """Whether it begins as one JSON value over several lines."""
    first = text.lstrip().partition("\n")[0].strip()
    return first == "{" or first.startswith("[")


def _lines(text: str, name: str) -> tuple[list[Line], tuple[Skipped, ...]]:
    """The lines that are JSON objects, and the others."""
    lines: list[Line] = []
    skipped: list[Skipped] = []
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        value, why = _object(line)
        if value is None:
            skipped.append(Skipped(where=f"line {number}", why=why, line=number))
        else:
            lines.append(Line(number=number, value=value))
    if not lines:
        raise _unreadable(name, skipped)
    return lines, tuple(skipped)


def _object(line: str) -> tuple[JSON | None, str]:
    """The JSON object of a line, or why it has none."""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError) as error:
        return None, _not_json(error)
    return (value, "") if isinstance(value, dict) else (None, f"{json_kind(value)}, not an object")


def _not_json(error: Exception) -> str:
    """Why a line is not JSON; the parser counts lines of its own, so its numbers are not repeated."""
    if isinstance(error, RecursionError):
        return "nested too deep"
    if not isinstance(error, json.JSONDecodeError):
        return "a number has too many digits"
    what = error.msg.removesuffix(" at").removesuffix(" starting").rstrip(": ")
    return f"not JSON (character {error.colno}: {what})"


def is_export(value: object) -> bool:
    """Whether a JSON value is an export of chats."""
    return bool(_conversations(value))


def _conversations(whole: Any) -> list[tuple[Any, JSON]]:
    """The conversations of an export with their readers; empty for anything else."""
    values = whole if isinstance(whole, list) else [whole]
    return [(reader, value) for value in values for reader in _EXPORTS if reader.is_ours(value)]


def _exported(conversations: Sequence[tuple[Any, JSON]], name: str) -> tuple[Transcript, ...]:
    """The conversations of an export that have a message."""
    recorded = [reader.read(value) for reader, value in conversations]
    found = tuple(_transcript(each, name) for each in recorded if each.found)
    if not found:
        raise _unreadable(name, [each for one in recorded for each in one.skipped])
    return found


def _transcript(recorded: Recorded, name: str) -> Transcript:
    listed = _listed(recorded.found, name, recorded.format, "", recorded.skipped)
    conversation = replace(listed.conversation, answered_by=recorded.model)
    return replace(listed, conversation=conversation, title=recorded.title, id=recorded.id)


def _listed(
    found: Sequence[Found], name: str, format: Format | None, model: str, skipped: Sequence[Skipped]
) -> Transcript:
    """The conversation of these messages; those that cannot be read are skipped."""
    try:
        conversation = load([each.value for each in found], format=format, model=model)
    except InputError:
        form = format or detect([each.value for each in found], model=model)
        flaws = [_flaw(each, form) for each in found]
        pairs = zip(found, flaws, strict=True)
        skipped = sorted((*skipped, *filter(None, flaws)), key=lambda each: each.line or 0)
        found = [each for each, flaw in pairs if flaw is None]
        if not found:
            raise _unreadable(name, skipped) from None
        conversation = load([each.value for each in found], format=format, model=model)
    if not found:
        raise _unreadable(name, skipped)
    dated = zip(conversation.messages, found, strict=True)
    messages = tuple(
        message if each.date is None else replace(message, created_at=each.date) for message, each in dated
    )
    return Transcript(conversation=replace(conversation, messages=messages), skipped=tuple(skipped))


def _flaw(found: Found, format: Format) -> Skipped | None:
    try:
        message_of(found.value, format, where=found.where)
    except InputError as error:
        why = error.what.removeprefix(f"{found.where}: ").removeprefix(found.where).strip()
        return Skipped(where=found.where, why=why, line=found.line)
    return None


def _unreadable(name: str, skipped: Sequence[Skipped]) -> InputError:
    """Nothing in the file can be read."""
    if not skipped:
        return InputError(f"{name} has no messages", _REMEDY, field="messages")
    first = skipped[0]
    more = f"; {len(skipped) - 1:,} more parts cannot be read" if len(skipped) > 1 else ""
    return InputError(f"{name}, {first.where}: {first.why}{more}", _REMEDY)


def _load(data: Any, name: str, *, format: Format | None, model: str = "") -> Conversation:
    """Load messages; `load` does not know the file's name, so its errors get it here."""
    try:
        return load(data, format=format, model=model)
    except InputError as error:
        raise InputError(f"{name}, {error.what}", error.remedy, field=error.field) from None
