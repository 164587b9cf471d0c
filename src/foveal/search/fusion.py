"""Merge keyword hits and vector hits into one list, best first.

A hit is as strong as the stronger of its two signals; the weaker one adds a little. Ranks are not mixed: the
first of a list of poor hits is still a poor hit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from foveal.store.port import Found

FLOOR = 0.25
"""The cosine below which a hit among many thousand messages is a coincidence."""
SAID_ONCE = 1 / 2.2
"""The score of a message of average length that contains every word of the query once."""
AGREEMENT = 0.25
"""The largest share of the remaining distance to 1 that the weaker signal adds."""


def fused(keyword: Sequence[Found], near: Sequence[Found], limit: int) -> list[Found]:
    """The best hits of both, each once, scored 0..1; ties keep the keyword order."""
    by_words = {_key(hit): min(1.0, hit.score / SAID_ONCE) for hit in keyword}
    by_vector = {_key(hit): max(0.0, (hit.score - FLOOR) / (1 - FLOOR)) for hit in near}
    every = {_key(hit): hit for hit in (*keyword, *near)}
    scored = [
        replace(hit, score=_strength(by_words.get(key, 0.0), by_vector.get(key, 0.0)))
        for key, hit in every.items()
    ]
    return sorted(scored, key=lambda hit: -hit.score)[:limit]


def _key(hit: Found) -> tuple[str, str]:
    """Session and digest: both searches return the same message for one content."""
    return hit.session, hit.digest


def _strength(one: float, other: float) -> float:
    strong, weak = max(one, other), min(one, other)
    return strong + AGREEMENT * weak * (1 - strong)
