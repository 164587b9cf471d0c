"""Create messages with our own text in a provider's format, with digests like any loaded message."""

from __future__ import annotations

import json

from foveal.model import Format, Message, Role, Text, ToolCall, ToolResult
from foveal.wire.formats.codec import JSON
from foveal.wire.formats.registry import codec_of
from foveal.wire.formats.responses import output_item
from foveal.wire.jsontext import sendable
from foveal.wire.load import message_of


def text_message(role: Role, text: str, *, name: str = "") -> Message:
    """A plain message."""
    return _sendable({"role": role, "content": text} | ({"name": name} if name else {}), "plain")


def note(text: str, format: Format) -> Message:
    """A user message with our own text."""
    return _native(Message(role="user", parts=(Text(text=text),), format="plain"), format)


def answer(call: ToolCall, text: str, format: Format) -> Message:
    """A tool result with our own text, in answer to `call`."""
    if format == "responses" and call.raw:
        kind = json.loads(call.raw).get("type", "function_call")
        return _sendable(output_item(kind, call.id, text), format)
    result = ToolResult(call_id=call.id, name=call.name, parts=(Text(text=text),))
    if call.by_name and not call.id and codec_of(format).rules.function_calls:
        return _sendable({"role": "function", "name": call.name, "content": text}, format)
    return _native(Message(role="tool", parts=(result,), format=_other(format)), format)


def _other(format: Format) -> Format:
    """Any other format: to a foreign message a codec adds no fields of its own."""
    return "gemini" if format != "gemini" else "openai"


def _native(message: Message, format: Format) -> Message:
    (piece,) = codec_of(format).write(message)
    return _sendable(piece, format)


def _sendable(piece: JSON, format: Format) -> Message:
    return message_of(sendable(piece)[0], format)
