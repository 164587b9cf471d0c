"""Define what contributors receive and offer, how much room each has, and find those of installed packages.

A contributor is one function that takes a `ContextRequest` and returns offers, or a text.

A package lists its contributors among its entry points, in the group `foveal.plugins` that presets use too,
with `contributor.` before the name: `"contributor.weather" = "foveal_weather:weather"`. Only contributors
that the caller names are imported: installing a package runs nothing.
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
WEIGHTS = PenguinNumbers().weights
MAX_CHARS_PER_TOKEN = 20
"""A text longer than this for its room is too long; it need not be counted."""
CHARS_PER_TOKEN = 4
"""Where tokens are estimated and not counted."""
GROUP = "foveal.plugins"
PREFIX = "contributor."

Progress = Callable[[int, int], None]
"""Called now and then with the number of files done, and of all files."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextRequest:
    """What a contributor receives: the workspace, the task, and how much it may offer."""

    workspace: Workspace
    task: str
    room: int
    """Tokens for all contributors together; each offers at most the share that its weight gives it."""
    count: Callable[[str], int]
    now: float
    said: tuple[str, ...] = ()
    """The texts of the conversation, oldest first."""
    active_files: tuple[str, ...] = ()
    """The files open in the editor: paths relative to the root."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """A piece of text that may go into the window, whole or not at all."""

    text: str
    type: str = CUSTOM
    source_path: str = ""
    """A path relative to the root, or another name for where the text is from."""
    weight: float | None = None
    """None: the weight of its type."""
    salience: float | None = None
    """0 to 1; None: computed from the task, the conversation and the time of the last change."""
    touched_at: float | None = None
    """Seconds since 1970; None where there is no such time."""


Contributor = Callable[[ContextRequest], "Iterable[Offer | str] | Offer | str | None"]
"""Knows something about the workspace. Any function of this form will do: no base class, no registration."""


def weight_of(type: str, weights: Mapping[str, float] | None = None) -> float:
    """The weight of a type; an unknown type has that of `CUSTOM`.

    >>> weight_of("WORKING_FILES"), weight_of("WEATHER")
    (0.4, 0.1)
    """
    table = WEIGHTS if weights is None else weights
    return table.get(type, table.get(CUSTOM, 0.1))


def room_for(request: ContextRequest, type: str) -> int:
    """Tokens that a contributor of this type offers at most: its weight times the whole room."""
    return int(request.room * weight_of(type))


def too_small(type: str, source: str, *, characters: int, room: int) -> Contributed:
    """Report a piece of which nothing fits into its room.

    >>> too_small("GIT", ".git", characters=800, room=3).because
    'about 200 tokens, and its part has room for 3: too few to show any of it'
    """
    tokens = max(1, characters // CHARS_PER_TOKEN)
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
    """Whether a text has at most so many tokens; a very long one is not counted."""
    return len(text) <= MAX_CHARS_PER_TOKEN * max(0, tokens) and count(text) <= tokens


def count_fitting(
    items: Sequence[str], render: Callable[[Sequence[str]], str], tokens: int, count: Callable[[str], int]
) -> int:
    """How many of the first items fit into the tokens when rendered; no probe is much larger than that."""
    low, high = 0, 1
    while high <= len(items) and fits(render(items[:high]), tokens, count):
        low, high = high, high * 2
    high = min(high - 1, len(items))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(render(items[:middle]), tokens, count) else (low, middle - 1)
    return low


def lines_within(lines: Sequence[str], tokens: int, count: Callable[[str], int]) -> str:
    """As many of the first lines as fit, and how many are left out; empty where none fits.

    >>> lines_within(["a b c", "d e f g h", "i"], 8, lambda text: len(text.split()))
    'a b c\\n[… 2 more lines]'
    """

    def render(shown: Sequence[str]) -> str:
        left = len(lines) - len(shown)
        return "\n".join((*shown, f"[… {left:,} more {'line' if left == 1 else 'lines'}]") if left else shown)

    if fits(whole := "\n".join(lines), tokens, count):
        return whole
    kept = count_fitting(lines, render, tokens, count)
    return render(lines[:kept]) if kept else ""


def installed_contributors() -> tuple[str, ...]:
    """The names of the contributors of installed packages; none of them is imported."""
    return tuple(sorted({point.name.removeprefix(PREFIX) for point in _entry_points()}))


def check_installed(contributors: Sequence[Contributor | str]) -> None:
    """Raise an error for a name that no installed contributor has. None of them is imported."""
    names = [each for each in contributors if isinstance(each, str)]
    known = installed_contributors() if names else ()
    for name in names:
        if name not in known:
            listed = ", ".join(f"`{each}`" for each in known)
            remedy = f"use one of: {listed}" if known else "install a package that has it, or omit it"
            raise ConfigError(f"there is no contributor {name!r:.80}", remedy=remedy, field="contributors")


def contributor_named(name: str) -> Contributor:
    """Import the contributor of that name from the installed package that has it."""
    points = [point for point in _entry_points() if point.name == PREFIX + name]
    if len({point.value for point in points}) != 1:
        known = ", ".join(f"`{each}`" for each in installed_contributors()) or "none are installed"
        raise ConfigError(
            f"{len(points)} installed packages have a contributor {name!r}", remedy=f"use one of: {known}"
        )
    return _load(points[0])


def _entry_points() -> tuple[EntryPoint, ...]:
    from importlib.metadata import entry_points  # slow to import, and rarely needed

    return tuple(point for point in entry_points(group=GROUP) if point.name.startswith(PREFIX))


def _load(point: EntryPoint) -> Contributor:
    package = point.dist.name if point.dist else point.value
    try:
        found = point.load()
    except Exception as error:
        raise _broken(point, package, f"{type(error).__name__}: {error}") from error
    if not callable(found):
        raise _broken(point, package, f"`{point.value}` is a {type(found).__name__}, not a function")
    contributor: Contributor = found
    return contributor


def _broken(point: EntryPoint, package: str, what: str) -> ConfigError:
    name = point.name.removeprefix(PREFIX)
    return ConfigError(
        f"the contributor {name!r} of the package `{package}` cannot be used: {what}",
        remedy=f"update or uninstall `{package}`, or leave this contributor out",
    )
