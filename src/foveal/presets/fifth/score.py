"""Items in → one score from four: how recent, how much referred to, how relevant, how explicitly marked.

Items in → how much of the talk about what each introduced came later: 0 to 1.

Items and a task in → how alike their words are: 0 to 1.

The cosine of weighted words: a word that few items have says more than one in all of them.

Items in → 1 for those somebody marked important, 0 for the others.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from foveal.pipeline.signals import identifier_counts, word_counts
from foveal.pipeline.values import Item, Scene
from foveal.presets.fifth.levels import FifthNumbers
from foveal.presets.recency import MINUTE, age, per_minute
from foveal.window import Score


def references(items: Sequence[Item], _scene: Scene) -> Sequence[Score]:
    """Later mentions of the identifiers an item was the first to name ÷ all mentions; none → 0."""
    mentions = [identifier_counts(item.text) for item in items]
    total: Counter[str] = Counter()
    introduced: defaultdict[int, list[str]] = defaultdict(list)
    for at, found in enumerate(mentions):
        introduced[at] = [name for name in found if name not in total]
        total.update(found)
    return [
        _share(
            later=sum(total[name] - mentions[at][name] for name in introduced[at]),
            all=sum(total[name] for name in introduced[at]),
        )
        for at in range(len(items))
    ]


def _share(*, later: int, all: int) -> Score:
    share = later / all if all else 0.0
    return Score(total=share, parts={"references": share})


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


def explicit(items: Sequence[Item], _scene: Scene) -> Sequence[Score]:
    """A mark of the item itself, or `important` in its metadata."""
    marks = [float(item.important or item.metadata.get("important") is True) for item in items]
    return [Score(total=mark, parts={"explicit": mark}) for mark in marks]


def fifth(items: Sequence[Item], scene: Scene, *, numbers: FifthNumbers | None = None) -> Sequence[Score]:
    """The weighted sum; the parts are what each added to it."""
    by = numbers or FifthNumbers()
    columns = {
        "recency": [by.recency_weight * _recency(item, scene) for item in items],
        "references": [by.references_weight * score.total for score in references(items, scene)],
        "relevance": [by.relevance_weight * score.total for score in relevance(items, scene)],
        "explicit": [by.explicit_weight * score.total for score in explicit(items, scene)],
    }
    rows = (dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True))
    return [Score(total=sum(parts.values()), parts=parts) for parts in rows]


def _recency(item: Item, scene: Scene) -> float:
    """Nobody knows the age of an item without a time: it is not recent."""
    return 0.0 if item.timestamp is None else per_minute(age(item.timestamp, scene.now) / MINUTE)
