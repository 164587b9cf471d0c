"""A session's course and its provider's prices in → when to refocus a window that holds still, and how far.

A window that is appended to until it is full and then brought down in one step costs, for each turn and in
units of the price of one input token,

    read · (high + low) / 2                    every token in it is read from the cache
    (write - read) · low · growth / slack      a refocus, every slack / growth turns, writes it again

with slack = high - low, all of it beyond the fixed prefix, which is cached whatever happens. Both terms fall
with `low`, so price alone would keep nothing. What is kept is worth something too: the chance that the next
turn needs what was said n turns ago falls about as 1/√n, so the next token at the low-water mark is worth
`worth` · √(growth / low) reads a turn. In reads, because whoever gives a budget says that a window of that
size is worth reading. The mark is where the next token costs what it is worth; in shares of the room, with
g = growth / room and y = low / room,

    worth · √(g / y) - 1/2 = (write / read - 1) · g / (1 - y)²

The left falls and the right rises with y: there is one answer. Where a read costs what a write does, or the
cache has expired by the next turn, a refocus costs nothing extra and nothing is held back.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

STEPS = 40
"""Halvings: more than a token's share of any window."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkNumbers:
    """The numbers of the cost model."""

    worth: float = 7.6
    """What a token of the turn before is worth a turn, in cache reads. Set by recorded sessions, coding with
    32,000 tokens and airline service with 16,000, at the prices 0.1 and 1.25 and some 290 tokens a turn: in
    both, recall of needed facts pays for its cost up to a low-water mark of about 0.53."""
    slack: float = 8.0
    """Turns that must fit between the marks. With fewer, holding back costs ten points of recall and saves
    little: the window is filled to the top."""
    least: float = 0.4
    """Of the room: lower marks were never measured."""
    renewal: float = 1.3
    """What it is worth a turn to choose a token of the prefix anew, in cache reads. A frozen prefix lost 2
    points of recall in large windows and 8 in small ones, where a point is worth about 280 tokens a turn."""
    unpriced_high: float = 0.9
    unpriced_low: float = 0.6
    """Of the room: the marks where nobody knows the prices."""


NUMBERS = MarkNumbers()


@dataclass(frozen=True, slots=True, kw_only=True)
class Rates:
    """What a provider charges for a token of input, in any currency; None where it is not known."""

    input: float | None = None
    read: float | None = None
    """From the cache."""
    write: float | None = None
    """To the cache; as any other input where there is no price of its own."""
    seconds: float | None = None
    """How long the cache holds what nobody reads."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """How a session goes."""

    room: int
    """Tokens for the whole window."""
    fixed: int = 0
    """Of these, the system prompt and the tools: always there, always cached."""
    growth: float
    """Tokens a turn adds."""
    turns: int
    """So far."""
    turns_left: int | None = None
    """Unknown: as many as there were."""
    seconds_between: float | None = None
    """From one turn to the next."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Marks:
    high: int
    """Tokens above which a window is refocused."""
    low: int
    """Tokens to come down to."""
    back: int
    """Tokens at the start that a refocus leaves alone: the fixed prefix, or more where few turns are left."""


def marks(course: Course, rates: Rates, numbers: MarkNumbers = NUMBERS) -> Marks:
    """The water marks of a window.

    >>> anthropic = Rates(input=3.0, read=0.3, write=3.75, seconds=300)
    >>> marks(Course(room=32_000, growth=290, turns=200), anthropic)
    Marks(high=32000, low=17196, back=0)
    >>> marks(Course(room=32_000, growth=290, turns=200), Rates())
    Marks(high=28800, low=19200, back=0)
    """
    fixed = min(course.fixed, course.room)
    room, growth = course.room - fixed, max(course.growth, 1.0)
    full = Marks(high=course.room, low=course.room, back=fixed)
    dearer = _dearer(course, rates)
    if dearer is None:
        high, low = numbers.unpriced_high * room, numbers.unpriced_low * room
    else:
        high, low = room, room * _low(dearer, growth / max(room, 1), numbers)
    if high - low < numbers.slack * growth:
        return full
    left = course.turns if course.turns_left is None else course.turns_left
    low = max(low, high - max(left, 1) * growth)  # no turn comes for which more would be free
    served = (high - low) / growth
    # What is touched shrinks to half at most: less would be left of the newest turns than of the oldest.
    kept = max(0.0, 2 * low - high) if dearer is not None and dearer > numbers.renewal * served else 0.0
    return Marks(high=fixed + int(high), low=fixed + int(low), back=fixed + int(kept))


def _dearer(course: Course, rates: Rates) -> float | None:
    """What writing a token again costs beyond reading it, in reads; None where nobody knows."""
    if rates.input is None or rates.read is None:
        return None
    write = rates.input if rates.write is None else rates.write
    between, seconds = course.seconds_between, rates.seconds
    if between is not None and seconds is not None and between >= seconds:
        return 0.0
    return max(0.0, write / rates.read - 1) if rates.read > 0 else float("inf")


def _low(dearer: float, growth: float, numbers: MarkNumbers) -> float:
    """The share of the room at which the next token costs what it is worth; all of it where that is free."""
    if not dearer:
        return 1.0
    low, high = numbers.least, 1.0
    for _ in range(STEPS):
        share = (low + high) / 2
        if numbers.worth * sqrt(growth / share) - 0.5 > dearer * growth / (1 - share) ** 2:
            low = share
        else:
            high = share
    return low
