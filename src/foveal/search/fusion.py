"""Hits by words and hits by vectors in → one list, best first; no weak signal drowns a strong one.

Each hit is as strong as the stronger of its two signals; the weaker adds a little of what is left. Ranks are
not mixed: the first of a list of poor hits is a poor hit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from foveal.store.port import Found

FLOOR = 0.45
"""The cosine below which two texts have nothing to do with each other."""
SAID_ONCE = 1 / 2.2
"""What a message of usual length reaches of the best score when it says every word of the query once."""
AGREEMENT = 0.25
"""How much of what is left to 1 the weaker signal adds, at most."""


def fused(keyword: Sequence[Found], near: Sequence[Found], limit: int) -> list[Found]:
    """The best hits of both, each once, scored 0..1; of equals the one that the words put first."""
    by_words = {_place(hit): min(1.0, hit.score / SAID_ONCE) for hit in keyword}
    by_vector = {_place(hit): max(0.0, (hit.score - FLOOR) / (1 - FLOOR)) for hit in near}
    every = {_place(hit): hit for hit in (*keyword, *near)}
    scored = [
        replace(hit, score=_strength(by_words.get(place, 0.0), by_vector.get(place, 0.0)))
        for place, hit in every.items()
    ]
    return sorted(scored, key=lambda hit: -hit.score)[:limit]


def _place(hit: Found) -> tuple[str, str]:
    """A content in a session: both searches choose the same message for it."""
    return hit.session, hit.digest


def _strength(one: float, other: float) -> float:
    strong, weak = max(one, other), min(one, other)
    return strong + AGREEMENT * weak * (1 - strong)
