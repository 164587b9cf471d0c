"""Units and room in → the first that fit, from the highest priority down, and the conflicts on the way.

A unit that does not fit is left out and stands in conflict with the one placed last. Near the optimum
when units are small beside the room; `exact` finds the optimum itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

from foveal.pipeline.select.terms import Terms, beside_forced, charges, ranked, spent
from foveal.pipeline.values import Conflict, Pick, Unit


class _Reasons(Mapping[int, str]):
    """Why each turn is in or out, put into words when somebody reads them."""

    def __init__(self, units: Sequence[Unit], shorts: Mapping[int, int | str]) -> None:
        self._units = units
        self._shorts = shorts
        """What was left for those that did not fit, in tokens or in words."""

    @cached_property
    def _by_turn(self) -> Mapping[int, Unit]:
        return {unit.turn: unit for unit in self._units}

    def __getitem__(self, turn: int) -> str:
        unit, short = self._by_turn[turn], self._shorts.get(turn)
        if unit.forced:
            return unit.forced
        priority = f"priority {unit.score.total:.1f}"
        if short is None:
            return f"{priority}, {unit.tokens:,} tokens"
        had = short if isinstance(short, str) else f"{short:,} were left"
        return f"{priority}, needed {unit.tokens:,} tokens, {had}"

    def __iter__(self) -> Iterator[int]:
        return iter(self._by_turn)

    def __len__(self) -> int:
        return len(self._units)


def greedy(units: Sequence[Unit], room: int, terms: Terms | None = None) -> Pick:
    """Take units in order while `room` and the caps last; what is forced is paid for already."""
    terms = terms or Terms()
    order = ranked(units, terms)
    placed, conflicts, shorts = _place(order, room, beside_forced(units, terms))
    if not terms.allow_partial_fill and shorts:
        (stop,) = shorts
        reason = f"and turn {stop} did not fit before it: `allow_partial_fill` is off"
        shorts |= {unit.turn: reason for unit in order[len(placed) + 1 :]}
    return Pick(
        kept=frozenset([unit.turn for unit in units if unit.forced]).union([unit.turn for unit in placed]),
        because=_Reasons(units, shorts),
        conflicts=tuple(conflicts),
        slots=spent(placed, room, terms, forced=[unit for unit in units if unit.forced]),
    )


def _place(
    order: Sequence[Unit], room: int, terms: Terms
) -> tuple[list[Unit], list[Conflict], dict[int, int | str]]:
    """The hot loop: the units that fit, the conflicts, and what was left for each unit that did not fit."""
    placed: list[Unit] = []
    conflicts: list[Conflict] = []
    shorts: dict[int, int | str] = {}
    left, lefts = room, dict(terms.caps)
    for unit in order:
        tokens = unit.tokens
        full = _capped(charges(unit, terms), lefts, terms.caps) if lefts and tokens <= left else ""
        if tokens <= left and not full:
            left -= tokens
            placed.append(unit)
            continue
        shorts[unit.turn] = full or left
        if placed:
            conflicts.append(conflict(placed[-1], unit))
        if not terms.allow_partial_fill:
            break
    return placed, conflicts, shorts


def _capped(needs: Mapping[str, int], lefts: dict[str, int], caps: Mapping[str, int]) -> str:
    """Which cap is in the way; when none is, the unit is charged to its groups."""
    for group, tokens in needs.items():
        if tokens > lefts[group]:
            return f"{lefts[group]:,} were left of the {caps[group]:,} for {group}"
    for group, tokens in needs.items():
        lefts[group] -= tokens
    return ""


# Of many thousand misfits most of the time would go into the constructor of a frozen value. Its slots can be
# filled directly, in a third of the time; the value is the same.
_new = Conflict.__new__
_chunk1, _chunk2, _type, _resolution = (
    Conflict.__dict__[name].__set__ for name in ("chunk1", "chunk2", "type", "resolution")
)


def conflict(placed: Unit, dropped: Unit) -> Conflict:
    """Two units that could not both be in; the one placed first stays."""
    found = _new(Conflict)
    _chunk1(found, placed.turn)
    _chunk2(found, dropped.turn)
    equal = placed.score.total == dropped.score.total
    _type(found, "priority_conflict" if equal else "budget_exceeded")
    _resolution(found, "keep_chunk1")
    return found
