"""Select units greedily within room and caps, and bound how far that can be from the optimum.

Greedy takes units by falling priority while they fit. A unit that does not fit is left out and conflicts
with the unit placed last. The result is near the optimum if units are small compared to the room;
`solve.exact` finds the optimum itself.

The fractional bound is the total priority that no choice can exceed: if units were divisible, taking the best
priority per token first would be optimal, also under nested caps. Caps that overlap, or that cover units only
in part, are ignored; the bound remains a bound.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from operator import attrgetter

from foveal.pipeline.kinds import HISTORY, RAG
from foveal.pipeline.reasons import Reason, no_room
from foveal.pipeline.values import Item, Pick, Unit
from foveal.presets.omar.score import business_fields
from foveal.window import Conflict, Slot

POOL = "pool"
RESERVE = "reserve"


def slot_of(item: Item) -> str:
    """The system prompt uses the reserve, everything else the pool."""
    return RESERVE if item.kind == "system_prompt" else POOL


def groups_of(item: Item) -> tuple[str, ...]:
    """The groups whose caps an item counts against; all but the system prompt also count against the pool."""
    fields = business_fields(item.metadata)
    counted = {
        POOL: item.kind != "system_prompt",
        "overall": True,
        "history": item.kind in HISTORY,
        "business_data": "revenue_impact" in fields or "deal_status" in fields,
        "client_data": "client_tier" in fields or "relationship_stage" in fields,
        "rag_results": item.kind in RAG,
        "system_prompt": item.kind == "system_prompt",
    }
    return tuple(group for group, counts in counted.items() if counts)


def _ungrouped(_: Item) -> tuple[str, ...]:
    return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """The rules of a selection, apart from its room."""

    prefer_higher_priority: bool = True
    allow_partial_fill: bool = True
    """Continue after the first unit that does not fit."""
    caps: Mapping[str, int] = field(default_factory=dict)
    """The most tokens that the units of a group may have together."""
    groups_of: Callable[[Item], tuple[str, ...]] = _ungrouped
    exact_steps: int = 1_000_000


def ranked(units: Sequence[Unit], terms: Terms) -> list[Unit]:
    """The units that are not forced, in the order of selection.

    Higher priority first, then newer (units without a time last), then earlier in the conversation.
    """
    free = [unit for unit in units if not unit.forced]
    # Sorting is stable, so one sort per part, the last part first, does what a key of three parts would do,
    # in half the time.
    free.sort(key=_position)
    free.sort(key=_age)
    if terms.prefer_higher_priority:
        free.sort(key=_priority, reverse=True)
    return free


_priority = attrgetter("score.total")


def _position(unit: Unit) -> int:
    return unit.items[0].index


def _age(unit: Unit) -> float:
    items = unit.items
    stamp = items[0].timestamp if len(items) == 1 else _newest(items)
    return math.inf if stamp is None else -stamp


def _newest(items: Sequence[Item]) -> float | None:
    return max((item.timestamp for item in items if item.timestamp is not None), default=None)


def charges(unit: Unit, terms: Terms) -> dict[str, int]:
    """A unit's tokens by capped group, message by message."""
    found: dict[str, int] = {}
    for item in unit.items:
        for group in terms.groups_of(item):
            if group in terms.caps:
                found[group] = found.get(group, 0) + item.tokens
    return found


def without_forced(units: Sequence[Unit], terms: Terms) -> Terms:
    """The terms for the units that may be chosen, with what forced units use taken off the caps."""
    forced = [unit for unit in units if unit.forced] if terms.caps else []
    left = dict(terms.caps)
    for unit in forced:
        for group, tokens in charges(unit, terms).items():
            left[group] = max(0, left[group] - tokens)
    return replace(terms, caps=left) if forced else terms


def spent(units: Sequence[Unit], room: int, terms: Terms, *, forced: Sequence[Unit] = ()) -> tuple[Slot, ...]:
    """The room and each cap, and what these units use of them; forced units count only against the caps."""
    used = dict.fromkeys(terms.caps, 0)
    for unit in (*units, *forced) if terms.caps else ():
        for group, tokens in charges(unit, terms).items():
            used[group] += tokens
    limits = {"room": (room, sum(unit.tokens for unit in units))}
    limits |= {group: (cap, used[group]) for group, cap in terms.caps.items()}
    return tuple(
        Slot(name=name, floor=0, ideal=limit, ceiling=limit, allotted=limit, used=use)
        for name, (limit, use) in limits.items()
    )


_Left = int | tuple[int, str] | str
"""What was left for a unit that did not fit: tokens, and of which cap; or why it was not tried."""


class _Reasons(Mapping[int, Reason]):
    """Why each turn is in or out; each reason is formatted when it is read."""

    def __init__(self, units: Sequence[Unit], left: Mapping[int, _Left]) -> None:
        self._units = units
        self._left = left

    @cached_property
    def _by_turn(self) -> Mapping[int, Unit]:
        return {unit.turn: unit for unit in self._units}

    def __getitem__(self, turn: int) -> Reason:
        unit, left = self._by_turn[turn], self._left.get(turn)
        if unit.forced:
            return unit.forced
        priority, needed = f"priority {unit.score.total:.1f}", f"needed {unit.tokens:,} tokens"
        if left is None:
            return Reason(code="selected", columns=f"{priority}, {unit.tokens:,} tokens")
        if isinstance(left, str):
            return Reason(code="not_selected", columns=priority, words=f"{needed}, {left}")
        room, cap = left if isinstance(left, tuple) else (left, "")
        words = f"{needed}, {room:,} were left {cap}" if cap else ""
        return no_room(needed=unit.tokens, left=room, columns=priority, words=words)

    def __iter__(self) -> Iterator[int]:
        return iter(self._by_turn)

    def __len__(self) -> int:
        return len(self._units)


def greedy(units: Sequence[Unit], room: int, terms: Terms | None = None) -> Pick:
    """Take units in order while `room` and the caps last; the room does not include forced units."""
    terms = terms or Terms()
    order = ranked(units, terms)
    placed, conflicts, left = _place(order, room, without_forced(units, terms))
    if not terms.allow_partial_fill and left:
        (stop,) = left
        reason = f"and turn {stop} did not fit before it: `allow_partial_fill` is off"
        left |= dict.fromkeys([unit.turn for unit in order[len(placed) + 1 :]], reason)
    return Pick(
        kept=frozenset([unit.turn for unit in units if unit.forced]).union([unit.turn for unit in placed]),
        because=_Reasons(units, left),
        conflicts=tuple(conflicts),
        slots=spent(placed, room, terms, forced=[unit for unit in units if unit.forced]),
    )


def _place(
    order: Sequence[Unit], room: int, terms: Terms
) -> tuple[list[Unit], list[Conflict], dict[int, _Left]]:
    """The units that fit, the conflicts, and what was left for each unit that did not fit. A hot loop."""
    placed: list[Unit] = []
    conflicts: list[Conflict] = []
    misfits: dict[int, _Left] = {}
    left, left_of = room, dict(terms.caps)
    for unit in order:
        tokens = unit.tokens
        full = _capped(charges(unit, terms), left_of, terms.caps) if left_of and tokens <= left else None
        if tokens <= left and full is None:
            left -= tokens
            placed.append(unit)
            continue
        misfits[unit.turn] = left if full is None else full
        if placed:
            conflicts.append(conflict(placed[-1], unit))
        if not terms.allow_partial_fill:
            break
    return placed, conflicts, misfits


def _capped(
    needs: Mapping[str, int], left_of: dict[str, int], caps: Mapping[str, int]
) -> tuple[int, str] | None:
    """What a cap that is too small leaves; if none is, charge the unit to its groups and return None."""
    for group, tokens in needs.items():
        if tokens > left_of[group]:
            return left_of[group], f"of the {caps[group]:,} for {group}"
    for group, tokens in needs.items():
        left_of[group] -= tokens
    return None


# With many thousand misfits, the constructor of the frozen value would take most of the time. Setting its
# slots directly takes a third of that.
_new = Conflict.__new__
_chunk1, _chunk2, _type, _resolution = (
    Conflict.__dict__[name].__set__ for name in ("chunk1", "chunk2", "type", "resolution")
)


def conflict(placed: Unit, dropped: Unit) -> Conflict:
    """The conflict of two units that do not both fit; the one placed first stays."""
    found = _new(Conflict)
    _chunk1(found, placed.turn)
    _chunk2(found, dropped.turn)
    equal = placed.score.total == dropped.score.total
    _type(found, "priority_conflict" if equal else "budget_exceeded")
    _resolution(found, "keep_chunk1")
    return found


def fractional_bound(units: Sequence[Unit], room: int, terms: Terms | None = None) -> float:
    """The highest total priority that units which are not forced can reach."""
    terms = without_forced(units, terms or Terms())
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
    for unit in sorted(free, key=lambda unit: -unit.score.total / unit.tokens if unit.tokens else -math.inf):
        within = [name for name in needs[unit.turn] if name in nested]
        taken = min(unit.tokens, *(left[name] for name in within), unit.tokens)
        total += unit.score.total * (taken / unit.tokens if unit.tokens else 1.0)
        for name in within:
            left[name] -= taken
    return total


def _nested(free: Sequence[Unit], needs: dict[int, dict[str, int]], limits: dict[str, int]) -> set[str]:
    """The room, and those caps of whole units that are nested or disjoint."""
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
    """The missing share of the bound; 0 if the bound is 0.

    >>> optimality_gap(90.0, 100.0), optimality_gap(0.0, 0.0)
    (0.1, 0.0)
    """
    return max(0.0, (bound - value) / bound) if bound > 0 else 0.0
