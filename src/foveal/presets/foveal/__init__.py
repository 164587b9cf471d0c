"""The default preset: newest turns in full, excerpts of earlier ones, and a stable prefix between builds."""

from __future__ import annotations

from functools import partial

from foveal.pipeline.material.admit import admit_memories_first
from foveal.presets.base import Preset
from foveal.presets.foveal.select import FovealNumbers, select_turns


def foveal(numbers: FovealNumbers = FovealNumbers()) -> Preset:
    return Preset(
        name="foveal",
        about="newest turns in full, excerpts of the others, a stable prefix",
        select=partial(select_turns, numbers=numbers),
        stable_prefix=True,
        remembers=True,
        admit=admit_memories_first,
    )
