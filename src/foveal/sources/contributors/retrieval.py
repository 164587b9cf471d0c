"""Offer search hits, each with the score it was found with."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from foveal.pipeline.shorten.turn import cut_middle
from foveal.sources.contributor import MAX_CHARS_PER_TOKEN, RETRIEVAL, ContextRequest, Offer, room_for

LEAST = 24
"""Tokens below which a hit is not worth showing."""
SHARE = 3
"""One hit takes at most a third of what is left."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A text that a search found, and how well it answers, from 0 to 1."""

    text: str
    source: str
    score: float
    said_at: float | None = None


def retrieval(hits: Sequence[Hit]) -> Callable[[ContextRequest], Iterator[Offer]]:
    """A contributor of these hits."""
    return lambda request: hit_offers(hits, room_for(request, RETRIEVAL), request.count)


def hit_offers(hits: Sequence[Hit], tokens: int, count: Callable[[str], int]) -> Iterator[Offer]:
    """The best hits first, each within a third of the tokens that are left."""
    for hit in sorted(hits, key=lambda hit: -hit.score):
        room = tokens // SHARE
        if room < LEAST:
            return
        if hit.text.strip():
            text = cut_middle(hit.text[: MAX_CHARS_PER_TOKEN * room], room, count)
            tokens -= count(text)
            yield Offer(
                text=text,
                type=RETRIEVAL,
                source_path=hit.source,
                salience=hit.score,
                touched_at=hit.said_at,
            )
