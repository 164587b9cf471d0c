"""Rate how relevant each offer is to the task, from 0 to 1.

Three signals, each of which can lift an offer alone: the share of the task's words that it has, how recently
it was touched, and whether the conversation mentions its path or a name of code in it. Words alone decide:
no model, no vectors.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet

from foveal.pipeline.signals import identifier_counts
from foveal.search.terms import terms
from foveal.sources.contributor import ContextRequest, Offer
from foveal.sources.mentions import Mentions, stem

LONGEST = 50_000
"""Characters of a text whose words are compared."""
HALF_LIFE = 86_400.0
"""Seconds after which a touch counts half."""
SIMILARITY, RECENCY = 0.6, 0.3
"""How far each signal lifts an offer at most, here and below."""
PATH = 0.9
"""The conversation mentions the path, or the file is open in the editor."""
SYMBOL = 0.5
"""The task mentions a name of code or an id that the text has, or one of its words is the file's name."""
SYMBOL_SAID = 0.25
"""The conversation mentions such a name or id."""


def saliences(offers: Sequence[Offer], request: ContextRequest, mentioned: Mentions) -> tuple[float, ...]:
    """The salience of each offer: its own, else 1 - (1 - a)(1 - b)(1 - c) of the three signals.

    `mentioned`: what the task and the conversation mention.
    """
    words = [set(terms(offer.text[:LONGEST]).all) for offer in offers]
    rarity = _rarity(words)
    # Without a task, what was said last is the task.
    task = (request.task or next(reversed(request.said), ""))[:LONGEST]
    task_words, task_names = set(terms(task).all), identifier_counts(task).keys()
    return tuple(
        round(_clamp(offer.salience), 4)
        if offer.salience is not None
        else _combine(
            SIMILARITY * similarity(task_words, own, rarity),
            RECENCY * recency(offer.touched_at, request.now),
            _mention(offer, request, mentioned, task_names),
        )
        for offer, own in zip(offers, words, strict=True)
    )


def similarity(task: set[str], own: set[str], rarity: Mapping[str, float]) -> float:
    """The share of the task's words that a text has; a word that few offers have counts for more.

    >>> similarity({"fix", "login"}, {"login"}, {"fix": 1.0, "login": 3.0})
    0.75
    """
    unseen = max(rarity.values(), default=1.0)
    whole = sum(rarity.get(word, unseen) for word in sorted(task))
    return sum(rarity[word] for word in sorted(task & own)) / whole if whole else 0.0


def recency(touched_at: float | None, now: float) -> float:
    """1 for what was touched just now, half of that a day later; 0 without a time.

    >>> recency(0.0, 2 * HALF_LIFE), recency(None, 0.0)
    (0.25, 0.0)
    """
    if touched_at is None:
        return 0.0
    return math.pow(0.5, max(0.0, now - touched_at) / HALF_LIFE)


def _rarity(texts: Sequence[set[str]]) -> dict[str, float]:
    counts = Counter(word for text in texts for word in text)
    return {word: 1 + math.log((1 + len(texts)) / (1 + count)) for word, count in counts.items()}


def _mention(
    offer: Offer, request: ContextRequest, mentioned: Mentions, task_names: AbstractSet[str]
) -> float:
    path = offer.source_path
    if path and (
        path in request.active_files or any(_can_mean(said, path) for said in mentioned.with_name_of(path))
    ):
        return PATH
    if stem(path) in mentioned.words:
        return SYMBOL
    own = identifier_counts(offer.text[:LONGEST]).keys()
    if not own.isdisjoint(task_names):
        return SYMBOL
    return 0.0 if own.isdisjoint(mentioned.names) else SYMBOL_SAID


def _can_mean(said: str, path: str) -> bool:
    """Whether a mentioned path can be this one: one ends with the other."""
    return f"/{path}".endswith(f"/{said.removeprefix('./').lstrip('/')}") or said.endswith(f"/{path}")


def _clamp(salience: float) -> float:
    return min(1.0, max(0.0, salience)) if math.isfinite(salience) else 0.0


def _combine(*signals: float) -> float:
    return round(1 - math.prod(1 - signal for signal in signals), 4)
