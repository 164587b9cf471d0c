"""Find the cache markers in the JSON of messages, system prompt and tools."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

MARKER = "cache_control"
_DATA = frozenset({MARKER, "input", "args", "action", "response", "metadata", "input_schema", "parameters"})
"""Under these keys are data of a model, a tool or a program: a key of that name there is not a marker."""
_THINKING = frozenset({"thinking", "redacted_thinking"})


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


def remove_markers(value: Any) -> None:
    """Delete every marker, in place."""
    for block in list(marked_blocks(value)):
        del block[MARKER]


def can_be_marked(block: Any) -> bool:
    """Whether Anthropic accepts a marker on it: not on thinking, empty text or deferred tools."""
    if not isinstance(block, dict) or block.get("type") in _THINKING or block.get("defer_loading"):
        return False
    return block.get("type") != "text" or bool(str(block.get("text", "")).strip())
