"""Create messages with our own text in a provider's format, with digests like any loaded message."""

from __future__ import annotations

import json

from foveal.model import Format, Message, Role, Text, ToolCall, ToolResult
from foveal.wire.formats.codec import JSON
from foveal.wire.formats.registry import codec_of
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
        return _sendable(_output(call, json.loads(call.raw), text), format)
    result = ToolResult(call_id=call.id, name=call.name, parts=(Text(text=text),))
    if format == "openai" and not call.id:  # results of the legacy `function_call` go by name
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


def _output(call: ToolCall, item: JSON, text: str) -> JSON:
    """The output item that the type of the call requires."""
    kind = item.get("type", "function_call")
    output: JSON = {"type": f"{kind}_output", "call_id": call.id, "output": text}
    match kind:
        case "apply_patch_call":
            return {**output, "status": "failed"}
        case "shell_call":
            failed = {"stdout": "", "stderr": text, "outcome": {"type": "exit", "exit_code": 1}}
            return {**output, "output": [failed]}
        case "local_shell_call":
            return {"type": "local_shell_call_output", "id": call.id, "output": text}
        case "function_call" | "custom_tool_call":
            return output
        case _:
            return {**output, "type": "function_call_output"}
