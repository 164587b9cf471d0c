"""Units and room in → the total priority no choice can exceed: how far greedy can be from the optimum.

Were units divisible, taking the best priority per token first would be optimal, under nested caps too. Caps
that overlap, or that units belong to only in part, are left out of account: the bound stays a bound.
"""

from __future__ import annotations

from collections.abc import Sequence

from foveal.pipeline.select.terms import Terms, beside_forced, charges
from foveal.pipeline.values import Unit


def fractional_bound(units: Sequence[Unit], room: int, terms: Terms | None = None) -> float:
    """The most that the units which fit alone can be worth together; what is forced is not counted."""
    terms = beside_forced(units, terms or Terms())
    limits = {"": room, **terms.caps}
    needs = {unit.turn: {"": unit.tokens, **charges(unit, terms)} for unit in units if not unit.forced}
    free = [
        unit
        for unit in units
        if not unit.forced
        and unit.score.total > 0
        and all(tokens <= limits[name] for name, tokens in needs[unit.turn].items())
    ]
    nested = _nested(free, {unit.turn: needs[unit.turn] for unit in free}, limits)
    left = {name: limits[name] for name in nested}
    total = 0.0
    for unit in sorted(
        free, key=lambda unit: -unit.score.total / unit.tokens if unit.tokens else -float("inf")
    ):
        within = [name for name in needs[unit.turn] if name in nested]
        taken = min(unit.tokens, *(left[name] for name in within), unit.tokens)
        total += unit.score.total * (taken / unit.tokens if unit.tokens else 1.0)
        for name in within:
            left[name] -= taken
    return total


def _nested(free: Sequence[Unit], needs: dict[int, dict[str, int]], limits: dict[str, int]) -> set[str]:
    """The room, and caps of whole units that lie inside or beside each other."""
    found: dict[str, set[int]] = {"": {unit.turn for unit in free}}
    for name in limits:
        members = {unit.turn for unit in free if needs[unit.turn].get(name)}
        whole = all(needs[unit.turn][name] == unit.tokens for unit in free if unit.turn in members)
        if whole and all(
            members <= other or members >= other or not members & other for other in found.values()
        ):
            found.setdefault(name, members)
    return set(found)


def optimality_gap(value: float, bound: float) -> float:
    """The share of the bound that is missing; 0 where nothing can be missing.

    >>> optimality_gap(90.0, 100.0), optimality_gap(0.0, 0.0)
    (0.1, 0.0)
    """
    return max(0.0, (bound - value) / bound) if bound > 0 else 0.0
