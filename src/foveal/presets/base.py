"""What a preset is: a name for one choice of every stage.

The name of a preset in → the one an installed package brings under that name, or None.

A package names its presets in its entry points, group `foveal.plugins`: the preset's name = where it is, as
in `steady = "foveal_steady:STEADY"`. There stands a `Preset`, or a function without arguments that makes
one. Packages are looked at when a name is asked for that Foveal itself does not know, and only the one that
has it is imported.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from foveal.errors import ConfigError
from foveal.knowledge.values import Depth
from foveal.pipeline.material.admit import admit_by_default
from foveal.pipeline.material.values import Admit
from foveal.pipeline.values import Selector
from foveal.sources.contributor import PREFIX

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint


@dataclass(frozen=True, slots=True, kw_only=True)
class Preset:
    name: str
    about: str
    select: Selector
    looks_at_all: bool = False
    """It weighs every turn at every build, so their texts are kept at hand."""
    stable_prefix: bool = False
    """Its windows begin with the one before for as long as that fits."""
    retrieves: bool = False
    """Old tasks, repeated errors and past topics that are mentioned come back into its windows."""
    admit: Admit = admit_by_default
    """Who says what its windows show of material beside the conversation."""
    knows: bool = False
    """What is known of the user, the topics and the things at hand is offered to every window of its."""
    depth: Depth = "standard"
    """How much is told of what is known."""
    on_failure: str = ""
    """The event its design documents for a build that could not be made."""


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
