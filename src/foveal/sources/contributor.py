"""What contributors are asked, and what they offer. Plain values.

A contributor is one function from a `Look` to offers, or to a text. Nothing here reads or decides.

The room of all contributors and one's type in → the part that is its own; a text in → what of it fits.

The name of a contributor in → the function that an installed package brings under that name.

A package names its contributors in its entry points, group `foveal.plugins`, beside its presets, with
`contributor.` before the name, as in `"contributor.weather" = "foveal_weather:weather"`. There stands a
function from a `Look` to offers or to a text. None is asked that was not named: to install a package runs
nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from foveal.errors import ConfigError
from foveal.pipeline.material.categories import PenguinNumbers
from foveal.window import Contributed

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from foveal.sources.workspace.workspace import Workspace

PROJECT_DOCS, WORKING_FILES, CODEBASE_MAP = "PROJECT_DOCS", "WORKING_FILES", "CODEBASE_MAP"
RETRIEVAL, GIT, TEST_RESULTS = "RETRIEVAL", "GIT", "TEST_RESULTS"
STATIC_ANALYSIS, CUSTOM = "STATIC_ANALYSIS", "CUSTOM"

Progress = Callable[[int, int], None]
"""Told now and then: files done, of how many."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextRequest:
    """What a contributor is asked: where, what for, and how much it may offer."""

    workspace: Workspace
    task: str
    room: int
    """Tokens for all contributors together; each offers what is worth its part of them."""
    count: Callable[[str], int]
    now: float
    said: tuple[str, ...] = ()
    """The texts of the conversation, oldest first."""
    active_files: tuple[str, ...] = ()
    """What is open in the editor: paths below the root."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """A piece of text that may go into the window, whole or not at all."""

    text: str
    type: str = CUSTOM
    source_path: str = ""
    """A path below the root, or what else says where it is from."""
    weight: float | None = None
    """None: that of its type."""
    salience: float | None = None
    """0..1; None: reckoned from the task, the conversation and when it was touched."""
    touched_at: float | None = None
    """Seconds since 1970; None where nothing touches it."""


Contributor = Callable[[ContextRequest], "Iterable[Offer | str] | Offer | str | None"]
"""Somebody who knows something about the workspace. A function fits; no base class, no registration."""


WEIGHTS = PenguinNumbers().weights
DENSEST = 20
"""Characters to a token: a text longer than that for its room is not counted to know that it is too long."""

ABOUT = 4
"""Characters to a token, where nobody counts."""


def weight_of(type: str, weights: Mapping[str, float] | None = None) -> float:
    """What a type weighs; one that nobody knows as much as one of somebody's own.

    >>> weight_of("WORKING_FILES"), weight_of("WEATHER")
    (0.4, 0.1)
    """
    table = WEIGHTS if weights is None else weights
    return table.get(type, table.get(CUSTOM, 0.1))


def part(request: ContextRequest, type: str) -> int:
    """Tokens a contributor of this type offers at most: its weight of all there are."""
    return int(request.room * weight_of(type))


def too_small(type: str, source: str, *, characters: int, room: int) -> Contributed:
    """What to tell of a piece of which not even a part can be offered.

    >>> too_small("GIT", ".git", characters=800, room=3).because
    'about 200 tokens, and its part has room for 3: too few to show any of it'
    """
    tokens = max(1, characters // ABOUT)
    return Contributed(
        type=type,
        source=source,
        tokens=tokens,
        weight=weight_of(type),
        salience=0.0,
        verdict="left out",
        because=f"about {tokens:,} tokens, and its part has room for {max(0, room):,}: "
        "too few to show any of it",
    )


def fits(text: str, tokens: int, count: Callable[[str], int]) -> bool:
    """Whether a text has at most so many tokens; long ones are told by their length."""
    return len(text) <= DENSEST * max(0, tokens) and count(text) <= tokens


def most(
    items: Sequence[str], written: Callable[[Sequence[str]], str], tokens: int, count: Callable[[str], int]
) -> int:
    """How many of the first items can be written within the tokens; probes stay near the room."""
    low, high = 0, 1
    while high <= len(items) and fits(written(items[:high]), tokens, count):
        low, high = high, high * 2
    high = min(high - 1, len(items))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(written(items[:middle]), tokens, count) else (low, middle - 1)
    return low


def lines_within(lines: Sequence[str], tokens: int, count: Callable[[str], int]) -> str:
    """As many of the first lines as fit, and how many are left out; empty where none fits.

    >>> lines_within(["a b c", "d e f g h", "i"], 8, lambda text: len(text.split()))
    'a b c\\n[… 2 more lines]'
    """

    def written(shown: Sequence[str]) -> str:
        left = len(lines) - len(shown)
        return "\n".join((*shown, f"[… {left:,} more {'line' if left == 1 else 'lines'}]") if left else shown)

    if fits(whole := "\n".join(lines), tokens, count):
        return whole
    kept = most(lines, written, tokens, count)
    return written(lines[:kept]) if kept else ""


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
