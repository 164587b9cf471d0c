"""Select units with the solver of the `omar` preset: greedy, or the exact 0/1 knapsack.

The exact solver compares priorities as integers, so rounding decides nothing. It first settles the pieces
that the fractional bound decides. With the others it builds choices piece by piece, best value per weight
first. Of two choices that use the other limits alike, it drops the heavier one unless that has more value; it
also drops any choice whose bound cannot reach the best one known. The work grows with what cannot be ruled
out; beyond `exact_steps` it raises an error.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate

from foveal.errors import InputError
from foveal.pipeline.reasons import Reason, no_room
from foveal.pipeline.values import Pick, Unit
from foveal.presets.omar.greedy import (
    Terms,
    charges,
    conflict,
    greedy,
    groups_of,
    ranked,
    spent,
    without_forced,
)
from foveal.presets.omar.score import OmarNumbers
from foveal.window import Conflict

Uses = tuple[int, ...]
Choice = tuple[int, int, Uses, object]
"""Weight, value (negative, so that the better sorts first), other uses, and a linked list of indices."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Knapsack:
    """Pieces that each fit alone, by falling value per weight; weightless ones first."""

    values: Sequence[int]
    weights: Sequence[int]
    uses: Sequence[Uses]
    """Of the limits other than the weight's."""
    limit: int
    limits: Uses


def solve(sack: Knapsack, least: int, most_steps: int) -> list[int] | None:
    """Indices of the best choice, or None if no choice is worth more than `least`."""
    first = _fill(sack)
    value = sum(sack.values[index] for index in first)
    best = first if value > least else None
    least = max(least, value)
    settled, undecided = _settle(sack, least)
    rest = _remaining(sack, settled, undecided)
    if rest is None:
        return best
    found = _search(rest, least - sum(sack.values[index] for index in settled), most_steps)
    return best if found is None else settled + [undecided[index] for index in found]


def _fill(sack: Knapsack) -> list[int]:
    """A good choice to start with: every piece in order that still fits."""
    found, left, used = [], sack.limit, (0,) * len(sack.limits)
    for index, weight in enumerate(sack.weights):
        uses = _within(used, sack.uses[index], sack.limits)
        if weight <= left and uses is not None:
            found.append(index)
            left, used = left - weight, uses
    return found


def _settle(sack: Knapsack, least: int) -> tuple[list[int], list[int]]:
    """Indices that are in every choice worth more than `least`, and those that are undecided."""
    weights = [0, *accumulate(sack.weights)]
    end = bisect_right(weights, sack.limit) - 1
    if end == len(sack.weights):
        return [], list(range(end))
    value, weight = sack.values[end], sack.weights[end]
    # The gain over `least` if the piece at `end` were divisible, in units of 1 / its weight.
    gain = (sum(sack.values[:end]) - least) * weight + (sack.limit - weights[end]) * value
    settled, undecided = [], []
    for index in range(len(sack.weights)):
        loss = abs(sack.values[index] * weight - sack.weights[index] * value)
        if loss < gain:
            undecided.append(index)
        elif index < end:
            settled.append(index)
    return settled, undecided


def _remaining(sack: Knapsack, settled: Sequence[int], indices: Sequence[int]) -> Knapsack | None:
    """The problem that is left once the settled pieces are in; None if those alone exceed a limit."""
    limit = sack.limit - sum(sack.weights[index] for index in settled)
    limits = tuple(
        most - sum(sack.uses[index][axis] for index in settled) for axis, most in enumerate(sack.limits)
    )
    if min(limit, *limits, 0) < 0:
        return None
    return Knapsack(
        values=[sack.values[index] for index in indices],
        weights=[sack.weights[index] for index in indices],
        uses=[sack.uses[index] for index in indices],
        limit=limit,
        limits=limits,
    )


def _search(sack: Knapsack, least: int, most_steps: int) -> list[int] | None:
    weights = [0, *accumulate(sack.weights)]
    values = [0, *accumulate(sack.values)]
    choices: list[Choice] = [(0, 0, (0,) * len(sack.limits), None)]
    best = choices[0] if least < 0 else None
    least = max(0, least)
    steps = 0
    for index in range(len(sack.values)):
        steps += len(choices)
        if steps > most_steps:
            raise _too_much(len(sack.values), most_steps)
        grown = _grown(sack, choices, index)
        top = min(grown, key=lambda choice: choice[1], default=None)
        if top and -top[1] > least:
            least, best = -top[1], top
        choices = [
            choice
            for choice in _undominated([*choices, *grown])
            if _bound(sack, weights, values, index + 1, sack.limit - choice[0]) - choice[1] > least
        ]
    return _indices(best) if best else None


def _grown(sack: Knapsack, choices: Sequence[Choice], index: int) -> list[Choice]:
    """The choices with one more piece, where it fits."""
    value, weight, uses = sack.values[index], sack.weights[index], sack.uses[index]
    room = sack.limit - weight
    return [
        (choice[0] + weight, choice[1] - value, used, (choice[3], index))
        for choice in choices
        if choice[0] <= room and (used := _within(choice[2], uses, sack.limits)) is not None
    ]


def _within(used: Uses, more: Uses, limits: Uses) -> Uses | None:
    if not limits:
        return used
    total = tuple(a + b for a, b in zip(used, more, strict=True))
    return total if all(use <= limit for use, limit in zip(total, limits, strict=True)) else None


def _undominated(choices: list[Choice]) -> list[Choice]:
    """Drop each choice that a lighter one with the same other uses equals or exceeds in value."""
    choices.sort(key=lambda choice: choice[:2])
    best: dict[Uses, int] = {}
    found = []
    for choice in choices:
        if choice[1] < best.get(choice[2], 1):
            best[choice[2]] = choice[1]
            found.append(choice)
    return found


def _bound(sack: Knapsack, weights: list[int], values: list[int], index: int, room: int) -> int:
    """The most that the pieces from `index` on can add if the last of them were divisible."""
    end = bisect_right(weights, weights[index] + room, lo=index) - 1
    whole = values[end] - values[index]
    if end == len(sack.values):
        return whole
    left = room - (weights[end] - weights[index])
    return whole + left * sack.values[end] // sack.weights[end]


def _indices(choice: Choice) -> list[int]:
    found: list[int] = []
    chain = choice[3]
    while isinstance(chain, tuple):
        chain, index = chain
        found.append(index)
    return found


def _too_much(pieces: int, most: int) -> InputError:
    return InputError(
        f"the exact optimum of {pieces:,} similar pieces takes more than {most:,} steps",
        remedy='use the solver "greedy", offer fewer pieces, or raise `exact_steps`',
    )


def exact(units: Sequence[Unit], room: int, terms: Terms | None = None) -> Pick:
    """The optimum under the same room and caps as `greedy`, reported in the same way."""
    terms = terms or Terms()
    order = ranked(units, terms)
    start = greedy(units, room, terms)
    kept = _optimum(order, room, without_forced(units, terms), start)
    forced = {unit.turn: unit.forced for unit in units if unit.forced}
    placed = [unit for unit in order if unit.turn in kept]
    left = room - sum(unit.tokens for unit in placed)
    return Pick(
        kept=kept | forced.keys(),
        because=forced | {unit.turn: _reason(unit, left, kept=unit.turn in kept) for unit in order},
        conflicts=tuple(_conflicts(order, kept)),
        slots=spent(placed, room, terms, forced=[unit for unit in units if unit.forced]),
    )


def _reason(unit: Unit, left: int, *, kept: bool) -> Reason:
    priority = f"priority {unit.score.total:.1f}"
    if kept:
        words = f"{unit.tokens:,} tokens: part of the best total"
        return Reason(code="selected", columns=priority, words=words)
    words = f"needed {unit.tokens:,} tokens, {left:,} were left by the choice with the best total"
    return no_room(needed=unit.tokens, left=left, columns=priority, words=words)


def _conflicts(order: Sequence[Unit], kept: frozenset[int]) -> list[Conflict]:
    found, placed = [], None
    for unit in order:
        if unit.turn in kept:
            placed = unit
        elif placed:
            found.append(conflict(placed, unit))
    return found


def _optimum(order: Sequence[Unit], room: int, terms: Terms, start: Pick) -> frozenset[int]:
    """Turns of the best choice, which is the greedy one unless a better one exists."""
    values = dict(
        zip((unit.turn for unit in order), _integers([unit.score.total for unit in order]), strict=True)
    )
    begun = frozenset(turn for turn in start.kept if values.get(turn, 0) > 0)
    limits, rows = _binding(
        [(unit, values[unit.turn]) for unit in order if values[unit.turn] > 0], room, terms
    )
    free = frozenset(unit.turn for unit, _, uses in rows if not any(uses))
    rows = [row for row in rows if any(row[2])]
    rows.sort(key=lambda row: -Fraction(row[1], row[2][0]) if row[2][0] else -math.inf)
    sack = Knapsack(
        values=[value for _, value, _ in rows],
        weights=[uses[0] for *_, uses in rows],
        uses=[uses[1:] for *_, uses in rows],
        limit=limits[0],
        limits=tuple(limits[1:]),
    )
    least = sum(values[turn] for turn in begun) - sum(values[turn] for turn in free)
    indices = solve(sack, least, terms.exact_steps)
    return begun if indices is None else free | {rows[index][0].turn for index in indices}


def _integers(values: Sequence[float]) -> list[int]:
    """The values, scaled so that all of them are integers."""
    ratios = [value.as_integer_ratio() for value in map(float, values)]
    scale = max((bottom for _, bottom in ratios), default=1)
    return [top * (scale // bottom) for top, bottom in ratios]


_Row = tuple[Unit, int, tuple[int, ...]]


def _binding(rows: Sequence[tuple[Unit, int]], room: int, terms: Terms) -> tuple[list[int], list[_Row]]:
    """The limits that can bind, and each unit's use of them; units that exceed one alone are dropped."""
    names, limits = ["", *terms.caps], [room, *terms.caps.values()]
    found = []
    for unit, value in rows:
        needs = charges(unit, terms) if terms.caps else {}
        found.append((unit, value, (unit.tokens, *(needs.get(name, 0) for name in names[1:]))))
    found = [row for row in found if all(use <= limit for use, limit in zip(row[2], limits, strict=True))]
    totals = [sum(row[2][axis] for row in found) for axis in range(len(names))]
    axes = [axis for axis in range(len(names)) if totals[axis] > limits[axis]]
    # If a capped group at its cap and everything outside the group fit together, the room does not bind.
    if any(totals[0] - totals[axis] + limits[axis] <= room for axis in axes if axis) and 0 in axes:
        axes.remove(0)
    if not axes:
        return [0], [(unit, value, (0,)) for unit, value, _ in found]
    return [limits[axis] for axis in axes], [
        (unit, value, tuple(uses[axis] for axis in axes)) for unit, value, uses in found
    ]


def terms_of(numbers: OmarNumbers, caps: Mapping[str, int] | None = None) -> Terms:
    """The terms of these numbers, with `caps` added to theirs."""
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
