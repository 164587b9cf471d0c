"""The presets by name: each one short declaration of which stages to use."""

from __future__ import annotations

from difflib import get_close_matches

from foveal.config import Tables
from foveal.errors import ConfigError, InputError
from foveal.pipeline.material.categories import PenguinNumbers
from foveal.presets import base
from foveal.presets.base import Preset
from foveal.presets.fifth import fifth
from foveal.presets.fifth.levels import FifthNumbers
from foveal.presets.foveal import foveal
from foveal.presets.foveal.select import FovealNumbers
from foveal.presets.numbers import DEFAULTS, Numbers, settled
from foveal.presets.omar import omar
from foveal.presets.omar.score import OmarNumbers
from foveal.presets.openscroll import openscroll
from foveal.presets.openscroll.layers import OpenscrollNumbers
from foveal.presets.penguin import penguin
from foveal.presets.recent import RecentNumbers, recent
from foveal.presets.reploid import ReploidNumbers, reploid


def _made(numbers: Numbers) -> Preset:
    """The preset that goes by these numbers."""
    match numbers:
        case FovealNumbers():
            made = foveal(numbers)
        case OmarNumbers():
            made = omar(numbers)
        case OpenscrollNumbers():
            made = openscroll(numbers)
        case PenguinNumbers():
            made = penguin(numbers)
        case FifthNumbers():
            made = fifth(numbers)
        case ReploidNumbers():
            made = reploid(numbers)
        case RecentNumbers():
            made = recent(numbers)
    return made


PRESETS = {preset.name: preset for preset in map(_made, DEFAULTS.values())}
DEFAULT = "foveal"

__all__ = ["DEFAULT", "PRESETS", "Preset", "find"]


def find(name: str, numbers: Tables | None = None) -> Preset:
    """The preset of that name: ours, by the numbers given, or one that an installed package brings.

    All the numbers are checked, those of other presets too.
    """
    if not isinstance(name, str):
        raise InputError(
            f"`preset` is {name!r}, not text",
            remedy="give the name of a preset, or leave it out",
            field="preset",
        )
    found = PRESETS.get(name or DEFAULT) or base.find(name)
    if found is None:
        known = sorted({*PRESETS, *base.names()})
        near = get_close_matches(name, known, n=1)
        hint = f"did you mean `{near[0]}`? " if near else ""
        raise ConfigError(f"there is no preset {name!r}", remedy=f"{hint}use one of: {', '.join(known)}")
    if not numbers:
        return found
    own = settled([("numbers", numbers)])
    return _made(own[found.name]) if found.name in own else found
