"""Decide when to refocus a window and how far to reduce it, by the session's growth and the prices.

A window that grows to `high` tokens and is then reduced to `low` in one step costs per turn, in units of the
price of one input token,

    read · (high + low) / 2                    every token in it is read from the cache
    (write - read) · low · growth / slack      a refocus, every slack / growth turns, writes it again

with slack = high - low. The system prompt and the tools are cached in any case. Both terms fall with `low`,
so price alone would keep nothing. But what is kept has a value: the chance that the next turn needs what was
said n turns ago falls roughly as 1/√n, so the next token at `low` is worth `worth` · √(growth / low) reads
per turn. The unit is reads because a caller who sets a budget considers a window of that size worth reading.
`low` is where the next token costs what it is worth; in shares of the room, with g = growth / room and
y = low / room,

    worth · √(g / y) - 1/2 = (write / read - 1) · g / (1 - y)²

The left side falls and the right side rises with y, so there is one solution. Where reads cost more than a
tenth, the marks of a tenth are used: the same window, rewritten as rarely, is then cheaper than a larger one.
If a read costs as much as a write, a refocus costs nothing extra and the window is kept full. After a pause
in which the cache expired a refocus is free, so it happens earlier: half-way between the marks.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

from foveal.pipeline.values import Rates

TWENTY = 20
"""Turns of a small window, which must not be rewritten at nearly every turn."""
STEPS = 26
"""Bisections: finer than one token of any window."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkNumbers:
    """The numbers of the cost model."""

    worth: float = 8.3
    """What keeping a token of the previous turn for one more turn is worth: the price of reading so many
    tokens from the provider's cache. A larger number keeps more at a refocus and rewrites the window more
    often. Fitted to recorded sessions: there, a refocus keeps about 56% of a window of 32,000 tokens."""
    premium: float = 11.5
    """The least that writing a token to the cache is taken to cost more than reading it, as a multiple of the
    price of reading. It does not matter with a provider that charges no more for it."""
    spare: float = 5.0
    """The most turns that a refocus frees in a window that holds twenty average turns; it is then rewritten
    every fifth turn. Prices alone would free more, but in a small window each turn that is dropped is missed
    more, and rewriting the window costs less."""
    grows: float = 1.6
    """How that number of turns grows with the window: in one of twice as many turns it is 2 to this power,
    about three times as large."""
    few: float = 7.0
    """Average turns that must fit into a window for a refocus to free any; a smaller one is filled
    completely."""
    least: float = 0.4
    """The least that prices can make a refocus keep; share of the room for messages."""
    unpriced_high: float = 0.9
    """Share of the room for messages at which a window is refocused if prices are not known."""
    unpriced_low: float = 0.6
    """Share of that room that a window is then reduced to."""


NUMBERS = MarkNumbers()


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """The size and growth of a session."""

    room: int
    """Tokens available for messages."""
    growth: float
    """Tokens that a turn adds on average."""
    turns: int
    """Turns so far; as many are expected to follow."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Marks:
    high: int
    """Tokens above which a window is refocused."""
    low: int
    """Tokens that a refocus reduces it to."""


def marks(course: Course, rates: Rates, numbers: MarkNumbers = NUMBERS) -> Marks:
    """When to refocus a window, and the size to reduce it to.

    >>> anthropic = Rates(input=3.0, read=0.3, write=3.75)
    >>> marks(Course(room=32_000, growth=290, turns=200), anthropic)
    Marks(high=32000, low=18083)
    >>> marks(Course(room=32_000, growth=290, turns=200), Rates())
    Marks(high=28800, low=19200)
    """
    room, growth, premium = course.room, max(course.growth, 1.0), _write_premium(rates)
    premium = max(premium, numbers.premium) if premium else premium
    if premium is None:
        slack = (numbers.unpriced_high - numbers.unpriced_low) * room
    else:
        slack = room - room * _low(premium, growth / max(room, 1), numbers)
    turns = room / growth
    slack = (
        min(slack, numbers.spare * growth * (turns / TWENTY) ** numbers.grows)
        if turns >= numbers.few
        else 0.0
    )
    high = high_mark(course, rates, numbers)
    # No more slack than the turns that are expected to follow will use.
    return Marks(high=high, low=int(high - min(slack, max(course.turns, 1) * growth)))


def high_mark(course: Course, rates: Rates, numbers: MarkNumbers = NUMBERS, *, cold: bool = False) -> int:
    """The refocus point alone, which every build needs.

    `cold`: the cache has expired, so the window is written again in any case. A refocus that is due soon is
    free now, so the refocus point is half way between the two marks.
    """
    if cold:
        found = marks(course, rates, numbers)
        return (found.low + found.high) // 2
    if _write_premium(rates) is not None or course.room < TWENTY * max(course.growth, 1.0):
        return course.room
    return int(numbers.unpriced_high * course.room)


def _write_premium(rates: Rates) -> float | None:
    """What writing a token costs beyond reading it, in reads; None if the prices are not known."""
    if rates.input is None or rates.read is None:
        return None
    write = rates.input if rates.write is None else rates.write
    return max(0.0, write / rates.read - 1) if rates.read > 0 else float("inf")


def _low(premium: float, growth: float, numbers: MarkNumbers) -> float:
    """The share of the room at which the next token costs what it is worth; 1 if writing costs no more."""
    if not premium:
        return 1.0
    low, high = numbers.least, 1.0
    for _ in range(STEPS):
        share = (low + high) / 2
        if numbers.worth * sqrt(growth / share) - 0.5 > premium * growth / (1 - share) ** 2:
            low = share
        else:
            high = share
    return low
