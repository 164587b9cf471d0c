"""Read the conversations of a Claude.ai export into Anthropic messages.

Texts, calls and results are taken over; thinking is left out, because its signature is missing. Attached
files are added as text where the export has it. Of two prompts with one parent the later one counts.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from foveal.wire.formats.codec import JSON
from foveal.wire.times import seconds
from foveal.wire.transcripts.values import Found, Recorded, Skipped, model_name

_ROLES = {"human": "user", "user": "user", "assistant": "assistant"}


def is_ours(value: object) -> bool:
    """Whether it is a conversation of an export."""
    return isinstance(value, dict) and isinstance(value.get("chat_messages"), list)


def read(value: JSON) -> Recorded:
    """The messages of one conversation."""
    skipped: list[Skipped] = []
    found: list[Found] = []
    for at, message in enumerate(_path(value)):
        where = f"chat_messages[{at}]"
        if not isinstance(message, dict) or not _is_role(message.get("sender")):
            skipped.append(Skipped(where=where, why=f"`sender` is not one of {', '.join(_ROLES)}"))
            continue
        date = seconds(message.get("created_at"))
        for role, blocks in _turns(message):
            found.append(Found(value={"role": role, "content": blocks}, date=date, where=where))
    return Recorded(
        format="anthropic",
        found=found,
        model=model_name(value.get("model")),
        title=value["name"] if isinstance(value.get("name"), str) else "",
        id=value["uuid"] if isinstance(value.get("uuid"), str) else "",
        skipped=tuple(skipped),
    )


def _is_role(value: object) -> bool:
    return isinstance(value, str) and value in _ROLES


def _path(value: JSON) -> list[Any]:
    """The messages on the path to the newest; all of them where the export has no parents."""
    messages = value["chat_messages"]
    nodes = {each.get("uuid"): each for each in messages if isinstance(each, dict) and _is_key(each)}
    newest = value.get("current_leaf_message_uuid")
    if not isinstance(newest, str) or newest not in nodes:
        newest = messages[-1].get("uuid") if messages and isinstance(messages[-1], dict) else None
    seen: dict[Any, Any] = {}
    while isinstance(newest, str) and newest not in seen and newest in nodes:
        seen[newest] = nodes[newest]
        newest = nodes[newest].get("parent_message_uuid")
    linked = any(each.get("parent_message_uuid") in nodes for each in nodes.values() if _is_linked(each))
    return [*reversed(seen.values())] if linked else messages


def _is_key(message: JSON) -> bool:
    return isinstance(message.get("uuid"), str)


def _is_linked(message: JSON) -> bool:
    return isinstance(message.get("parent_message_uuid"), str)


def _turns(message: JSON) -> Iterator[tuple[str, list[JSON]]]:
    """The message in the API's form, which has results in a message of the user."""
    role = _ROLES[message["sender"]]
    blocks: list[JSON] = []
    speaker = role
    for block in _blocks(message):
        owner = "user" if block["type"] == "tool_result" else role
        if blocks and owner != speaker:
            yield speaker, blocks
            blocks = []
        speaker = owner
        blocks.append(block)
    if blocks:
        yield speaker, blocks


def _blocks(message: JSON) -> Iterator[JSON]:
    content = message.get("content")
    for block in content if isinstance(content, list) else ():
        match block:
            case {"type": "text", "text": str() as text} if text.strip():
                yield {"type": "text", "text": text}
            case {"type": "tool_use", "name": str() as name, "input": dict() as given, "id": str() as id}:
                yield {"type": "tool_use", "id": id, "name": name, "input": given}
            case {"type": "tool_result", "tool_use_id": str() as id}:
                yield {"type": "tool_result", "tool_use_id": id, "content": _result(block.get("content"))}
    whole = message.get("text")
    if not (isinstance(content, list) and content) and isinstance(whole, str) and whole.strip():
        yield {"type": "text", "text": whole}
    attached = message.get("attachments")
    for file in attached if isinstance(attached, list) else ():
        match file:
            case {"extracted_content": str() as text} if text.strip():
                yield {"type": "text", "text": f"{file.get('file_name') or 'attachment'}:\n{text}"}


def _result(content: object) -> str:
    """The text of a result."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = [part.get("text") for part in parts if isinstance(part, dict)]
    return "\n".join(text for text in texts if isinstance(text, str))
