"""Detect which format messages are in. The first message that fits only one format decides."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from foveal.model import Format
from foveal.wire.formats import plain, responses
from foveal.wire.formats.codec import JSON
from foveal.wire.markers import MARKER

_BLOCKS: dict[str, Format] = {
    **dict.fromkeys(("input_text", "output_text", "input_image", "input_file"), "responses"),
    **dict.fromkeys(("tool_use", "tool_result", "thinking", "redacted_thinking", "document"), "anthropic"),
    **dict.fromkeys(("image_url", "input_audio", "file", "refusal"), "openai"),
}
_ITEMS = frozenset({*responses.CALLS, *responses.OUTPUTS, "reasoning", "item_reference", "compaction"})
_ITEM_KEYS = frozenset({"type", "role", "content", "id", "status", "phase"})
_OPENAI_FIELDS = frozenset(
    {"tool_calls", "function_call", "tool_call_id", "refusal", "audio", "annotations"}
    | {"reasoning_content", "reasoning", "reasoning_details"}
)
_OPENAI_KEYS = frozenset({*_OPENAI_FIELDS, "role", "content", "name", "type"})
_PLAIN_KEYS = plain.KEYS - _OPENAI_KEYS
_DECISIVE_KEYS = frozenset({"contents", "input", "system", "anthropic_version"})
"""Keys of a request body that only one format has."""
_FOREIGN_ROLES = frozenset({"system", "developer", "tool", "function"})


def detect(items: list[Any], body: JSON | None = None, model: str = "") -> Format:
    """The format of messages and of the request body around them, both plain JSON values.

    The name of the model decides where the shape is ambiguous.

    >>> detect([{"role": "user", "parts": [{"text": "hello"}]}])
    'gemini'
    >>> detect([{"role": "user", "content": "hello"}], model="claude-sonnet-4-5")
    'anthropic'
    """
    if body is not None:
        if "contents" in body:
            return "gemini"
        if "input" in body:
            return "responses"
        if "system" in body or "anthropic_version" in body:
            return "anthropic"
        model = model or str(body.get("model") or "")
    return decide((shape_of(item) for item in items if isinstance(item, dict)), model)


@dataclass(frozen=True, slots=True, eq=False)
class ShapeOfMessage:
    """What one message says about the format of its conversation.

    Messages that say the same share the object, so that it can be looked up by identity.
    """

    only: Format | None
    """The only format it can be in; None when there are several."""
    plain: bool
    """It has keys that only plain messages have."""
    openai: bool
    """It has no keys that OpenAI's messages do not have."""
    foreign: bool
    """Its role is none of Anthropic's."""


def shape_of(item: JSON) -> ShapeOfMessage:
    """What a message, of plain JSON values, says about the format of its conversation."""
    role, keys = item.get("role"), item.keys()
    plain, openai = not keys.isdisjoint(_PLAIN_KEYS), keys <= _OPENAI_KEYS
    return _shared(_only_format(item), plain, openai, isinstance(role, str) and role in _FOREIGN_ROLES)


_shared = lru_cache(maxsize=128)(ShapeOfMessage)


def decide(shapes: Iterable[ShapeOfMessage], model: str = "") -> Format:
    """The format of messages of these shapes, written for the model."""
    first: Format | None = None
    some = plain = foreign = False
    openai = True
    for shape in shapes:
        first = first or shape.only
        if first and first != "openai":
            return first
        some, plain, foreign = True, plain or shape.plain, foreign or shape.foreign
        openai = openai and shape.openai
    # Keys that only plain messages have are weaker evidence: logs add an id or a time to any format.
    if plain:
        return "plain"
    if first:
        return first
    if _is_claude(model) and not foreign:
        return "anthropic"
    if not some and "gemini" in model.lower():
        return "gemini"
    return "openai" if openai else "plain"


def _only_format(item: JSON) -> Format | None:
    """The only format this message can be in; None when there are several."""
    if "parts" in item and "content" not in item:
        return "gemini"
    kind = item.get("type")
    if kind in _ITEMS or (isinstance(kind, str) and "content" not in item):
        return "responses"
    if format := _format_of_blocks(item):
        return format
    if kind == "message" and item.keys() <= _ITEM_KEYS:
        return "responses"
    is_openai = item.get("role") in ("tool", "function") or not item.keys().isdisjoint(_OPENAI_FIELDS)
    return "openai" if is_openai else None


def _format_of_blocks(item: JSON) -> Format | None:
    content = item.get("content")
    for block in content if isinstance(content, list) else ():
        if not isinstance(block, dict):
            continue
        kind = block.get("type")
        if kind in _BLOCKS:
            return _BLOCKS[str(kind)]
        if MARKER in block or "citations" in block or (kind == "image" and "source" in block):
            return "anthropic"
    return None


def _is_claude(model: str) -> bool:
    return "claude" in model.lower() or "anthropic" in model.lower()


def usual_format(model: str) -> Format:
    """The format for a model whose messages so far are in no particular one.

    >>> usual_format("claude-sonnet-4-5"), usual_format("gpt-5")
    ('anthropic', 'plain')
    """
    return "anthropic" if _is_claude(model) else "plain"


def is_guess(items: list[Any], body: JSON | None = None) -> bool:
    """Whether several formats have messages like these; then a later message decides which it is."""
    return _DECISIVE_KEYS.isdisjoint(body or {}) and all(
        isinstance(item, dict) and _only_format(item) is None and item.keys().isdisjoint(_PLAIN_KEYS)
        for item in items
    )
