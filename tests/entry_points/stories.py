"""Take a long text through entry points, one after another in one place, and measure what each costs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from time import process_time
from typing import Any
from zlib import crc32

from foveal import FovealError
from long_texts import SHAPES

Step = Callable[[Any, str], object]
"""Takes the place of the story and the text."""
Choose = Callable[[str], str]
"""The shape of the text for the step of that name."""
SIZES = (100_000, 1_000_000)
SMALLER = (20_000, 200_000)
"""For what takes seconds for a million characters; `make soak` takes the others everywhere."""
WARM = 300
"""Characters of a first text, so that imports and caches do not count."""
MOST = 12
"""How much ten times the text may cost."""
CALM = 1e-6
"""Seconds of processor time for a character below which the growth does not count: a short text may fit
without any work."""
LEAST = 0.75
"""Seconds below which it never counts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Story:
    """Entry points that are used in the same place, in this order.

    The name of a step begins with the entry point, as in `Session.add: name`: what is behind the colon says
    where the text is.
    """

    name: str
    place: Callable[[Path], AbstractContextManager[Any]]
    """The place in an empty folder."""
    steps: Mapping[str, Step]
    sizes: tuple[int, int] = SIZES
    """Characters of the short and the long text."""
    rest: Callable[[Any], object] = lambda _: None
    """What is waited for between the steps."""

    def __str__(self) -> str:
        return self.name


def covered(stories: tuple[Story, ...]) -> set[str]:
    """The entry points that have a step."""
    return {step.partition(":")[0] for story in stories for step in story.steps}


def too_slow(story: Story, choose: Choose, folder: Path) -> dict[str, str]:
    """The steps that take more than linear time. What looks like one is measured again."""
    seconds = _measured(story, choose, folder / "first")
    calm = max(LEAST, CALM * story.sizes[1])
    slow = [name for name, pair in seconds.items() if _is_slow(pair, calm)]
    if not slow:
        return {}
    # The best of four counts: other processes use the same caches and cores.
    again = [_measured(story, choose, folder / f"again {number}") for number in range(3)]
    pairs = {name: [*zip(seconds[name], *(each[name] for each in again), strict=True)] for name in slow}
    best = {name: (min(shorts), min(longs)) for name, (shorts, longs) in pairs.items()}
    return {
        f"{name}, {choose(name)}": f"{short:.3f} s, then {long:.3f} s"
        for name, (short, long) in best.items()
        if _is_slow((short, long), calm)
    }


def _is_slow(pair: tuple[float, float], calm: float) -> bool:
    short, long = pair
    return long > max(calm, MOST * short)


def _measured(story: Story, choose: Choose, folder: Path) -> dict[str, tuple[float, float]]:
    _, short, long = (_seconds(story, choose, size, folder / str(size)) for size in (WARM, *story.sizes))
    return {name: (short[name], long[name]) for name in story.steps}


def _seconds(story: Story, choose: Choose, size: int, folder: Path) -> dict[str, float]:
    folder.mkdir(parents=True)
    found = {}
    with story.place(folder) as place:
        for name, step in story.steps.items():
            text = _text(choose(name), size)
            started = process_time()
            with suppress(FovealError):  # a refusal is an answer
                step(place, text)
            found[name] = process_time() - started
            story.rest(place)
    return found


@lru_cache(maxsize=8)
def _text(shape: str, size: int) -> str:
    return SHAPES[shape](size)


def varied(number: int) -> Choose:
    """A shape for each step, the same in every run."""
    shapes = list(SHAPES)
    return lambda step: shapes[(crc32(step.encode()) + number * 29) % len(shapes)]
