"""A request's cache markers → at most as many as the provider takes. The latest stay: they cover the most."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from foveal.wire.codec import JSON
from foveal.wire.jsontext import compact

MARKER = "cache_control"


def cap_markers(
    pieces: Sequence[str], system: str, tools: str, most: int | None
) -> tuple[tuple[str, ...], str, str]:
    """Take the earliest markers off until `most` are left; texts without a surplus come back as they are.

    >>> cap_markers(['{"text":"a","cache_control":{}}', '{"text":"b","cache_control":{}}'], "", "", 1)[0]
    ('{"text":"a"}', '{"text":"b","cache_control":{}}')
    """
    texts = [tools, system, *pieces]  # the order in which the provider reads them
    if most is not None and sum(text.count(f'"{MARKER}":') for text in texts) > most:
        values = [json.loads(text) if text else None for text in texts]
        marked = [block for value in values for block in marked_blocks(value)]
        changed = {id(block) for block in marked[: max(0, len(marked) - most)]}
        texts = [_without(value, text, changed) for value, text in zip(values, texts, strict=True)]
    return tuple(texts[2:]), texts[1], texts[0]


def marked_blocks(value: Any) -> Iterator[JSON]:
    """Every block with a marker, in order; what a model wrote as a call's input is no block."""
    if isinstance(value, list):
        for item in value:
            yield from marked_blocks(item)
    elif isinstance(value, dict):
        if value.get("type") != "tool_use":
            for key, item in value.items():
                if key not in (MARKER, "input_schema"):
                    yield from marked_blocks(item)
        if MARKER in value:
            yield value


def _without(value: Any, text: str, surplus: set[int]) -> str:
    taken = [block for block in marked_blocks(value) if id(block) in surplus]
    for block in taken:
        del block[MARKER]
    return compact(value) if taken else text
