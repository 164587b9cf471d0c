"""A request's cache markers → at most as many as the provider takes, none where it takes none.

The latest stay, for they cover the most; and of those on tools and system prompt the last one, for these
stay the same when the messages move.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from foveal.wire.jsontext import compact
from foveal.wire.markers import MARKER, bears, marked_blocks


def cap_markers(
    pieces: Sequence[str], system: str, tools: str, most: int | None
) -> tuple[tuple[str, ...], str, str]:
    """Take markers off until `most` are left; texts that lose none come back as they are.

    >>> cap_markers(['{"text":"a","cache_control":{}}', '{"text":"b","cache_control":{}}'], "", "", 1)[0]
    ('{"text":"a"}', '{"text":"b","cache_control":{}}')
    """
    texts = [tools, system, *pieces]  # the order in which the provider reads them
    if most is not None:
        values = [json.loads(text) if f'"{MARKER}"' in text else None for text in texts]
        gone = _surplus([list(filter(bears, marked_blocks(value))) for value in values], most)
        texts = [_without(value, text, gone) for value, text in zip(values, texts, strict=True)]
    return tuple(texts[2:]), texts[1], texts[0]


def _surplus(marked: Sequence[list[dict[str, Any]]], most: int) -> set[int]:
    """Which of the marked blocks go, by identity."""
    lasting, moving = marked[0] + marked[1], [block for blocks in marked[2:] for block in blocks]
    surplus = max(0, len(lasting) + len(moving) - most)
    first_to_go = [*lasting, *moving]
    if 0 < len(lasting) <= surplus and most > 1:  # else the last lasting one would go with the others
        first_to_go = [*lasting[:-1], *moving, lasting[-1]]
    return {id(block) for block in first_to_go[:surplus]}


def _without(value: Any, text: str, gone: set[int]) -> str:
    taken = [block for block in marked_blocks(value) if id(block) in gone or not bears(block)]
    for block in taken:
        del block[MARKER]
    return compact(value) if taken else text
