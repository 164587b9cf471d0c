"""The JSON of messages, a system prompt or tools → its blocks with a cache marker."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

MARKER = "cache_control"
_DATA = frozenset({MARKER, "input", "args", "action", "response", "metadata", "input_schema", "parameters"})
"""Under these keys stand a model's, a tool's or a program's own words: a marker there is none."""


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
