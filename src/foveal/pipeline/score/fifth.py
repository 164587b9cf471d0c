"""Items in → one score from four: how recent, how much referred to, how relevant, how explicitly marked."""

from __future__ import annotations

from collections.abc import Sequence

from foveal.pipeline.plan.levels import FifthNumbers
from foveal.pipeline.score.explicit import explicit
from foveal.pipeline.score.recency import MINUTE, age, per_minute
from foveal.pipeline.score.references import references
from foveal.pipeline.score.relevance import relevance
from foveal.pipeline.values import Item, Scene, Score


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
