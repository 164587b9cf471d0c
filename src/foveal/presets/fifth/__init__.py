"""The `fifth` preset: four memory levels with their own budgets, filled by score."""

from __future__ import annotations

from functools import partial

from foveal.pipeline.recipe import Recipe
from foveal.presets.base import Preset
from foveal.presets.fifth.levels import FifthNumbers, by_level, levels, slot_of
from foveal.presets.fifth.score import fifth as score


def fifth(numbers: FifthNumbers = FifthNumbers()) -> Preset:
    return Preset(
        name="fifth",
        about="four memory levels, best score first within each",
        select=Recipe(
            score=partial(score, numbers=numbers),
            slot_of=partial(slot_of, numbers=numbers),
            plan=partial(levels, numbers=numbers),
            pick=lambda units, room, slots: by_level(units, room, slots=slots, numbers=numbers),
        ),
        looks_at_all=True,
        manages="compress",
        retrieves=True,
    )
