"""The JSON of messages, a system prompt or tools → its blocks with a cache marker, and which may have one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

MARKER = "cache_control"
_DATA = frozenset({MARKER, "input", "args", "action", "response", "metadata", "input_schema", "parameters"})
"""Under these keys stand a model's, a tool's or a program's own words: a marker there is none."""
_THOUGHTS = frozenset({"thinking", "redacted_thinking"})


def marked_blocks(value: Any) -> Iterator[dict[str, Any]]:
    """Every block with a marker, in order."""
    if isinstance(value, list):
        for item in value:
            yield from marked_blocks(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            if key not in _DATA:
                yield from marked_blocks(item)
        if MARKER in value:
            yield value


def bears(block: Any) -> bool:
    """Whether Anthropic takes a marker on it: on no thinking, no empty text, and no tool that is put off."""
    if not isinstance(block, dict) or block.get("type") in _THOUGHTS or block.get("defer_loading"):
        return False
    return block.get("type") != "text" or bool(str(block.get("text", "")).strip())
