"""A request's cache markers → at most as many as the provider takes.

The latest stay, for they cover the most; and of those on tools and system prompt the last one, for these
stay the same when the messages move.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from foveal.wire.jsontext import compact
from foveal.wire.markers import MARKER, marked_blocks


def cap_markers(
    pieces: Sequence[str], system: str, tools: str, most: int | None
) -> tuple[tuple[str, ...], str, str]:
    """Take markers off until `most` are left; texts without a surplus come back as they are.

    >>> cap_markers(['{"text":"a","cache_control":{}}', '{"text":"b","cache_control":{}}'], "", "", 1)[0]
    ('{"text":"a"}', '{"text":"b","cache_control":{}}')
    """
    texts = [tools, system, *pieces]  # the order in which the provider reads them
    if most is not None and sum(text.count(f'"{MARKER}":') for text in texts) > most:
        values = [json.loads(text) if text else None for text in texts]
        lasting = [block for value in values[:2] for block in marked_blocks(value)]
        marked = [*lasting, *(block for value in values[2:] for block in marked_blocks(value))]
        surplus = len(marked) - most
        if 0 < len(lasting) <= surplus and most > 1:  # else the last lasting one would go with the others
            marked = [*lasting[:-1], *marked[len(lasting) :], lasting[-1]]
        changed = {id(block) for block in marked[: max(0, surplus)]}
        texts = [_without(value, text, changed) for value, text in zip(values, texts, strict=True)]
    return tuple(texts[2:]), texts[1], texts[0]


def _without(value: Any, text: str, surplus: set[int]) -> str:
    taken = [block for block in marked_blocks(value) if id(block) in surplus]
    for block in taken:
        del block[MARKER]
    return compact(value) if taken else text
