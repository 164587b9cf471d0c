"""Prepare messages of one format to be written in another.

A part that the target format cannot express becomes a text that describes it; reasoning, which only its own
provider can verify, is omitted.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from foveal.model import File, Format, Image, Message, Opaque, Part, Text, Thinking, ToolCall, ToolResult
from foveal.wire.formats.codec import JSON, Flat
from foveal.wire.jsontext import sendable

_ID = re.compile(r"[^a-zA-Z0-9_-]")
_FUNCTION_CALLS: tuple[Format, ...] = ("openai", "plain")
"""Formats with OpenAI's `function_call`, whose call and result have no id."""


def converted(messages: Sequence[Message], target: Format) -> list[Message]:
    """Messages of other formats, linked and merged as the target expects; the target's own are unchanged."""
    return _merged(_linked(messages, target), target)


@dataclass(slots=True)
class _Waiting:
    """Calls without a result: each with the id that it came with, and the one that it is written with."""

    calls: list[tuple[str, ToolCall]]

    def add(self, call: ToolCall, number: int, target: Format) -> None:
        given, found = call.id, _identified(call, number, target)
        while found.id and any(found.id == other.id for _, other in self.calls):
            found = _renamed(found, f"{found.id}_{number}")
        self.calls.append((given, found))

    def take(self, result: ToolResult) -> ToolCall | None:
        """The call of a result: by id where there is one, else the first of its name."""
        for at, (given, call) in enumerate(self.calls):
            if given == result.call_id if result.call_id else result.name in ("", call.name):
                return self.calls.pop(at)[1]
        return None


def _linked(messages: Sequence[Message], target: Format) -> list[Message]:
    """Add ids to calls without one, and to results the id and the name of their call."""
    waiting = _Waiting([])
    linked: list[Message] = []
    for message in messages:
        run = message.role == "assistant" and bool(linked) and linked[-1].role == "assistant"
        follows_calls = run and (bool(linked[-1].calls) or message.format == "responses")
        if message.calls and not (follows_calls and message.format != target):
            waiting = _Waiting([])
        own = message.format == target
        before = len(waiting.calls)
        for number, call in enumerate(message.calls):
            if own:
                waiting.calls.append((call.id, call))
            else:
                waiting.add(call, number, target)
        identified = iter([call for _, call in waiting.calls[before:]])
        parts = tuple(_link(part, identified, waiting, own=own) for part in message.parts)
        linked.append(message if parts == message.parts else replace(message, parts=parts, body=""))
    return linked


def _link(part: Part, identified: Iterator[ToolCall], waiting: _Waiting, *, own: bool) -> Part:
    match part:
        case ToolCall():
            return next(identified)
        case ToolResult():
            return _answering(part, waiting, own=own)
        case _:
            return part


def _identified(call: ToolCall, number: int, target: Format) -> ToolCall:
    if call.id or (call.by_name and target in _FUNCTION_CALLS):
        return _renamed(call, _ID.sub("_", call.id))
    digest = hashlib.sha256(f"{number}\n{call.name}\n{call.arguments}".encode()).hexdigest()
    return _renamed(call, f"call_{digest[:16]}")


def _renamed(call: ToolCall, id: str) -> ToolCall:
    return call if call.id == id else replace(call, id=id, edited=True)


def _answering(result: ToolResult, waiting: _Waiting, *, own: bool) -> ToolResult:
    """The result linked to its call; one of the target's own format may answer a call of another."""
    call = waiting.take(result)
    if call is None:
        return result if own else replace(result, call_id=_ID.sub("_", result.call_id))
    if own:
        return result if call.id == result.call_id else replace(result, call_id=call.id, edited=True)
    return replace(result, call_id=call.id, name=result.name or call.name)


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


def parts_for(target: Format, messages: Sequence[Message]) -> list[Part]:
    """The parts of messages in a row: all of the target's own, of others those that can be sent."""
    return [p for m in messages for p in (m.parts if m.format == target else visible(m.parts))]


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
