"""Read and write Gemini contents, with field names in camel or snake case.

Call ids are optional: without them results pair with calls by name, in order.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from types import MappingProxyType
from typing import Any

from foveal.model import (
    File,
    Framing,
    Image,
    Message,
    Opaque,
    Part,
    Role,
    Rules,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from foveal.wire import convert
from foveal.wire.formats.codec import (
    JSON,
    Codec,
    Reading,
    blocks_of,
    extra_of,
    missing,
    raw_of,
    rest_of,
    role_of,
    text_field,
    without,
    wrong_type,
)
from foveal.wire.jsontext import compact

ROLES: MappingProxyType[str, Role] = MappingProxyType(
    {
        "user": "user",
        "model": "assistant",
        "assistant": "assistant",
        "function": "tool",
        "tool": "tool",
        "system": "system",
    }
)
_TEXT_KEYS = frozenset({"text", "thought", "thoughtSignature", "thought_signature"})
_SNAKE = re.compile(r"[A-Z]")


def field(item: JSON, name: str) -> Any:
    """A field by its camelCase name, in either spelling."""
    return item[name] if name in item else item.get(_spelled(item, name))


def _spelled(item: JSON, name: str) -> str:
    """The spelling of a field's name in `item`; camelCase when the field is missing."""
    snake = _SNAKE.sub(lambda found: f"_{found[0].lower()}", name)
    return snake if snake in item else name


def read(item: JSON, where: str) -> Reading:
    role = role_of(ROLES, {"role": "user", **item}, where)
    if "parts" not in item:
        raise missing(where, "parts")
    parts = _parts(item["parts"], where)
    if role == "user" and parts and all(isinstance(part, ToolResult) for part in parts):
        role = "tool"
    extra = without(item, "parts")
    flaw = _flaw(item["parts"], role, parts)
    if item.get("role") == "assistant":  # as other providers call it
        extra, flaw = {**extra, "role": "model"}, flaw or "Gemini's name of the assistant is `model`"
    return Reading(role=role, parts=parts, extra=extra, rest=rest_of(extra), flaw=flaw)


def _flaw(value: Any, role: Role, parts: Sequence[Part]) -> str:
    if role == "system":
        return "Gemini has no system role among the contents"
    if any(isinstance(part, str) for part in value or ()):
        return "a part is a text, not an object"
    edited = any(isinstance(part, ToolCall | ToolResult) and part.edited for part in parts)
    return "arguments or a response are no object" if edited else ""


def read_system(value: Any, where: str) -> tuple[Part, ...]:
    match value:
        case str():
            return (Text(text=value),)
        case {"parts": parts}:
            return _parts(parts, where)
        case list():
            return _parts(value, where)
        case {"text": str()}:
            return (_part(value, where),)
        case _:
            raise wrong_type(where, "systemInstruction", value, "text or an object with `parts`")


def _parts(value: Any, where: str) -> tuple[Part, ...]:
    """The parts of a list; Google's SDK takes a text for one, and so do we."""
    if value is None:
        return ()
    if isinstance(value, list):
        value = [{"text": part} if isinstance(part, str) else part for part in value]
    return tuple(
        _part(part, f"{where}: parts[{number}]")
        for number, part in enumerate(blocks_of(value, where, "parts"))
    )


def _part(part: JSON, where: str) -> Part:
    raw = compact(part)
    if part.get("text") is not None or part.keys() <= _TEXT_KEYS:
        text = text_field(part, "text", where)
        signature = field(part, "thoughtSignature") or ""
        # An empty text with a signature ends a stream and belongs to the thinking; an empty thought does not.
        thought = part.get("thought") is True if text else bool(signature)
        if thought:
            rest = rest_of(part, "text", "thoughtSignature", "thought_signature")
            return Thinking(text=text, signature=signature, raw=raw, rest=rest)
        return Text(text=text, raw=raw, rest=rest_of(part, "text"))
    if isinstance(call := field(part, "functionCall"), dict):
        return ToolCall(
            id=text_field(call, "id", where),
            name=text_field(call, "name", where),
            arguments=compact(call.get("args") if call.get("args") is not None else {}),
            edited=not isinstance(call.get("args", {}), dict),
            raw=raw,
            rest=rest_of(part, "functionCall", "function_call") + rest_of(call, "name", "args"),
        )
    if isinstance(response := field(part, "functionResponse"), dict):
        return _response(response, where, raw, rest_of(part, "functionResponse", "function_response"))
    for name in ("inlineData", "fileData"):
        if isinstance(data := field(part, name), dict):
            return _media(data, where, raw, rest_of(part, _spelled(part, name)))
    return Opaque(type=next(iter(without(part, "thought", "thoughtSignature")), ""), raw=raw)


def _response(response: JSON, where: str, raw: str, rest: str) -> ToolResult:
    """The response as text, followed by the images and files that came with it."""
    value: Any = response.get("response")
    key = _text_key(value)
    text = Text(text=value[key] if key else compact(value))
    return ToolResult(
        call_id=text_field(response, "id", where),
        name=text_field(response, "name", where),
        parts=(text, *map(_attached, _parts(response.get("parts"), where))),
        error=isinstance(value, dict) and set(value) == {"error"},
        edited=not isinstance(value, dict),
        raw=raw,
        rest=rest + rest_of(response, "name", "response", "parts"),
    )


def _attached(part: Part) -> Image | File | Opaque:
    return part if isinstance(part, Image | File | Opaque) else Opaque(type="part", raw=part.raw)


def _text_key(value: Any) -> str:
    """The key of a response that consists of one text; empty for any other response."""
    match value:
        case dict() if len(value) == 1 and isinstance(next(iter(value.values())), str):
            return str(next(iter(value)))
        case _:
            return ""


def _media(data: JSON, where: str, raw: str, rest: str) -> Image | File:
    media_type = field(data, "mimeType") or ""
    url = field(data, "fileUri") or ""
    content = text_field(data, "data", where)
    rest += rest_of(
        data, "data", "mimeType", "mime_type", "fileUri", "file_uri", "displayName", "display_name"
    )
    name = field(data, "displayName") or ""
    if media_type.startswith("image/"):
        return Image(data=content, url=url, media_type=media_type, raw=raw, rest=rest + name)
    return File(data=content, url=url, media_type=media_type, name=name, raw=raw, rest=rest)


def write(message: Message) -> list[JSON]:
    if message.format == "gemini" and message.role != "system":
        return [{**_role(message), **extra_of(message), "parts": list(map(_own_part, message.parts))}]
    model = message.role == "assistant"
    shown = convert.visible(convert.in_place(message).parts)
    own = message.format == "gemini"
    parts = [_own_part(p) if own else _foreign_part(p, media=not model) for p in shown]
    return [{"role": "model" if model else "user", "parts": parts}] if parts else []


def _role(message: Message) -> JSON:
    # A message that came without a role is written without: if it had one, `extra` has it.
    return {} if message.extra else {"role": "model" if message.role == "assistant" else "user"}


def write_system(messages: Sequence[Message]) -> Any:
    parts = convert.parts_for("gemini", messages)
    return {"parts": [_own_part(p) if _is_ours(p) else {"text": convert.described(p)} for p in parts]}


def _is_ours(part: Part) -> bool:
    return bool(part.raw) and "type" not in raw_of(part)


def _own_part(part: Part) -> JSON:
    raw = raw_of(part)
    match part:
        case Text(text=text):
            return raw if raw and not part.edited else {**raw, "text": text}
        case ToolCall():
            return raw if raw and not part.edited else _merged(raw, "functionCall", _call(part))
        case ToolResult():
            return raw if raw and not part.edited else _merged(raw, "functionResponse", _result(part, raw))
        case _ if raw:
            return raw
        case _:
            return _foreign_part(part, media=True)


def _merged(raw: JSON, name: str, value: JSON) -> JSON:
    key = _spelled(raw, name)
    return {**raw, key: {**raw.get(key, {}), **value}}


def _call(call: ToolCall) -> JSON:
    named = {"id": call.id} if call.id else {}
    return {**named, "name": call.name, "args": convert.as_object(call.arguments)}


def _result(result: ToolResult, raw: JSON) -> JSON:
    named = {"id": result.call_id} if result.call_id else {}
    before = field(raw, "functionResponse") or {}
    # Attachments are already in `raw`.
    own = "\n".join(part.text for part in result.parts if isinstance(part, Text))
    text = own if before else convert.text_of(result.parts)
    if isinstance(before.get("response"), dict) and text == compact(before["response"]):
        return {**named, "name": result.name}
    key = _text_key(before.get("response")) or ("error" if result.error else "output")
    return {**named, "name": result.name, "response": {key: text}}


def _foreign_part(part: Part, *, media: bool) -> JSON:
    match part:
        case ToolCall():
            return {"functionCall": _call(part)}
        case ToolResult():
            return {"functionResponse": _result(part, {})}
        case Image(data=data, media_type=kind) | File(data=data, media_type=kind) if media and data and kind:
            return {"inlineData": {"mimeType": kind, "data": data}}
        case _:
            return {"text": convert.described(part)}


CODEC = Codec(
    format="gemini",
    read=read,
    write=write,
    read_system=read_system,
    write_system=write_system,
    rules=Rules(
        results_together=True,
        object_arguments=True,
        pairs_by_name=True,
        calls_follow_input=True,
        legal_name="A-Za-z0-9_.:-",
    ),
    # Not published. Billed counts of short requests exceed the content only slightly; these are above that.
    framing=Framing(request=4, message=4, call=8, result=8, tools=16, tool=8, images="gemini"),
)
