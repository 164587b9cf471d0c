"""Read and write OpenAI chat completions.

Top-level fields with content (`refusal`, `reasoning_content`, `function_call`) become parts whose `raw` is
that field; parts whose `raw` has a `type` are blocks of the content, or tool calls.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
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
    Flat,
    Reading,
    blocks_of,
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
    {
        "system": "system",
        "developer": "system",
        "user": "user",
        "assistant": "assistant",
        "tool": "tool",
        "function": "tool",
    }
)
RESULTS = ("tool", "function")
REASONING = ("reasoning_content", "reasoning")
"""Where OpenAI-compatible servers put the model's thinking."""
PLAIN_FIELDS = ("id", "timestamp", "created_at", "priority", "private", "metadata")
"""The optional fields of a plain message, apart from its name."""
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")


def read(item: JSON, where: str) -> Reading:
    role = role_of(ROLES, item, where)
    has_other = any(item.get(key) for key in ("tool_calls", "function_call", "refusal", "audio"))
    if "content" not in item and not (role == "assistant" and has_other):
        raise missing(where, "content")
    content = read_content(item.get("content"), where, _block)
    if role == "tool":
        parts: tuple[Part, ...] = (_result(item, content, where),)
        extra = without(item, "role", "content", "tool_calls", "function_call", "tool_call_id", "name")
    else:
        refusal = _refusal(item) if role == "assistant" else []
        parts = (*_thinking(item), *content, *refusal, *_calls(item, where))
        taken = [key for key in REASONING if isinstance(item.get(key), str)] + ["refusal"] * bool(refusal)
        extra = without(item, "role", "content", "tool_calls", "function_call", *taken)
    if item["role"] != role:
        extra["role"] = item["role"]
    return Reading(
        role=role,
        parts=parts,
        extra=extra,
        rest=rest_of(extra, "name"),
        author=_author(item, role),
        flaw=_flaw(item, role),
    )


def _flaw(item: JSON, role: Role) -> str:
    if role != "assistant" and item.get("content") is None:
        return "`content` is null"
    if role == "tool" and not item.keys().isdisjoint(("tool_calls", "function_call")):
        return "a result has calls"
    if isinstance(call := item.get("function_call"), dict) and not _is_text(call.get("arguments")):
        return "the arguments of `function_call` are no text"
    if "tool_calls" not in item:
        return ""
    if not item["tool_calls"]:
        return "`tool_calls` is empty"
    return (
        "a call lacks its type or has arguments that are no text"
        if any(map(_malformed, item["tool_calls"]))
        else ""
    )


def _malformed(call: JSON) -> bool:
    if call.get("type") == "custom":
        return False
    function = call.get("function")
    return "type" not in call or not (isinstance(function, dict) and _is_text(function.get("arguments", "")))


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _author(item: JSON, role: Role) -> str:
    name = item.get("name")
    return name if isinstance(name, str) and role != "tool" else ""


def _block(block: JSON, where: str) -> Flat:
    raw = compact(block)
    match block:
        case {"type": "text" | "refusal" as key}:
            return Text(text=text_of_block(block, key, where), raw=raw, rest=rest_of(block, key))
        case {"type": "image_url", "image_url": {"url": str(url), **rest}}:
            media_type, data = convert.from_data_url(url)
            return Image(
                data=data,
                url="" if data else url,
                media_type=media_type,
                detail=str(rest.get("detail", "")),
                raw=raw,
                rest=rest_with(block, "image_url", "url", "detail"),
            )
        case {"type": "file", "file": dict(file)}:
            file_data = text_field(file, "file_data", where)
            media_type, data = convert.from_data_url(file_data)
            return File(
                data=data or file_data,
                url=text_field(file, "file_id", where),
                media_type=media_type,
                name=text_field(file, "filename", where),
                raw=raw,
                rest=rest_with(block, "file", "file_data", "file_id", "filename"),
            )
        case {"type": "input_audio", "input_audio": {"data": str(data), "format": str(kind)}}:
            return File(
                data=data,
                media_type=f"audio/{kind}",
                raw=raw,
                rest=rest_with(block, "input_audio", "data", "format"),
            )
        case _:
            return opaque(block)


def _thinking(item: JSON) -> list[Thinking]:
    return [
        Thinking(text=item[key], raw=compact({key: item[key]}))
        for key in REASONING
        if isinstance(item.get(key), str)
    ]


def _refusal(item: JSON) -> list[Text]:
    refusal = item.get("refusal")
    return [Text(text=refusal, raw=compact({"refusal": refusal}))] if isinstance(refusal, str) else []


def _calls(item: JSON, where: str) -> list[ToolCall]:
    calls: list[ToolCall] = []
    if item.get("tool_calls") is not None:
        for number, call in enumerate(blocks_of(item["tool_calls"], where, "tool_calls")):
            calls.append(_call(call, f"{where}: tool_calls[{number}]"))
    if item.get("function_call") is not None:
        call = object_field(item, "function_call", where)
        calls.append(
            ToolCall(
                id="",
                name=text_field(call, "name", where),
                arguments=_arguments(call),
                by_name=True,
                raw=compact({"function_call": call}),
                rest=rest_of(call, "name", "arguments"),
            )
        )
    return calls


def _arguments(function: JSON) -> str:
    """The arguments as JSON text; some clients send the value itself."""
    value = function.get("arguments")
    if value is None:
        return ""
    return value if isinstance(value, str) else compact(value)


def _call(call: JSON, where: str) -> ToolCall:
    if call.get("type") == "custom":
        custom = object_field(call, "custom", where)
        arguments = compact({"input": text_field(custom, "input", where)})
        return ToolCall(
            id=text_field(call, "id", where),
            name=text_field(custom, "name", where),
            arguments=arguments,
            raw=compact(call),
            rest=rest_with(call, "custom", "name", "input"),
        )
    function = object_field(call, "function", where)
    return ToolCall(
        id=text_field(call, "id", where),
        name=text_field(function, "name", where),
        arguments=_arguments(function),
        raw=compact(call),
        rest=rest_with(call, "function", "name", "arguments"),
        edited=_malformed(call),
    )


def _result(item: JSON, content: tuple[Flat, ...], where: str) -> ToolResult:
    return ToolResult(
        call_id=text_field(item, "tool_call_id", where),
        name=text_field(item, "name", where),
        parts=content,
    )


def write(message: Message) -> list[JSON]:
    """Write a message of any format, without the fields of plain messages that OpenAI refuses."""
    if message.format == "plain" and message.extra:
        message = replace(message, extra=compact(without(extra_of(message), *PLAIN_FIELDS)))
    pieces = write_all_fields(message)
    return [_answering(piece) if piece["role"] in RESULTS else piece for piece in pieces]


def _answering(result: JSON) -> JSON:
    """A result with the role that its call requires: `function_call` is answered by name."""
    by_name = not result.get("tool_call_id") and result.get("name")
    return {**result, "role": "function" if by_name else "tool"}


def write_all_fields(message: Message) -> list[JSON]:
    """Write each result as a message of its own, then the other parts as one, if there are any."""
    own = message.format in ("openai", "plain")
    pieces = [_written_result(result, message, own=own) for result in message.results]
    rest: list[Part] = [part for part in message.parts if not isinstance(part, ToolResult)]
    if own:
        return pieces if pieces and not rest else [*pieces, _own(message, rest)]
    rest = convert.visible(rest)
    return [*pieces, _written(message, rest)] if rest else pieces


def _written_result(result: ToolResult, message: Message, *, own: bool) -> JSON:
    named = {"tool_call_id": result.call_id, "name": result.name if own else ""}
    named = {key: value for key, value in named.items() if value}
    blocks = own and any(part.raw for part in result.parts)
    content = list(map(_written_block, result.parts)) if blocks else convert.text_of(result.parts)
    extra = extra_of(message) if own else {}
    if result.call_id:
        extra.pop("role", None)  # an answer by id is no answer to `function_call`
    return {"role": "tool", **named, "content": content, **extra}


def _own(message: Message, parts: Sequence[Part]) -> JSON:
    piece: JSON = {"role": message.role, **extra_of(message)}
    fields: JSON = {}
    content: list[Part] = []
    calls: list[ToolCall] = []
    for part in parts:
        if isinstance(part, ToolCall):
            calls.append(part)
        elif part.raw and "type" not in raw_of(part):
            fields |= _field(part)
        else:
            content.append(part)
    return {**piece, "content": _written_content(content), **fields, **_written_calls(calls)}


def _field(part: Part) -> JSON:
    raw = raw_of(part)
    return {"refusal": part.text} if isinstance(part, Text) and part.edited else raw


def _written(message: Message, parts: Sequence[Part]) -> JSON:
    """Write a message of another format."""
    piece: JSON = {"role": message.role if message.role != "tool" else "user"}
    if _NAME.fullmatch(message.author):
        piece["name"] = message.author
    content: list[Part] = [part for part in parts if not isinstance(part, ToolCall)]
    if message.role != "user":
        content = [Text(text=convert.described(part)) for part in content]
    elif any(not isinstance(part, Text) for part in content):
        content = [_portable(part) for part in content]
    else:
        content = [Text(text=part.text) for part in content if isinstance(part, Text)]
    piece["content"] = _written_content(content)
    return piece | _written_calls([part for part in parts if isinstance(part, ToolCall)], own=False)


def _written_content(parts: Sequence[Part]) -> Any:
    match list(parts):
        case []:
            return None
        case [Text(text=text, raw="")]:
            return text
        case blocks:
            return [_written_block(block) for block in blocks]


def _written_block(part: Part) -> JSON:
    match part:
        case Text(text=text, raw=raw, edited=edited):
            known = raw_of(part)
            key = "refusal" if known.get("type") == "refusal" else "text"
            return known if raw and not edited else {"type": "text", **known, key: text}
        case _ if part.raw:
            return raw_of(part)
        case _:
            return {"type": "text", "text": convert.described(part)}


def _portable(part: Part) -> Part:
    """A block of another format as a block of this one, in `raw`."""
    match part:
        case Image(data=data, url=url) if data or convert.on_the_web(url):
            address = convert.data_url(part) if data else url
            return Opaque(type="image_url", raw=compact({"type": "image_url", "image_url": {"url": address}}))
        case File(data=data, name=name) if data:
            file = {"filename": name or "file", "file_data": convert.data_url(part)}
            return Opaque(type="file", raw=compact({"type": "file", "file": file}))
        case _:
            text = convert.described(part)
            return Text(text=text, raw=compact({"type": "text", "text": text}))


def _written_calls(calls: Sequence[ToolCall], *, own: bool = True) -> JSON:
    found: JSON = {}
    for call in calls:
        raw = raw_of(call) if own else {}
        if "function_call" in raw:
            found["function_call"] = raw["function_call"] | _named(call)
        else:
            found.setdefault("tool_calls", []).append(_written_call(call, raw))
    return found


def _written_call(call: ToolCall, raw: JSON) -> JSON:
    if raw and not call.edited:
        return raw
    if raw.get("type") == "custom":
        custom = {
            **raw["custom"],
            "name": call.name,
            "input": convert.as_object(call.arguments).get("input", ""),
        }
        return {**raw, "id": call.id, "custom": custom}
    return {**raw, "id": call.id, "type": "function", "function": {**raw.get("function", {}), **_named(call)}}


def _named(call: ToolCall) -> JSON:
    return {"name": call.name, "arguments": call.arguments}


CODEC = Codec(
    format="openai",
    read=read,
    write=write,
    rules=Rules(function_calls=True),
    # OpenAI documents three tokens around each message, three to prime the reply and one for a name. Those
    # for functions are from its example and vary by model; we count their JSON, which is longer than what
    # the model reads.
    framing=Framing(request=3, message=3, name=1, call=3, tools=12, tool=7, images="openai"),
)
