"""A session's course and its provider's prices in → when to refocus a window that holds still, and how far.

A window that is appended to until it is full and then brought down in one step costs, for each turn and in
units of the price of one input token,

    read · (high + low) / 2                    every token in it is read from the cache
    (write - read) · low · growth / slack      a refocus, every slack / growth turns, writes it again

with slack = high - low. The system prompt and the tools are cached whatever happens. Both terms fall
with `low`, so price alone would keep nothing. What is kept is worth something too: the chance that the next
turn needs what was said n turns ago falls about as 1/√n, so the next token at the low-water mark is worth
`worth` · √(growth / low) reads a turn. In reads, because whoever gives a budget says that a window of that
size is worth reading. The mark is where the next token costs what it is worth; in shares of the room, with
g = growth / room and y = low / room,

    worth · √(g / y) - 1/2 = (write / read - 1) · g / (1 - y)²

The left falls and the right rises with y: there is one answer. Where a read costs what a write does, a
refocus costs nothing extra and nothing is held back. Nor does it after a pause that the cache did not
outlast.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

from foveal.pipeline.values import Rates

STEPS = 26
"""Halvings: more than a token's share of any window."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkNumbers:
    """The numbers of the cost model."""

    worth: float = 7.6
    """What a token of the turn before is worth a turn, in cache reads. Set by recorded sessions, coding with
    32,000 tokens and airline service with 16,000, at the prices 0.1 and 1.25 and some 290 tokens a turn: in
    both, recall of needed facts pays for its cost up to a low-water mark of about 0.53."""
    slack: float = 8.0
    """Turns that must fit between the marks. With fewer, holding so much back costs up to ten points of
    recall."""
    few: float = 7.0
    """Turns a window must hold then to make room for one turn more, and for four with twice as many; a
    smaller one is filled to the top."""
    least: float = 0.4
    """Of the room: lower marks were never measured."""
    unpriced_high: float = 0.9
    unpriced_low: float = 0.6
    """Of the room: the marks where nobody knows the prices."""


NUMBERS = MarkNumbers()


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """How a session goes."""

    room: int
    """Tokens for everything that is said."""
    growth: float
    """Tokens a turn adds."""
    turns: int
    """So far. As many are expected to follow."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Marks:
    high: int
    """Tokens above which a window is refocused."""
    low: int
    """Tokens to come down to."""


def marks(course: Course, rates: Rates, numbers: MarkNumbers = NUMBERS) -> Marks:
    """The water marks of a window.

    >>> anthropic = Rates(input=3.0, read=0.3, write=3.75)
    >>> marks(Course(room=32_000, growth=290, turns=200), anthropic)
    Marks(high=32000, low=17196)
    >>> marks(Course(room=32_000, growth=290, turns=200), Rates())
    Marks(high=28800, low=19200)
    """
    room, growth, dearer = course.room, max(course.growth, 1.0), _dearer(rates)
    if dearer is None:
        slack = (numbers.unpriced_high - numbers.unpriced_low) * room
    else:
        slack = room - room * _low(dearer, growth / max(room, 1), numbers)
    if slack < numbers.slack * growth:
        times = room / (numbers.few * growth)
        spare = min(slack, growth * times**2) if times >= 1 else 0.0
        return Marks(high=room, low=int(room - spare))
    high = high_mark(course, rates, numbers)
    # No turn comes for which more would be free.
    return Marks(high=high, low=int(high - min(slack, max(course.turns, 1) * growth)))


def high_mark(course: Course, rates: Rates, numbers: MarkNumbers = NUMBERS, *, cold: bool = False) -> int:
    """The high one alone, which every build asks for.

    `cold`: the cache has run out, so that the window is written again whatever it is. A refocus that would
    come soon is free now: the mark is half way between the two.
    """
    if cold:
        found = marks(course, rates, numbers)
        return (found.low + found.high) // 2
    slack = (numbers.unpriced_high - numbers.unpriced_low) * course.room
    if _dearer(rates) is not None or slack < numbers.slack * max(course.growth, 1.0):
        return course.room
    return int(numbers.unpriced_high * course.room)


def expired(since: float, now: float, seconds: int | None) -> bool:
    """Has a cache run out that lasts so long after a request? None: it has no end that we know of."""
    return seconds is not None and now - since >= seconds


def _dearer(rates: Rates) -> float | None:
    """What writing a token again costs beyond reading it, in reads; None where nobody knows."""
    if rates.input is None or rates.read is None:
        return None
    write = rates.input if rates.write is None else rates.write
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
