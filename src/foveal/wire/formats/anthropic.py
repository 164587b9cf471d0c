"""Read and write Anthropic messages.

A user message that consists of tool results only has the role tool; one that also has text of the user keeps
the role user, with the results among its parts.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import MappingProxyType
from typing import Any

from foveal.model import (
    File,
    Framing,
    Image,
    Message,
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
    Flat,
    Reading,
    extra_of,
    missing,
    object_field,
    opaque,
    raw_of,
    read_content,
    rest_of,
    rest_with,
    role_of,
    text_field,
    text_of_block,
    without,
)
from foveal.wire.jsontext import compact

ROLES: MappingProxyType[str, Role] = MappingProxyType(
    {"user": "user", "assistant": "assistant", "system": "system"}
)
_IMAGE_TYPES = frozenset({"image/jpeg", "image/png", "image/gif", "image/webp"})


def read(item: JSON, where: str) -> Reading:
    role = role_of(ROLES, item, where)
    if "content" not in item:
        raise missing(where, "content")
    parts = read_content(item["content"], where, _block)
    if role == "user" and parts and all(isinstance(part, ToolResult) for part in parts):
        role = "tool"
    extra = without(item, "content") if item["role"] not in ROLES else without(item, "role", "content")
    return Reading(role=role, parts=parts, extra=extra, rest=rest_of(extra))


def read_system(value: Any, where: str) -> tuple[Part, ...]:
    return read_content(value, where, _block, key="system")


def _block(block: JSON, where: str) -> Part:
    raw = compact(block)
    match block.get("type"):
        case "text":
            return Text(text=text_of_block(block, "text", where), raw=raw, rest=rest_of(block, "text"))
        case "tool_use" | "tool_result":
            return _tool(block, where, raw)
        case "thinking" | "redacted_thinking":
            return _thinking(block, where, raw)
        case "image":
            return _image(block, where, raw)
        case "document":
            return _document(block, where, raw)
        case _:
            return opaque(block)


def _thinking(block: JSON, where: str, raw: str) -> Thinking:
    return Thinking(
        text=text_field(block, "thinking", where),
        signature=text_field(block, "signature", where) or text_field(block, "data", where),
        raw=raw,
        rest=rest_of(block, "thinking", "signature", "data"),
    )


def _tool(block: JSON, where: str, raw: str) -> ToolCall | ToolResult:
    if block["type"] == "tool_use":
        return ToolCall(
            id=text_field(block, "id", where),
            name=text_field(block, "name", where),
            arguments=compact(block.get("input")),
            raw=raw,
            rest=rest_of(block, "name", "input"),
        )
    return ToolResult(
        call_id=text_field(block, "tool_use_id", where),
        parts=tuple(map(_flat, read_content(block.get("content"), where, _block))),
        error=block.get("is_error") is True,
        raw=raw,
        rest=rest_of(block, "content"),
    )


def _flat(part: Part) -> Flat:
    """Calls and thinking are not expected inside a result: they are kept as opaque blocks."""
    return opaque(raw_of(part)) if isinstance(part, ToolCall | ToolResult | Thinking) else part


_SOURCE = ("data", "url", "file_id", "media_type")


def _image(block: JSON, where: str, raw: str) -> Image:
    source = object_field(block, "source", where)
    return Image(
        data=_data(source),
        url=_url(source, where),
        media_type=text_field(source, "media_type", where),
        raw=raw,
        rest=rest_with(block, "source", *_SOURCE),
    )


def _document(block: JSON, where: str, raw: str) -> File:
    """A document is data, a link, a text, or blocks of text and images."""
    source = object_field(block, "source", where)
    is_text = source.get("type") == "text"
    inside = read_content(source.get("content"), where, _block) if source.get("type") == "content" else ()
    known = (*_SOURCE, "content") if inside else _SOURCE
    unknown = "".join(p.rest if isinstance(p, Text) else p.raw for p in inside if not isinstance(p, Image))
    return File(
        data="" if is_text else _data(source),
        url=_url(source, where),
        text=_data(source) if is_text else "\n".join(p.text for p in inside if isinstance(p, Text)),
        images=tuple(part for part in inside if isinstance(part, Image)),
        media_type=text_field(source, "media_type", where),
        name=text_field(block, "title", where),
        raw=raw,
        rest=rest_of(block, "source", "title") + rest_of(source, *known) + unknown,
    )


def _data(source: JSON) -> str:
    return source["data"] if isinstance(source.get("data"), str) else ""


def _url(source: JSON, where: str) -> str:
    return text_field(source, "url", where) or text_field(source, "file_id", where)


def write(message: Message) -> list[JSON]:
    if message.format == "anthropic":
        role = "user" if message.role == "tool" else message.role
        return [{"role": role, "content": _content_of(message.parts), **extra_of(message)}]
    role = "assistant" if message.role == "assistant" else "user"
    blocks = [_foreign_block(part, role) for part in convert.visible(convert.in_place(message).parts)]
    blocks.sort(key=lambda block: block["type"] != "tool_result")
    if [block["type"] for block in blocks] == ["text"]:
        return [{"role": role, "content": blocks[0]["text"]}]
    return [{"role": role, "content": blocks}] if blocks else []


def write_system(messages: Sequence[Message]) -> Any:
    """Plain texts as one text, anything else as blocks."""
    parts = convert.parts_for("anthropic", messages)
    if all(isinstance(part, Text) and not part.raw for part in parts):
        return "\n\n".join(convert.described(part) for part in parts)
    own = {id(part) for message in messages if message.format == "anthropic" for part in message.parts}
    return [
        _own_block(part) if id(part) in own else {"type": "text", "text": convert.described(part)}
        for part in parts
    ]


def _content_of(parts: Sequence[Part]) -> Any:
    match list(parts):
        case [Text(text=text, raw="")]:
            return text
        case blocks:
            return [_own_block(block) for block in blocks]


def _own_block(part: Part) -> JSON:
    raw = raw_of(part)
    match part:
        case Text(text=text):
            return raw if raw and not part.edited else {"type": "text", **raw, "text": text}
        case ToolCall():
            return raw if raw and not part.edited else {**raw, **_call(part)}
        case ToolResult():
            return raw if raw and not part.edited else {**raw, **_result(part, own=True)}
        case _ if raw:
            return raw
        case _:
            return _foreign_block(part, "user")


def _foreign_block(part: Part, role: str) -> JSON:
    match part:
        case ToolCall():
            return _call(part)
        case ToolResult():
            return _result(part, own=False)
        case Image(data=data, media_type=kind) if data and kind in _IMAGE_TYPES and role == "user":
            return {"type": "image", "source": {"type": "base64", "media_type": kind, "data": data}}
        case Image(url=url) if convert.on_the_web(url) and role == "user":
            return {"type": "image", "source": {"type": "url", "url": url}}
        case File(data=data, media_type="application/pdf") if data and role == "user":
            source = {"type": "base64", "media_type": "application/pdf", "data": data}
            return {"type": "document", "source": source}
        case _:
            return {"type": "text", "text": convert.described(part)}


def _call(call: ToolCall) -> JSON:
    return {"type": "tool_use", "id": call.id, "name": call.name, "input": convert.as_object(call.arguments)}


def _result(result: ToolResult, *, own: bool) -> JSON:
    match result.parts:
        case [Text(text=text, raw="")]:
            content: Any = text
        case parts if own:
            content = [_own_block(part) for part in parts]
        case parts if any(isinstance(part, Image) for part in parts):
            content = [_foreign_block(part, "user") for part in convert.visible(parts)]
        case _:
            content = convert.text_of(result.parts)
    error = {"is_error": True} if result.error else {}
    return {"type": "tool_result", "tool_use_id": result.call_id, "content": content, **error}


CODEC = Codec(
    format="anthropic",
    read=read,
    write=write,
    read_system=read_system,
    write_system=write_system,
    rules=Rules(
        results_first=True,
        results_together=True,
        object_arguments=True,
        max_markers=4,
        max_name=128,
        legal_id="A-Za-z0-9_-",
    ),
    # Anthropic documents up to 346 tokens for the prompt that comes with tools. The rest is not published:
    # these are high guesses, not measurements.
    framing=Framing(request=8, message=6, call=24, result=16, tools=346, tool=24, images="anthropic"),
)
