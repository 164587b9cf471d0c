"""Four categories that borrow from each other; the oldest output leaves first."""

from __future__ import annotations

from functools import partial

from foveal.pipeline.plan.categories import PenguinNumbers, categories, rebalance, slot_of
from foveal.pipeline.score.recency import unscored
from foveal.pipeline.scored import Recipe
from foveal.pipeline.select.categorized import categorized
from foveal.pipeline.select.trim import trim_when_over
from foveal.presets.base import Preset


def penguin(numbers: PenguinNumbers) -> Preset:
    return Preset(
        name="penguin",
        about="four borrowing categories, trimmed oldest first",
        select=Recipe(
            score=unscored,
            slot_of=slot_of,
            plan=partial(categories, numbers=numbers),
            pick=lambda units, room, slots: trim_when_over(units, room, slots=slots),
            settle=lambda slots, _scene: rebalance(slots)[0],
        ),
        looks_at_all=True,
        admit=partial(categorized, numbers=numbers),
    )
