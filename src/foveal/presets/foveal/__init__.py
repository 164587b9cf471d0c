"""Full detail where the agent looks, less further out, in a window whose beginning holds still."""

from __future__ import annotations

from functools import partial

from foveal.presets.base import Preset
from foveal.presets.foveal.select import FovealNumbers, foveated


def foveal(numbers: FovealNumbers) -> Preset:
    return Preset(
        name="foveal",
        about="newest turns whole, the most telling snippets of the others, a prefix that holds still",
        select=partial(foveated, numbers=numbers),
        stable_prefix=True,
    )
