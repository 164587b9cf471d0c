"""The name of a preset in → the one an installed package brings under that name, or None.

A package names its presets in its entry points, group `foveal.plugins`: the preset's name = where it is, as
in `steady = "foveal_steady:STEADY"`. There stands a `Preset`, or a function without arguments that makes
one. Packages are looked at when a name is asked for that Foveal itself does not know, and only the one that
has it is imported.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from foveal.errors import ConfigError
from foveal.presets.base import Preset
from foveal.sources.plugins import PREFIX

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "foveal.plugins"


def names() -> tuple[str, ...]:
    """The names of the presets that installed packages bring; none of them is imported."""
    return tuple(sorted({point.name for point in _points() if not point.name.startswith(PREFIX)}))


def find(name: str) -> Preset | None:
    """The preset a package brings under that name; a package that breaks is named."""
    points = [point for point in _points() if point.name == name]
    if not points:
        return None
    if len({_distribution(point) for point in points}) > 1:
        raise ConfigError(
            f"the preset {name!r} comes with several packages: {', '.join(map(_distribution, points))}",
            remedy="uninstall all of them but one",
        )
    return _loaded(points[0])


def _points() -> tuple[EntryPoint, ...]:
    from importlib.metadata import entry_points  # most builds name a preset of ours and look no further

    return tuple(entry_points(group=GROUP))


def _loaded(point: EntryPoint) -> Preset:
    try:
        found = point.load()
        preset = found if isinstance(found, Preset) or not callable(found) else found()
    except Exception as fault:
        raise _broken(point, f"{type(fault).__name__}: {fault}") from fault
    if not isinstance(preset, Preset):
        raise _broken(point, f"`{point.value}` gives a {type(preset).__name__}, not a `Preset`")
    if preset.name != point.name:
        raise _broken(point, f"`{point.value}` gives a preset called {preset.name!r}")
    return preset


def _broken(point: EntryPoint, what: str) -> ConfigError:
    package = _distribution(point)
    return ConfigError(
        f"the preset {point.name!r} of the package `{package}` cannot be used: {what}",
        remedy=f"update or uninstall `{package}`, or use another preset",
    )


def _distribution(point: EntryPoint) -> str:
    return point.dist.name if point.dist else point.value
