"""Choose numbers by trying them, one after the other, in a fixed order.

    measure   the share of needed names kept under the numbers in effect, the mean over the examples
    try       for each number in turn, every value; the best one stays if it gains enough
    repeat    until nothing gains, at most `ROUNDS` times

Nothing is random: the same examples give the same numbers. A change that gains less than `LEAST_GAIN` is not
made: it would be noise, and a number at its default needs no explanation.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from foveal.presets.tunable import Flat, Moved, Tried, Value

ROUNDS = 2
LEAST_GAIN = 0.005
"""Of the names that are needed, the share that a change must keep in addition."""

ERRORS = 1.64
"""A gain of so many standard errors or less may be chance: one in twenty such gains is."""

Measure = Callable[[Flat], float]
"""Returns the share kept with these numbers in place of those in effect."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One change, and what it gained on the turns that the numbers were fitted to."""

    changed: Mapping[str, tuple[Value, Value]]
    """By number, its value before and after."""
    kept: float
    """The share of needed names kept after the change."""
    gain: float


def trials(tunable: Sequence[Tried | Moved], current: Flat) -> int:
    """How many values are tried at most, the numbers in effect included."""
    return 1 + ROUNDS * sum(len(list(number.options(current))) for number in tunable)


def choose(
    tunable: Sequence[Tried | Moved], current: Flat, measure: Measure
) -> tuple[Flat, tuple[Step, ...]]:
    """The numbers that keep most, as far as they differ from the ones in effect, and the steps to them."""
    at, kept = dict(current), measure({})
    steps: list[Step] = []
    for _ in range(ROUNDS):
        before = len(steps)
        for number in tunable:
            best, most = None, kept + LEAST_GAIN
            for option in number.options(at):
                found = measure(_difference(current, {**at, **option}))
                if found > most or (best is None and found == most):
                    best, most = option, found
            if best:
                changed = {key: (at[key], value) for key, value in best.items()}
                steps.append(Step(changed=changed, kept=most, gain=most - kept))
                at, kept = {**at, **best}, most
        if len(steps) == before:
            break
    return _difference(current, at), tuple(steps)


def _difference(current: Flat, at: Flat) -> Flat:
    return {key: value for key, value in at.items() if value != current[key]}


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What two sets of numbers keep on the same turns."""

    turns: int
    before: float
    """The share of needed names kept by the numbers in effect, the mean over the turns."""
    after: float
    """The same for the fitted numbers."""
    better: int
    """Turns of which the fitted numbers keep more."""
    worse: int
    error: float
    """The standard error of the difference."""

    @property
    def gain(self) -> float:
        return self.after - self.before

    @property
    def holds(self) -> bool:
        """Whether the fitted numbers are better, and by more than chance would explain."""
        return self.gain > 0 and self.gain > ERRORS * self.error


def compared(before: Sequence[float], after: Sequence[float]) -> Outcome:
    """The shares kept, turn by turn.

    >>> found = compared([0.5, 0.5, 0.0, 1.0], [1.0, 1.0, 0.5, 1.0])
    >>> found.gain, found.better, found.worse, found.holds
    (0.375, 3, 0, True)
    """
    gains = [new - old for old, new in zip(before, after, strict=True)]
    turns = len(gains)
    mean = math.fsum(gains) / turns
    spread = math.fsum((gain - mean) ** 2 for gain in gains) / max(1, turns - 1)
    return Outcome(
        turns=turns,
        before=math.fsum(before) / turns,
        after=math.fsum(after) / turns,
        better=sum(gain > 0 for gain in gains),
        worse=sum(gain < 0 for gain in gains),
        error=math.sqrt(spread / turns),
    )
