"""Score items by recency, references, relevance to the task and explicit marks.

References are the share of mentions that came after the item which first named a thing. Relevance is the
similarity in meaning that the scene has for each item; if it has none, the cosine of weighted words: a word
that few items contain weighs more than one that most contain.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence

from foveal.pipeline.signals import identifier_counts, word_counts
from foveal.pipeline.values import Item, Scene
from foveal.presets.fifth.levels import FifthNumbers
from foveal.presets.recency_curves import MINUTE, age, per_minute
from foveal.window import Score

Weights = Mapping[str, float]


def fifth(items: Sequence[Item], scene: Scene, *, numbers: FifthNumbers | None = None) -> Sequence[Score]:
    """The weighted sum of the four parts; each part of the score is its weighted share."""
    by = numbers or FifthNumbers()
    columns = {
        "recency": [by.recency_weight * _recency(item, scene) for item in items],
        "references": [by.references_weight * share for share in references(items)],
        "relevance": [by.relevance_weight * likeness for likeness in _relevance(items, scene)],
        "explicit": [by.explicit_weight * explicit(item) for item in items],
    }
    rows = (dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True))
    return [Score(total=sum(parts.values()), parts=parts) for parts in rows]


def _recency(item: Item, scene: Scene) -> float:
    """An item without a time counts as not recent."""
    return 0.0 if item.timestamp is None else per_minute(age(item.timestamp, scene.now) / MINUTE)


def references(items: Sequence[Item]) -> list[float]:
    """For each item, later mentions of the identifiers it was the first to name ÷ all mentions; none → 0."""
    mentions = [identifier_counts(item.text) for item in items]
    total: Counter[str] = Counter()
    introduced: list[list[str]] = []
    for found in mentions:
        introduced.append([name for name in found if name not in total])
        total.update(found)
    return [
        _share(later=sum(total[name] - found[name] for name in names), all=sum(total[name] for name in names))
        for found, names in zip(mentions, introduced, strict=True)
    ]


def _share(*, later: int, all: int) -> float:
    return later / all if all else 0.0


def _relevance(items: Sequence[Item], scene: Scene) -> list[float]:
    if scene.similarities:
        return [scene.similarities.get(item.index, 0.0) for item in items]
    return relevance(items, scene.task)


def relevance(items: Sequence[Item], task: str) -> list[float]:
    """How many of its words each item shares with the task, 0 to 1; 0 without a task."""
    words = word_counts(task)
    if not words:
        return [0.0] * len(items)
    texts = [word_counts(item.text) for item in items]
    rarity = _rarity(texts)
    unseen = math.log(1 + len(texts)) + 1
    target = _weights(words, rarity, unseen)
    return [_cosine(target, _weights(text, rarity, unseen)) for text in texts]


def _rarity(texts: Sequence[Mapping[str, int]]) -> Weights:
    found: Counter[str] = Counter()
    for text in texts:
        found.update(text.keys())
    return {word: math.log((1 + len(texts)) / (1 + count)) + 1 for word, count in found.items()}


def _weights(text: Mapping[str, int], rarity: Weights, unseen: float) -> Weights:
    return {word: (1 + math.log(count)) * rarity.get(word, unseen) for word, count in text.items()}


def _cosine(a: Weights, b: Weights) -> float:
    shorter, longer = sorted((a, b), key=len)
    dot = sum(weight * longer[word] for word, weight in shorter.items() if word in longer)
    if not dot:
        return 0.0
    lengths = math.sqrt(sum(w * w for w in a.values()) * sum(w * w for w in b.values()))
    return min(1.0, dot / lengths)


def explicit(item: Item) -> float:
    """1 if the item or its metadata is marked `important`, else 0."""
    return float(item.important or item.metadata.get("important") is True)
