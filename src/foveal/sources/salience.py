"""Offers and what they are for in → how much each has to do with it, 0..1.

Three signs, each of which can lift an offer alone: how much of the task's words it has, how lately it was
touched, whether the conversation names its path or a name of code in it. No model, no vectors: words alone.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from foveal.pipeline.signals import identifier_counts
from foveal.search.terms import terms
from foveal.sources.contributor import ContextRequest, Offer
from foveal.sources.mentions import Mentions, stem

LONGEST = 50_000
"""Characters of a text whose words are looked at."""
DAY = 86_400.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SalienceNumbers:
    """How far each sign lifts an offer at most, from 0 to 1."""

    similarity: float = 0.6
    recency: float = 0.3
    path: float = 0.9
    """The conversation names the path, or the file is open in the editor."""
    symbol: float = 0.5
    """The task names a name of code, or an id, that the text has; or a word of it is the file's name."""
    symbol_said: float = 0.25
    """The conversation does."""
    half_life_days: float = 1.0
    """After this time a touch counts half."""


NUMBERS = SalienceNumbers()


def saliences(
    offers: Sequence[Offer], request: ContextRequest, named: Mentions, *, numbers: SalienceNumbers = NUMBERS
) -> tuple[float, ...]:
    """The salience of each offer: what it says itself, else 1 - (1 - a)(1 - b)(1 - c) of its three signs.

    `named`: what the task and the conversation name.
    """
    words = [set(terms(offer.text[:LONGEST]).all) for offer in offers]
    rarity = _rarity(words)
    aimed = aim(request)[:LONGEST]
    task, asked = set(terms(aimed).all), identifier_counts(aimed).keys()
    return tuple(
        round(_given(offer.salience), 4)
        if offer.salience is not None
        else _joined(
            numbers.similarity * similarity(task, own, rarity),
            numbers.recency * recency(offer.touched_at, request.now, half_life_days=numbers.half_life_days),
            _mentioned(offer, request, named, numbers, asked=asked),
        )
        for offer, own in zip(offers, words, strict=True)
    )


def aim(request: ContextRequest) -> str:
    """What the window is for: the task, else what was said last."""
    return request.task or next(reversed(request.said), "")


def similarity(task: set[str], own: set[str], rarity: Mapping[str, float]) -> float:
    """The share of the task's words that a text has; a word that few offers have counts for more.

    >>> similarity({"fix", "login"}, {"login"}, {"fix": 1.0, "login": 3.0})
    0.75
    """
    unseen = max(rarity.values(), default=1.0)
    whole = sum(rarity.get(word, unseen) for word in sorted(task))
    return sum(rarity[word] for word in sorted(task & own)) / whole if whole else 0.0


def recency(touched_at: float | None, now: float, *, half_life_days: float = 1.0) -> float:
    """1 for what was touched now, half of it a day later; 0 for what nothing touches.

    >>> recency(0.0, 2 * DAY), recency(None, 0.0)
    (0.25, 0.0)
    """
    if touched_at is None:
        return 0.0
    return math.pow(0.5, max(0.0, now - touched_at) / (DAY * half_life_days))


def _rarity(texts: Sequence[set[str]]) -> dict[str, float]:
    counts = Counter(word for text in texts for word in text)
    return {word: 1 + math.log((1 + len(texts)) / (1 + count)) for word, count in counts.items()}


def _mentioned(
    offer: Offer,
    request: ContextRequest,
    named: Mentions,
    numbers: SalienceNumbers,
    *,
    asked: AbstractSet[str],
) -> float:
    path = offer.source_path
    if path and (path in request.active_files or any(_means(said, path) for said in named.ending(path))):
        return numbers.path
    if stem(path) in named.words:
        return numbers.symbol
    own = identifier_counts(offer.text[:LONGEST]).keys()
    if not own.isdisjoint(asked):
        return numbers.symbol
    return 0.0 if own.isdisjoint(named.names) else numbers.symbol_said


def _means(said: str, path: str) -> bool:
    """Whether a path as somebody wrote it can be this one: one ends as the other does."""
    return f"/{path}".endswith(f"/{said.removeprefix('./').lstrip('/')}") or said.endswith(f"/{path}")


def _given(salience: float) -> float:
    return min(1.0, max(0.0, salience)) if math.isfinite(salience) else 0.0


def _joined(*signs: float) -> float:
    return round(1 - math.prod(1 - sign for sign in signs), 4)
