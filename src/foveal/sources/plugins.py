"""The name of a contributor in → the function that an installed package brings under that name.

A package names its contributors in its entry points, group `foveal.plugins`, beside its presets, with
`contributor.` before the name, as in `"contributor.weather" = "foveal_weather:weather"`. There stands a
function from a `Look` to offers or to a text. None is asked that was not named: to install a package runs
nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from foveal.errors import ConfigError
from foveal.sources.values import Contributor

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "foveal.plugins"
PREFIX = "contributor."


def contributors() -> tuple[str, ...]:
    """The names that installed packages bring; none of them is imported."""
    return tuple(sorted({point.name.removeprefix(PREFIX) for point in _points()}))


def contributor_named(name: str) -> Contributor:
    """The contributor of that name; a package that breaks is named."""
    points = [point for point in _points() if point.name == PREFIX + name]
    if len({point.value for point in points}) != 1:
        known = ", ".join(f"`{each}`" for each in contributors()) or "none are installed"
        raise ConfigError(
            f"{len(points)} installed packages bring a contributor {name!r}", remedy=f"use one of: {known}"
        )
    return _loaded(points[0])


def _points() -> tuple[EntryPoint, ...]:
    from importlib.metadata import entry_points  # few workspaces have contributors of their own

    return tuple(point for point in entry_points(group=GROUP) if point.name.startswith(PREFIX))


def _loaded(point: EntryPoint) -> Contributor:
    package = point.dist.name if point.dist else point.value
    try:
        found = point.load()
    except Exception as fault:
        raise _broken(point, package, f"{type(fault).__name__}: {fault}") from fault
    if not callable(found):
        raise _broken(point, package, f"`{point.value}` gives a {type(found).__name__}, not a function")
    contributor: Contributor = found
    return contributor


def _broken(point: EntryPoint, package: str, what: str) -> ConfigError:
    name = point.name.removeprefix(PREFIX)
    return ConfigError(
        f"the contributor {name!r} of the package `{package}` cannot be used: {what}",
        remedy=f"update or uninstall `{package}`, or leave this contributor out",
    )
