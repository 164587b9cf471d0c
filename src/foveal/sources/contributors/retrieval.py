"""Search hits in → a contributor that offers them, each with the score it was found with."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from foveal.pipeline.shorten.turn import cut_middle
from foveal.sources.contributor import DENSEST, RETRIEVAL, Look, Offer, part

LEAST = 24
"""Tokens of a hit that are worth showing."""
SHARE = 3
"""One hit takes at most a third of what is left."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """Words that a search brought back, and how well they answer: 0..1."""

    text: str
    source: str
    score: float
    said_at: float | None = None


def retrieval(hits: Sequence[Hit]) -> Callable[[Look], Iterator[Offer]]:
    """A contributor of these hits."""
    return lambda look: offered(hits, part(look, RETRIEVAL), look.count)


def offered(hits: Sequence[Hit], tokens: int, count: Callable[[str], int]) -> Iterator[Offer]:
    """The best hits first, each within a third of what is left of the tokens."""
    for hit in sorted(hits, key=lambda hit: -hit.score):
        room = tokens // SHARE
        if room < LEAST:
            return
        if hit.text.strip():
            text = cut_middle(hit.text[: DENSEST * room], room, count)
            tokens -= count(text)
            yield Offer(
                text=text,
                type=RETRIEVAL,
                source_path=hit.source,
                salience=hit.score,
                touched_at=hit.said_at,
            )
