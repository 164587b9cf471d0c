"""Define what a preset is, and find the presets of installed packages.

A package declares its presets as entry points of the group `foveal.plugins`, by name and location, as in
`oldest = "foveal_oldest:OLDEST"`. The location holds a `Preset`, or a function without arguments that returns
one. Entry points are read when a caller names a preset that Foveal itself does not have, and only the package
that has it is imported.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from foveal.errors import ConfigError
from foveal.knowledge.values import Depth
from foveal.pipeline.material.admit import admit_by_default
from foveal.pipeline.material.values import Admit
from foveal.pipeline.values import Selector
from foveal.sources.contributor import PREFIX

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint


Managing = Literal["", "compress", "prune"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Preset:
    """One way to choose what a window contains."""

    name: str
    about: str
    select: Selector
    looks_at_all: bool = False
    """It scores every turn in every build, so their texts are kept in memory."""
    stable_prefix: bool = False
    """A window begins with the same bytes as the one before for as long as that fits."""
    compares: bool = False
    """Its scores depend on how similar messages are to the task in meaning: `Scene.similarities`."""
    manages: Managing = ""
    """What a build does first to the session's history where that outgrows the window: `compress` puts notes
    in place of old working memory, `prune` leaves out the least important turns. Empty: nothing."""
    retrieves: bool = False
    """Old tasks, repeated errors and past topics are retrieved when the conversation mentions them."""
    admit: Admit = admit_by_default
    """Decides how much attached material its windows show."""
    knows: bool = False
    """What is known about the user, the topics and the entities at hand is offered to every window."""
    searches_sessions: bool = False
    """Messages of the user's other sessions that answer the task are offered to every window."""
    remembers: bool = False
    """What the user asked to remember, or said in other sessions, is shown in every window."""
    depth: Depth = "standard"
    """How much detail that has."""
    record: str = ""
    """The event of its design that records a build; the log drops its other events after many others."""
    on_failure: str = ""
    """The event that its design documents for a build that failed."""


GROUP = "foveal.plugins"


def names() -> tuple[str, ...]:
    """The names of the presets of installed packages; no package is imported."""
    return tuple(sorted({point.name for point in _points() if not point.name.startswith(PREFIX)}))


def find(name: str) -> Preset | None:
    """The preset of that name in an installed package, or None."""
    points = [point for point in _points() if point.name == name]
    if not points:
        return None
    if len({_distribution(point) for point in points}) > 1:
        raise ConfigError(
            f"several packages have a preset {name!r}: {', '.join(map(_distribution, points))}",
            remedy="uninstall all of them but one",
            field="preset",
        )
    return _loaded(points[0])


def _points() -> tuple[EntryPoint, ...]:
    from importlib.metadata import entry_points  # most builds use a preset of ours

    return tuple(entry_points(group=GROUP))


def _loaded(point: EntryPoint) -> Preset:
    try:
        found = point.load()
        preset = found if isinstance(found, Preset) or not callable(found) else found()
    except Exception as error:
        raise _broken(point, f"{type(error).__name__}: {error}") from error
    if not isinstance(preset, Preset):
        raise _broken(point, f"`{point.value}` is a {type(preset).__name__}, not a `Preset`")
    if preset.name != point.name:
        raise _broken(point, f"`{point.value}` is a preset called {preset.name!r}")
    return preset


def _broken(point: EntryPoint, what: str) -> ConfigError:
    package = _distribution(point)
    return ConfigError(
        f"the preset {point.name!r} of the package `{package}` cannot be used: {what}",
        remedy=f"update or uninstall `{package}`, or use another preset",
        field="preset",
    )


def _distribution(point: EntryPoint) -> str:
    return point.dist.name if point.dist else point.value
