"""Units and room in → the choice with the highest total priority there is: the 0/1 optimum.

Priorities are compared as exact integers, so rounding decides nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from foveal.pipeline.select.greedy import conflict, greedy
from foveal.pipeline.select.knapsack import Knapsack, solve
from foveal.pipeline.select.terms import Terms, beside_forced, charges, ranked, spent
from foveal.pipeline.values import Conflict, Pick, Unit


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
