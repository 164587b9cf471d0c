"""The room of all contributors and one's type in → the part that is its own; a text in → what of it fits."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from foveal.pipeline.plan.categories import PenguinNumbers
from foveal.sources.values import CUSTOM, Look
from foveal.window import Contributed

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


def part(look: Look, type: str) -> int:
    """Tokens a contributor of this type offers at most: its weight of all there are."""
    return int(look.room * weight_of(type))


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
