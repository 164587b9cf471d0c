"""Units and room in → the choice of the `omar` preset, by its solver and under its caps.

Units and room in → the choice with the highest total priority there is: the 0/1 optimum.

Priorities are compared as exact integers, so rounding decides nothing.

Integer worths, weights and limits in → the places with the highest total worth: 0/1 optimization.

Pieces whose choice the fractional bound settles are settled first. Of the others, choices are built piece by
piece, best worth per weight first: of two that use every other limit alike, the one that is heavier without
being worth more is dropped, and so is any choice whose bound cannot reach the best one known. The work
grows with what cannot be ruled out; past a number of steps it is refused rather than endured.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate

from foveal.errors import InputError
from foveal.pipeline.values import Pick, Unit
from foveal.presets.omar.greedy import (
    Terms,
    beside_forced,
    charges,
    conflict,
    greedy,
    groups_of,
    ranked,
    spent,
)
from foveal.presets.omar.score import OmarNumbers
from foveal.window import Conflict

Uses = tuple[int, ...]
Choice = tuple[int, int, Uses, object]
"""Weight, worth (negative, so that sorting puts the better first), other uses, and a chain of places."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Knapsack:
    """Pieces that each fit alone, by falling worth per weight; weightless ones first."""

    worths: Sequence[int]
    weights: Sequence[int]
    uses: Sequence[Uses]
    """Of the limits beside the weight's."""
    limit: int
    limits: Uses


def solve(sack: Knapsack, least: int, most_steps: int) -> list[int] | None:
    """Places of the best choice, or None where no choice is worth more than `least`."""
    first = _fill(sack)
    worth = sum(sack.worths[place] for place in first)
    best = first if worth > least else None
    least = max(least, worth)
    settled, open_places = _settle(sack, least)
    core = _without(sack, settled, open_places)
    if core is None:
        return best
    found = _search(core, least - sum(sack.worths[place] for place in settled), most_steps)
    return best if found is None else settled + [open_places[place] for place in found]


def _fill(sack: Knapsack) -> list[int]:
    """A good choice to begin with: every piece in order that still fits."""
    found, left, used = [], sack.limit, (0,) * len(sack.limits)
    for place, weight in enumerate(sack.weights):
        uses = _within(used, sack.uses[place], sack.limits)
        if weight <= left and uses is not None:
            found.append(place)
            left, used = left - weight, uses
    return found


def _settle(sack: Knapsack, least: int) -> tuple[list[int], list[int]]:
    """Places that are in every choice worth more than `least`, and those that may be in or out."""
    weights = [0, *accumulate(sack.weights)]
    end = bisect_right(weights, sack.limit) - 1
    if end == len(sack.weights):
        return [], list(range(end))
    worth, weight = sack.worths[end], sack.weights[end]
    # In units of 1 / weight of the piece that is cut: what is to be gained over `least`, were it divisible.
    gain = (sum(sack.worths[:end]) - least) * weight + (sack.limit - weights[end]) * worth
    settled, undecided = [], []
    for place in range(len(sack.weights)):
        loss = abs(sack.worths[place] * weight - sack.weights[place] * worth)
        if loss < gain:
            undecided.append(place)
        elif place < end:
            settled.append(place)
    return settled, undecided


def _without(sack: Knapsack, settled: Sequence[int], places: Sequence[int]) -> Knapsack | None:
    """What is left to decide once some pieces are in; None when those alone exceed a limit."""
    limit = sack.limit - sum(sack.weights[place] for place in settled)
    limits = tuple(
        most - sum(sack.uses[place][axis] for place in settled) for axis, most in enumerate(sack.limits)
    )
    if min(limit, *limits, 0) < 0:
        return None
    return Knapsack(
        worths=[sack.worths[place] for place in places],
        weights=[sack.weights[place] for place in places],
        uses=[sack.uses[place] for place in places],
        limit=limit,
        limits=limits,
    )


def _search(sack: Knapsack, least: int, most_steps: int) -> list[int] | None:
    weights = [0, *accumulate(sack.weights)]
    worths = [0, *accumulate(sack.worths)]
    choices: list[Choice] = [(0, 0, (0,) * len(sack.limits), None)]
    best = choices[0] if least < 0 else None
    least = max(0, least)
    steps = 0
    for place in range(len(sack.worths)):
        steps += len(choices)
        if steps > most_steps:
            raise _too_much(len(sack.worths), most_steps)
        grown = _grown(sack, choices, place)
        top = min(grown, key=lambda choice: choice[1], default=None)
        if top and -top[1] > least:
            least, best = -top[1], top
        choices = [
            choice
            for choice in _undominated([*choices, *grown])
            if _bound(sack, weights, worths, place + 1, sack.limit - choice[0]) - choice[1] > least
        ]
    return _places(best) if best else None


def _grown(sack: Knapsack, choices: Sequence[Choice], place: int) -> list[Choice]:
    """The choices with one more piece in, where it fits."""
    worth, weight, uses = sack.worths[place], sack.weights[place], sack.uses[place]
    room = sack.limit - weight
    return [
        (choice[0] + weight, choice[1] - worth, used, (choice[3], place))
        for choice in choices
        if choice[0] <= room and (used := _within(choice[2], uses, sack.limits)) is not None
    ]


def _within(used: Uses, more: Uses, limits: Uses) -> Uses | None:
    if not limits:
        return used
    total = tuple(a + b for a, b in zip(used, more, strict=True))
    return total if all(use <= limit for use, limit in zip(total, limits, strict=True)) else None


def _undominated(choices: list[Choice]) -> list[Choice]:
    """Lighter ones come first: one must be worth more than those before it that use the limits alike."""
    choices.sort(key=lambda choice: choice[:2])
    best: dict[Uses, int] = {}
    found = []
    for choice in choices:
        if choice[1] < best.get(choice[2], 1):
            best[choice[2]] = choice[1]
            found.append(choice)
    return found


def _bound(sack: Knapsack, weights: list[int], worths: list[int], place: int, room: int) -> int:
    """The most the pieces from `place` on can add, were the last of them divisible."""
    end = bisect_right(weights, weights[place] + room, lo=place) - 1
    whole = worths[end] - worths[place]
    if end == len(sack.worths):
        return whole
    left = room - (weights[end] - weights[place])
    return whole + left * sack.worths[end] // sack.weights[end]


def _places(choice: Choice) -> list[int]:
    found: list[int] = []
    chain = choice[3]
    while isinstance(chain, tuple):
        chain, place = chain
        found.append(place)
    return found


def _too_much(pieces: int, most: int) -> InputError:
    return InputError(
        f"the exact optimum takes more than {most:,} steps: {pieces:,} pieces are too alike to rule out",
        remedy='use the solver "greedy", offer fewer pieces, or raise `exact_steps`',
    )


def exact(units: Sequence[Unit], room: int, terms: Terms | None = None) -> Pick:
    """The optimum under the same room and caps as `greedy`; the choice differs, not its account."""
    terms = terms or Terms()
    order = ranked(units, terms)
    start = greedy(units, room, terms)
    kept = _optimum(order, room, beside_forced(units, terms), start)
    forced = {unit.turn: unit.forced for unit in units if unit.forced}
    placed = [unit for unit in order if unit.turn in kept]
    left = room - sum(unit.tokens for unit in placed)
    return Pick(
        kept=kept | forced.keys(),
        because=forced | {unit.turn: _reason(unit, left, kept=unit.turn in kept) for unit in order},
        conflicts=tuple(_conflicts(order, kept)),
        slots=spent(placed, room, terms, forced=[unit for unit in units if unit.forced]),
    )


def _reason(unit: Unit, left: int, *, kept: bool) -> str:
    if kept:
        return f"priority {unit.score.total:.1f}, {unit.tokens:,} tokens: part of the best total"
    return (
        f"priority {unit.score.total:.1f}, needed {unit.tokens:,} tokens, {left:,} were left "
        "by the choice with the best total"
    )


def _conflicts(order: Sequence[Unit], kept: frozenset[int]) -> list[Conflict]:
    found, placed = [], None
    for unit in order:
        if unit.turn in kept:
            placed = unit
        elif placed:
            found.append(conflict(placed, unit))
    return found


def _optimum(order: Sequence[Unit], room: int, terms: Terms, start: Pick) -> frozenset[int]:
    """Turns of the best choice; the greedy one unless a better one exists."""
    worths = dict(
        zip((unit.turn for unit in order), _whole([unit.score.total for unit in order]), strict=True)
    )
    begun = frozenset(turn for turn in start.kept if worths.get(turn, 0) > 0)
    limits, rows = _binding(
        [(unit, worths[unit.turn]) for unit in order if worths[unit.turn] > 0], room, terms
    )
    free = frozenset(unit.turn for unit, _, uses in rows if not any(uses))
    rows = [row for row in rows if any(row[2])]
    rows.sort(key=lambda row: -Fraction(row[1], row[2][0]) if row[2][0] else -math.inf)
    sack = Knapsack(
        worths=[worth for _, worth, _ in rows],
        weights=[uses[0] for *_, uses in rows],
        uses=[uses[1:] for *_, uses in rows],
        limit=limits[0],
        limits=tuple(limits[1:]),
    )
    least = sum(worths[turn] for turn in begun) - sum(worths[turn] for turn in free)
    places = solve(sack, least, terms.exact_steps)
    return begun if places is None else free | {rows[place][0].turn for place in places}


def _whole(values: Sequence[float]) -> list[int]:
    """The same values on a scale where all of them are integers."""
    ratios = [value.as_integer_ratio() for value in map(float, values)]
    scale = max((bottom for _, bottom in ratios), default=1)
    return [top * (scale // bottom) for top, bottom in ratios]


_Row = tuple[Unit, int, tuple[int, ...]]


def _binding(rows: Sequence[tuple[Unit, int]], room: int, terms: Terms) -> tuple[list[int], list[_Row]]:
    """The limits that can bind, and each unit's use of them; units that exceed one alone are gone."""
    names, limits = ["", *terms.caps], [room, *terms.caps.values()]
    found = []
    for unit, worth in rows:
        needs = charges(unit, terms) if terms.caps else {}
        found.append((unit, worth, (unit.tokens, *(needs.get(name, 0) for name in names[1:]))))
    found = [row for row in found if all(use <= limit for use, limit in zip(row[2], limits, strict=True))]
    totals = [sum(row[2][axis] for row in found) for axis in range(len(names))]
    axes = [axis for axis in range(len(names)) if totals[axis] > limits[axis]]
    # Where all that is outside a capped group fits beside the cap, the room itself binds nobody.
    if any(totals[0] - totals[axis] + limits[axis] <= room for axis in axes if axis) and 0 in axes:
        axes.remove(0)
    if not axes:
        return [0], [(unit, worth, (0,)) for unit, worth, _ in found]
    return [limits[axis] for axis in axes], [
        (unit, worth, tuple(uses[axis] for axis in axes)) for unit, worth, uses in found
    ]


def terms_of(numbers: OmarNumbers, caps: Mapping[str, int] | None = None) -> Terms:
    """The terms that the numbers state; `caps` come on top of theirs."""
    return Terms(
        prefer_higher_priority=numbers.prefer_higher_priority,
        allow_partial_fill=numbers.allow_partial_fill,
        caps={group: int(cap) for group, cap in numbers.group_caps.items()} | dict(caps or {}),
        groups_of=groups_of,
        exact_steps=numbers.exact_steps,
    )


def select(
    units: Sequence[Unit], room: int, numbers: OmarNumbers, caps: Mapping[str, int] | None = None
) -> Pick:
    """The choice of the solver that the numbers name."""
    solver = exact if numbers.solver == "exact" else greedy
    return solver(units, room, terms_of(numbers, caps))
