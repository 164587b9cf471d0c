"""Items in → how much of the talk about what each introduced came later: 0 to 1."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

from foveal.pipeline.signals import identifier_counts
from foveal.pipeline.values import Item, Scene, Score


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
