"""Read and write OpenAI Responses items. One item is one message.

Calls that the client must answer (functions, custom tools, shells, patches, computers) are tool calls, even
if their arguments are not a JSON text; calls that the server answers itself are opaque.
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
    extra_of,
    missing,
    opaque,
    raw_of,
    read_content,
    rest_of,
    role_of,
    text_field,
    text_of_block,
    without,
    wrong_type,
)
from foveal.wire.jsontext import compact

ROLES: MappingProxyType[str, Role] = MappingProxyType(
    {"system": "system", "developer": "system", "user": "user", "assistant": "assistant"}
)
CALLS = MappingProxyType(
    {
        "function_call": "arguments",
        "custom_tool_call": "input",
        "local_shell_call": "action",
        "shell_call": "action",
        "apply_patch_call": "operation",
        "computer_call": "action",
    }
)
"""Calls that the client answers, and the field with their arguments."""
_NAMED = ("function_call", "custom_tool_call")
"""Calls of a tool by its name, with text."""
OUTPUTS = frozenset(f"{kind}_output" for kind in CALLS)
_TEXT_OUTPUTS = ("function_call_output", "custom_tool_call_output")
"""Outputs that must be text or blocks; others have structures of their own."""
_STEPS = ("_call", "_output", "_result", "_request", "_response", "_reference")
"""How the types of items end that record what a model or a server did. Any other item that is no message
carries tools, settings or state."""
_TEXT_KEYS = MappingProxyType(
    {"input_text": "text", "output_text": "text", "text": "text", "refusal": "refusal"}
)


def kind_of(item: JSON) -> str:
    return str(item.get("type") or ("message" if "role" in item else ""))


def read(item: JSON, where: str) -> Reading:
    kind = kind_of(item)
    if kind == "message":
        return _message(item, where)
    if not kind:
        raise missing(where, "type")
    raw = compact(item)
    if kind in CALLS:
        call = _call(item, kind, where, raw)
        return Reading(role="assistant", parts=(call,), flaw=_call_flaw(item, kind))
    if kind in OUTPUTS:
        valid = _valid_output(item, where)
        flaw = "" if valid is item else f"`output` is not what a {kind} has"
        return Reading(role="tool", parts=(_output(valid, where, raw if valid is item else ""),), flaw=flaw)
    if kind == "reasoning":
        return Reading(role="assistant", parts=(_reasoning(item, where, raw),))
    if kind == "image_generation_call" and isinstance(item.get("result"), str):
        rest = rest_of(item, "result")
        return Reading(role="assistant", parts=(Image(data=item["result"], raw=raw, rest=rest),))
    step = kind.endswith(_STEPS)
    return Reading(role="assistant" if step else "system", parts=(opaque(item),), pinned=not step)


def read_system(value: Any, where: str) -> tuple[Part, ...]:
    if not isinstance(value, str):
        raise wrong_type(where, "instructions", value, "text")
    return (Text(text=value),)


def _message(item: JSON, where: str) -> Reading:
    role = role_of(ROLES, item, where)
    if "content" not in item:
        raise missing(where, "content")
    extra = without(item, "content") if item["role"] != role else without(item, "role", "content")
    parts = read_content(item["content"], where, _block)
    # Only a message has an `extra`: any other item is its only part.
    return Reading(role=role, parts=parts, extra={"type": "message", **extra}, rest=rest_of(extra))


def _block(block: JSON, where: str) -> Flat:
    raw = compact(block)
    kind = str(block.get("type", ""))
    if key := _TEXT_KEYS.get(kind):
        return Text(text=text_of_block(block, key, where), raw=raw, rest=rest_of(block, key))
    if kind == "input_image":
        return _image(block, where, raw)
    if kind == "input_file":
        file_data = text_field(block, "file_data", where)
        media_type, data = convert.from_data_url(file_data)
        return File(
            data=data or file_data,
            url=text_field(block, "file_url", where) or text_field(block, "file_id", where),
            media_type=media_type,
            name=text_field(block, "filename", where),
            raw=raw,
            rest=rest_of(block, "file_data", "file_url", "file_id", "filename"),
        )
    return opaque(block)


def _image(block: JSON, where: str, raw: str) -> Image:
    address = text_field(block, "image_url", where)
    media_type, data = convert.from_data_url(address)
    return Image(
        data=data,
        url="" if data else address or text_field(block, "file_id", where),
        media_type=media_type,
        detail=text_field(block, "detail", where),
        raw=raw,
        rest=rest_of(block, "image_url", "file_id", "detail"),
    )


def _call(item: JSON, kind: str, where: str, raw: str) -> ToolCall:
    value = item.get(CALLS[kind])
    if kind == "custom_tool_call" and not isinstance(value, str):
        value = "" if value is None else compact(value)
    if kind != "function_call":
        arguments = compact({CALLS[kind]: value})
    elif value is None:
        arguments = ""
    else:
        arguments = value if isinstance(value, str) else compact(value)
    name = text_field(item, "name", where)
    return ToolCall(
        id=text_field(item, "call_id", where),
        name=name if kind in _NAMED else name or kind,
        arguments=arguments,
        raw=raw,
        rest=rest_of(item, "name", CALLS[kind]),
        edited=bool(_call_flaw(item, kind)),
    )


def _call_flaw(item: JSON, kind: str) -> str:
    if kind in _NAMED and not isinstance(item.get(CALLS[kind]), str):
        return f"`{CALLS[kind]}` is no text"
    return ""


def is_output(item: JSON) -> bool:
    """Whether an output item has the type that its kind of call requires."""
    output = item.get("output")
    match kind_of(item):
        case "function_call_output" | "custom_tool_call_output":
            return isinstance(output, str) or _are_blocks(output)
        case "computer_call_output":
            return isinstance(output, dict) and output.get("type") == "computer_screenshot"
        case "shell_call_output":
            return isinstance(output, list) and all(isinstance(b, dict) and "outcome" in b for b in output)
        case "apply_patch_call_output":
            return output is None or isinstance(output, str)
        case _:
            return isinstance(output, str)


def output_item(kind: str, call_id: str, text: str) -> JSON:
    """An output with a text, for a call of this kind."""
    output: JSON = {"type": f"{kind}_output", "call_id": call_id, "output": text}
    match kind:
        case "apply_patch_call":
            return {**output, "status": "failed"}
        case "shell_call":
            failed = {"stdout": "", "stderr": text, "outcome": {"type": "exit", "exit_code": 1}}
            return {**output, "output": [failed]}
        case "local_shell_call":
            return {"type": "local_shell_call_output", "id": call_id, "output": text}
        case "function_call" | "custom_tool_call":
            return output
        case _:
            return {**output, "type": "function_call_output"}


def _are_blocks(output: Any) -> bool:
    return isinstance(output, list) and all(isinstance(b, dict) and "type" in b for b in output)


def _valid_output(item: JSON, where: str) -> JSON:
    """The same item; one whose output is of the wrong type gets it as text, where its kind has texts."""
    if is_output(item):
        return item
    output = item.get("output")
    text = output if isinstance(output, str) else "" if output is None else compact(output)
    call_id = text_field(item, "call_id", where) or text_field(item, "id", where)
    return {**item, **output_item(kind_of(item).removesuffix("_output"), call_id, text)}


def _output(item: JSON, where: str, raw: str) -> ToolResult:
    return ToolResult(
        # The local shell's output names its call in `id`.
        call_id=text_field(item, "call_id", where) or text_field(item, "id", where),
        parts=_output_parts(item, where),
        raw=raw or compact(item),
        rest=rest_of(item, "output"),
    )


def _output_parts(item: JSON, where: str) -> tuple[Flat, ...]:
    """The parts of an output; one that is neither text nor blocks is kept as it is."""
    output, kind = item.get("output"), kind_of(item)
    if output is None or isinstance(output, str) or (kind in _TEXT_OUTPUTS and _are_blocks(output)):
        return read_content(output, where, _block, key="output")
    if isinstance(output, dict) and output.get("type") == "computer_screenshot":
        return (_image(output, f"{where}: output", compact(output)),)
    return (Opaque(type=kind, raw=compact(output)),)


def _reasoning(item: JSON, where: str, raw: str) -> Thinking:
    blocks = [b for key in ("summary", "content") if isinstance(item.get(key), list) for b in item[key]]
    text = "\n".join(str(block.get("text", "")) for block in blocks if isinstance(block, dict))
    signature = text_field(item, "encrypted_content", where) or text_field(item, "id", where)
    rest = rest_of(item, "summary", "content", "encrypted_content")
    return Thinking(text=text, signature=signature, raw=raw, rest=rest)


def write(message: Message) -> list[JSON]:
    """Write each call and each result as an item of its own, and the parts between them as messages."""
    own = message.format == "responses"
    parts = message.parts if own else convert.visible(message.parts)
    pieces: list[JSON] = []
    content: list[Part] = []
    for part in parts:
        item = _own_item(part, message) if own else _foreign_item(part)
        if item is None:
            content.append(part)
        else:
            pieces += [*_message_items(message, content), item]
            content = []
    return pieces + _message_items(message, content)


def _own_item(part: Part, message: Message) -> JSON | None:
    raw = raw_of(part)
    match part:
        case ToolCall():
            return raw if raw and not part.edited else _written_call(part, raw)
        case ToolResult():
            return raw if raw and not part.edited else _written_output(part, raw)
        case Thinking():
            return raw or None
        case _:
            return raw if raw and not message.extra else None


def _foreign_item(part: Part) -> JSON | None:
    match part:
        case ToolCall():
            return _written_call(part, {})
        case ToolResult():
            return _written_output(part, {})
        case _:
            return None


def _written_call(call: ToolCall, raw: JSON) -> JSON:
    kind = raw.get("type", "function_call")
    if kind == "function_call":
        named = {"call_id": call.id, "name": call.name, "arguments": call.arguments}
        return {"type": kind, **raw, **named}
    field = CALLS[kind]
    value = convert.as_object(call.arguments).get(field, raw.get(field))
    if kind in _NAMED:
        value = value if isinstance(value, str) else "" if value is None else compact(value)
    named = {"name": call.name} if kind in _NAMED or "name" in raw else {}
    return {**raw, "call_id": call.id, **named, field: value}


def _written_output(result: ToolResult, raw: JSON) -> JSON:
    shell = raw.get("type") == "local_shell_call_output" and "call_id" not in raw
    key = "id" if shell else "call_id"
    return {"type": "function_call_output", **raw, key: result.call_id, "output": _output_value(result, raw)}


def _output_value(result: ToolResult, raw: JSON) -> Any:
    """The output in its original structure; as text where it was text or comes from another format."""
    output = raw.get("output")
    if _are_blocks(output) and all(part.raw for part in result.parts):
        return [_own_block(part, "user") for part in result.parts]
    structured = isinstance(output, list | dict) and not any(isinstance(part, Text) for part in result.parts)
    return output if structured else convert.text_of(result.parts)


def _message_items(message: Message, parts: Sequence[Part]) -> list[JSON]:
    if not parts:
        return []
    own = message.format == "responses"
    role = "user" if message.role == "tool" else message.role
    match list(parts):
        case [Text(text=text)] as found if not (own and found[0].raw):
            content: Any = text
        case blocks if own:
            content = [_own_block(block, role) for block in blocks]
        case blocks:
            content = [_foreign_block(block, role) for block in blocks]
    return [{"type": "message", "role": role, **(extra_of(message) if own else {}), "content": content}]


def _own_block(part: Part, role: str) -> JSON:
    raw = raw_of(part)
    match part:
        case Text(text=text):
            key = _TEXT_KEYS.get(str(raw.get("type")), "text")
            return raw if raw and not part.edited else {**_text_block("", role), **raw, key: text}
        case _:
            return raw or _foreign_block(part, role)


def _foreign_block(part: Part, role: str) -> JSON:
    match part:
        case Image(data=data, url=url) if role == "user" and (data or convert.on_the_web(url)):
            return {"type": "input_image", "image_url": convert.data_url(part) if data else url}
        case File(data=data, name=name) if role == "user" and data:
            return {"type": "input_file", "filename": name or "file", "file_data": convert.data_url(part)}
        case _:
            return _text_block(convert.described(part), role)


def _text_block(text: str, role: str) -> JSON:
    return {"type": "output_text" if role == "assistant" else "input_text", "text": text}


def write_system(messages: Sequence[Message]) -> Any:
    return "\n\n".join(convert.text_of(message.parts) for message in messages)


def continues(body: JSON) -> bool:
    """Whether the request continues a history that the server stores."""
    return bool(body.get("previous_response_id") or body.get("conversation"))


CODEC = Codec(
    format="responses",
    read=read,
    write=write,
    read_system=read_system,
    write_system=write_system,
    continues=continues,
    rules=Rules(item_per_part=True),
    # Billed like chat completions: the same tokens around each item, and around each result.
    framing=Framing(request=3, message=3, call=3, result=3, tools=12, tool=7, images="openai"),
)
