"""Find a preset by its name."""

from __future__ import annotations

from collections.abc import Mapping
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
from foveal.presets.numbers import DEFAULTS, Numbers, resolved
from foveal.presets.omar import omar
from foveal.presets.omar.score import OmarNumbers
from foveal.presets.openscroll import openscroll
from foveal.presets.openscroll.layers import OpenscrollNumbers
from foveal.presets.penguin import penguin
from foveal.presets.recent import RecentNumbers, recent
from foveal.presets.reploid import ReploidNumbers, reploid


def _preset(numbers: Numbers) -> Preset:  # noqa: PLR0911 — one for each class
    """The preset that uses these numbers."""
    match numbers:
        case RecentNumbers():
            return recent(numbers)
        case OmarNumbers():
            return omar(numbers)
        case OpenscrollNumbers():
            return openscroll(numbers)
        case PenguinNumbers():
            return penguin(numbers)
        case FifthNumbers():
            return fifth(numbers)
        case ReploidNumbers():
            return reploid(numbers)
        case FovealNumbers():
            return foveal(numbers)


PRESETS = {name: _preset(numbers) for name, numbers in DEFAULTS.items()}
DEFAULT = "foveal"
MOST_CHARACTERS = 256
"""The longest name of a preset."""

__all__ = ["DEFAULT", "PRESETS", "Preset", "find"]


def find(name: str, numbers: Tables | None = None) -> Preset:
    """The preset of that name, one of ours with the numbers given or one of an installed package.

    All numbers are checked, those of other presets too.
    """
    if not isinstance(name, str):
        raise InputError(
            f"`preset` is {name!r}, not text", remedy="give the name of a preset, or omit it", field="preset"
        )
    if len(name) > MOST_CHARACTERS:
        raise InputError(
            f"`preset` has {len(name):,} characters, more than {MOST_CHARACTERS}",
            remedy=f"use one of: {', '.join(PRESETS)}",
            field="preset",
        )
    found = PRESETS.get(name or DEFAULT) or base.find(name)
    if found is None:
        known = sorted({*PRESETS, *base.names()})
        close = get_close_matches(name, known, n=1)
        hint = f"did you mean `{close[0]}`? " if close else ""
        remedy = f"{hint}use one of: {', '.join(known)}"
        raise ConfigError(f"there is no preset {name!r}", remedy=remedy, field="preset")
    if not numbers:
        return found
    if not isinstance(numbers, Mapping):
        raise ConfigError(
            f"`numbers` is {numbers!r}, not a table",
            remedy='pass a table by preset, as in `{"reploid": {"recency": 20}}`',
            field="numbers",
        )
    own = resolved([("numbers", numbers)])
    return _preset(own[found.name]) if found.name in own else found
