"""Importance: recency, role, keywords and length; the best that fit stay."""

from __future__ import annotations

from functools import partial

from foveal.pipeline.plan.flat import slot_of
from foveal.pipeline.score.importance import ReploidNumbers
from foveal.pipeline.score.importance import importance as score
from foveal.pipeline.scored import Recipe
from foveal.pipeline.select.importance import importance
from foveal.presets.base import Preset


def reploid(numbers: ReploidNumbers) -> Preset:
    return Preset(
        name="reploid",
        about="pruned by importance",
        select=Recipe(
            score=partial(score, numbers=numbers),
            slot_of=slot_of,
            plan=lambda _items, _scene: (),
            pick=lambda units, room, _slots: importance(units, room),
        ),
        looks_at_all=True,
    )
