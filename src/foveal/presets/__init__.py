"""Find a preset by its name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping
from difflib import get_close_matches
from importlib import import_module

from foveal.config import Tables
from foveal.errors import ConfigError, InputError
from foveal.presets import base
from foveal.presets.base import Managing, Preset


class _Presets(MutableMapping[str, Preset]):
    """The built-in presets; the modules of each are imported on first use: commands start faster."""

    def __init__(self, *names: str) -> None:
        self._found: dict[str, Preset | None] = dict.fromkeys(names)

    def __getitem__(self, name: str) -> Preset:
        found = self._found[name]
        if found is None:
            found = self._found[name] = _preset(name)
        return found

    def __setitem__(self, name: str, preset: Preset) -> None:
        self._found[name] = preset

    def __delitem__(self, name: str) -> None:
        del self._found[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)


def _preset(name: str, *numbers: object) -> Preset:
    """The preset that the function of that name in the module of that name makes of these numbers."""
    made: Preset = getattr(import_module(f"foveal.presets.{name}"), name)(*numbers)
    return made


PRESETS = _Presets("recent", "omar", "openscroll", "penguin", "fifth", "reploid", "foveal")
DEFAULT = "foveal"
MOST_CHARACTERS = 256
"""The longest name of a preset."""

__all__ = ["DEFAULT", "PRESETS", "Preset", "check", "find", "managing"]


def check(name: str) -> None:
    """Raise an error unless there is a preset of that name. Nothing of a built-in preset is imported."""
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
    if name and name not in PRESETS and base.find(name) is None:
        known = sorted({*PRESETS, *base.names()})
        close = get_close_matches(name, known, n=1)
        hint = f"did you mean `{close[0]}`? " if close else ""
        remedy = f"{hint}use one of: {', '.join(known)}"
        raise ConfigError(f"there is no preset {name!r}", remedy=remedy, field="preset")


def managing(name: str) -> Managing:
    """What the preset of that name does to histories; nothing if its package is no longer installed."""
    try:
        return find(name).manages
    except ConfigError:
        return ""


def find(name: str, numbers: Tables | None = None) -> Preset:
    """The preset of that name, one of ours with the numbers given or one of an installed package.

    All numbers are checked, those of other presets too.
    """
    check(name)
    found = PRESETS.get(name or DEFAULT) or base.find(name)
    assert found is not None
    if not numbers:
        return found
    if not isinstance(numbers, Mapping):
        raise ConfigError(
            f"`numbers` is {numbers!r}, not a table",
            remedy='pass a table by preset, as in `{"reploid": {"recency": 20}}`',
            field="numbers",
        )
    from foveal.presets.numbers import resolved

    own = resolved([("numbers", numbers)])
    return _preset(found.name, own[found.name]) if found.name in own else found
