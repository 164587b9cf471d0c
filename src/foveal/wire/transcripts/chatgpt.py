"""Read the conversations of a ChatGPT export into OpenAI messages.

A conversation is a tree of nodes. Its messages are those on the path to `current_node`; answers and prompts
that were replaced stay out, and so do messages that ChatGPT hides, its reasoning and empty ones. A call of a
tool and the messages of that tool right after it become a call with its result. Images and files are not in
the JSON: a line names them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from foveal.wire.formats.codec import JSON
from foveal.wire.jsontext import compact, json_kind
from foveal.wire.times import seconds
from foveal.wire.transcripts.values import Found, Recorded, Skipped, model_name

_HIDDEN = frozenset(
    {"model_editable_context", "user_editable_context", "thoughts", "reasoning_recap", "app_pairing_content"}
)
"""Types of content that ChatGPT writes for itself."""
_ROLES = ("system", "user", "assistant", "tool")
_EVERYONE = ("all", "", None)
"""Recipients of a message that is not a call."""


def is_ours(value: object) -> bool:
    """Whether it is a conversation of an export."""
    return isinstance(value, dict) and isinstance(value.get("mapping"), dict)


def read(value: JSON) -> Recorded:
    """The messages of one conversation."""
    skipped: list[Skipped] = []
    messages = [*_readable(_path(value["mapping"], value.get("current_node")), skipped)]
    slugs = [_details(message).get("model_slug") for message in messages]
    model = next((name for slug in reversed(slugs) if (name := model_name(slug)) not in ("", "auto")), "")
    return Recorded(
        format="openai",
        found=_joined(messages),
        model=model or model_name(value.get("default_model_slug")),
        title=_text(value.get("title")),
        id=_text(value.get("conversation_id") or value.get("id")),
        skipped=tuple(skipped),
    )


def _path(mapping: Mapping[str, Any], newest: object) -> list[Any]:
    """The nodes from the root to the newest; a path that runs in a circle ends where it would repeat."""
    at = newest if isinstance(newest, str) and newest in mapping else _newest_leaf(mapping)
    seen: dict[str, Any] = {}
    while isinstance(at, str) and at not in seen and isinstance(node := mapping.get(at), dict):
        seen[at] = node
        at = node.get("parent")
    return [*reversed(seen.values())]


def _newest_leaf(mapping: Mapping[str, Any]) -> str | None:
    nodes = {key: node for key, node in mapping.items() if isinstance(node, dict)}
    leaves = [key for key, node in nodes.items() if not node.get("children")] or [*nodes]
    return max(leaves, key=lambda key: _time(nodes[key].get("message")) or 0.0, default=None)


def _time(message: object) -> float | None:
    return seconds(message.get("create_time")) if isinstance(message, dict) else None


def _readable(nodes: Iterable[Any], skipped: list[Skipped]) -> Iterator[JSON]:
    """The messages with text for the conversation."""
    for node in nodes:
        message = node.get("message")
        if message is None:
            continue
        why = _flaw(message)
        if why:
            skipped.append(Skipped(where=f"message {_text(node.get('id')) or '?'}", why=why))
        elif not _is_hidden(message) and _words(message["content"]).strip():
            yield message


def _flaw(message: object) -> str:
    """Why a message cannot be read; empty where it can."""
    if not isinstance(message, dict):
        return f"{json_kind(message)}, not an object"
    if _author(message).get("role") not in _ROLES:
        return f"its author's role is not one of {', '.join(_ROLES)}"
    return "" if isinstance(message.get("content"), dict) else "it has no `content`"


def _is_hidden(message: JSON) -> bool:
    details = _details(message)
    hidden = details.get("is_visually_hidden_from_conversation") is True
    return hidden or _text(message["content"].get("content_type")) in _HIDDEN


def _author(message: JSON) -> JSON:
    author = message.get("author")
    return author if isinstance(author, dict) else {}


def _details(message: JSON) -> JSON:
    details = message.get("metadata")
    return details if isinstance(details, dict) else {}


def _joined(messages: list[JSON]) -> list[Found]:
    """The messages, with each call beside the results right after it."""
    found: list[Found] = []
    for at, message in enumerate(messages):
        role, text = _author(message)["role"], _words(message["content"])
        before = found[-1].value if found else {}
        following = _author(messages[at + 1])["role"] if at + 1 < len(messages) else ""
        if role == "tool" and before.get("role") == "tool":
            before["content"].append(text)
            continue
        if role == "tool":
            calls = before.get("tool_calls") or [{"id": f"call_{at}"}]
            value = {"role": "tool", "tool_call_id": calls[0]["id"], "content": [text]}
        elif role == "assistant" and message.get("recipient") not in _EVERYONE and following == "tool":
            value = _call(f"call_{at}", _text(message["recipient"]), text)
        else:
            value = {"role": role, "content": text}
        where = f"message {_text(message.get('id')) or at}"
        found.append(Found(value=value, date=_time(message), where=where))
    for each in found:
        if each.value["role"] == "tool":
            each.value["content"] = "\n".join(each.value["content"])
    return found


def _call(id: str, tool: str, text: str) -> JSON:
    function = {"name": tool or "tool", "arguments": compact({"input": text})}
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": id, "type": "function", "function": function}],
    }


def _words(content: JSON) -> str:
    """The text of a message of any type of content."""
    match content:
        case {"parts": list() as parts}:
            return "\n".join(filter(None, map(_part, parts)))
        case {"text": str() as text}:
            title, address = _text(content.get("title")), _text(content.get("url"))
            return "\n".join(filter(None, (title, address, text)))
        case {"result": str() as text}:
            return text
        case {"content": str() as text}:
            return text
    return ""


def _part(part: Any) -> str:
    match part:
        case str():
            return part
        case {"text": str() as text}:
            return text
        case {"asset_pointer": str() as pointer}:
            kind = _text(part.get("content_type")).removesuffix("_asset_pointer") or "file"
            return f"[{kind}: {pointer}]"
    return ""


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
