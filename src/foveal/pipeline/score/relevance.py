"""Items and a task in → how alike their words are: 0 to 1.

The cosine of weighted words: a word that few items have says more than one in all of them.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence

from foveal.pipeline.signals import word_counts
from foveal.pipeline.values import Item, Scene, Score

Weights = Mapping[str, float]


def relevance(items: Sequence[Item], scene: Scene) -> Sequence[Score]:
    """The similarity of each item to the task; without a task nothing is relevant."""
    task = word_counts(scene.task)
    if not task:
        return [_score(0.0)] * len(items)
    texts = [word_counts(item.text) for item in items]
    rarity = _rarity(texts)
    unseen = math.log(1 + len(texts)) + 1
    aim = _weights(task, rarity, unseen)
    return [_score(_cosine(aim, _weights(text, rarity, unseen))) for text in texts]


def _score(likeness: float) -> Score:
    return Score(total=likeness, parts={"relevance": likeness})


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
