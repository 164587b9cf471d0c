"""Prepare messages of one format to be written in another.

A part that the target format cannot express becomes a text that describes it; reasoning, which only its own
provider can verify, is omitted.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from foveal.model import File, Format, Image, Message, Opaque, Part, Text, Thinking, ToolCall, ToolResult
from foveal.wire.formats.codec import JSON, Flat
from foveal.wire.jsontext import sendable

_ID = re.compile(r"[^a-zA-Z0-9_-]")


def converted(messages: Sequence[Message], target: Format) -> list[Message]:
    """Messages of other formats, linked and merged as the target expects; the target's own are unchanged."""
    return _merged(_linked(messages, target), target)


def _linked(messages: Sequence[Message], target: Format) -> list[Message]:
    """Add ids to calls without one, and to results the id and the name of their call."""
    waiting: list[ToolCall] = []
    linked: list[Message] = []
    for message in messages:
        if message.format == target:
            linked.append(message)
            waiting = [*message.calls] if message.calls else waiting
            continue
        calls = [_identified(call, number) for number, call in enumerate(message.calls)]
        follows_calls = bool(linked) and bool(linked[-1].calls) and message.role == "assistant"
        waiting = [*waiting, *calls] if follows_calls else calls or waiting
        identified = iter(calls)
        parts = tuple(_link(part, identified, waiting) for part in message.parts)
        linked.append(message if parts == message.parts else replace(message, parts=parts, body=""))
    return linked


def _link(part: Part, identified: Iterator[ToolCall], waiting: list[ToolCall]) -> Part:
    match part:
        case ToolCall():
            return next(identified)
        case ToolResult():
            return _answering(part, waiting)
        case _:
            return part


def _identified(call: ToolCall, number: int) -> ToolCall:
    if call.id:
        return replace(call, id=_ID.sub("_", call.id))
    digest = hashlib.sha256(f"{number}\n{call.name}\n{call.arguments}".encode()).hexdigest()
    return replace(call, id=f"call_{digest[:16]}")


def _answering(result: ToolResult, waiting: list[ToolCall]) -> ToolResult:
    """The result linked to its call: by id where there is one, else to the first waiting call of its name."""
    call_id = _ID.sub("_", result.call_id)
    for call in waiting:
        if call.id == call_id or (not call_id and result.name in ("", call.name)):
            waiting.remove(call)
            return replace(result, call_id=call.id, name=result.name or call.name)
    return replace(result, call_id=call_id)


def _merged(messages: list[Message], target: Format) -> list[Message]:
    """Join what the target expects in one message: the items of a response, and all results of its calls."""
    if target == "responses":
        return messages
    merged: list[Message] = []
    for message in messages:
        if merged and _belongs(message, merged[-1], target):
            before = merged[-1]
            # The foreign format of the two: its blocks must not be taken for the target's own.
            foreign = message.format if before.format == target else before.format
            merged[-1] = replace(
                before, parts=before.parts + message.parts, format=foreign, body="", extra=""
            )
        else:
            merged.append(message)
    return merged


def _belongs(message: Message, before: Message, target: Format) -> bool:
    if message.role != before.role or message.format == before.format == target:
        return False
    if message.role == "tool":
        return target in ("anthropic", "gemini")
    return message.role == "assistant" and message.format == before.format == "responses"


def visible(parts: Sequence[Part]) -> list[Part]:
    """The parts that can be sent to another provider: all but reasoning and empty texts."""
    return [p for p in parts if not (isinstance(p, Thinking) or (isinstance(p, Text) and not p.text.strip()))]


def described(part: Part) -> str:
    """A part as text, where the target format cannot express it."""
    match part:
        case Text(text=text) | Thinking(text=text):
            return text
        case Image() | File():
            return _medium(part)
        case Opaque(type=kind, raw=raw):
            return f"[{kind or 'block'}] {raw}"
        case ToolCall(name=name, arguments=arguments):
            return f"[call of {name}] {arguments}"
        case ToolResult():
            return text_of(part.parts)


def _medium(part: Image | File) -> str:
    if isinstance(part, File) and part.text.strip():
        return part.text
    kind, name = ("file", part.name) if isinstance(part, File) else ("image", "")
    return f"[{kind}: {name or part.url or f'{part.media_type}, {len(part.data):,} base64 characters'}]"


def text_of(parts: Sequence[Part | Flat]) -> str:
    """Parts as text, one per line."""
    return "\n".join(map(described, parts))


def in_place(message: Message) -> Message:
    """A system message for a format that has none among its messages: a user's, which says what it is."""
    if message.role != "system" or not visible(message.parts):
        return message
    role = json.loads(message.extra).get("role") if message.extra else None
    mark = Text(text=f"[{role or message.role} message, not from the user]")
    match visible(message.parts):
        case [Text(text=text)]:
            return replace(message, parts=(Text(text=f"{mark.text}\n{text}"),))
        case parts:
            return replace(message, parts=(mark, *parts))


def on_the_web(url: str) -> bool:
    return url.startswith(("https://", "http://"))


def data_url(part: Image | File) -> str:
    return f"data:{part.media_type or 'application/octet-stream'};base64,{part.data}"


def from_data_url(url: str) -> tuple[str, str]:
    """Media type and base64 data of a `data:` URL; empty when it is not one."""
    head, found, data = url.partition(";base64,")
    return (head.removeprefix("data:"), data) if found and head.startswith("data:") else ("", "")


def as_object(arguments: str) -> JSON:
    """Arguments for a provider that requires an object, whatever the model wrote."""
    try:
        value = json.loads(arguments)
    except ValueError:
        return {"arguments": arguments} if arguments.strip() else {}
    found: JSON = sendable(value if isinstance(value, dict) else {"arguments": value})[0]
    return found
