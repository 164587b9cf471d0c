"""What greedy and exact selection have in common: the terms, the order, the caps and the account.

Units and room in → the first that fit, from the highest priority down, and the conflicts on the way.

A unit that does not fit is left out and stands in conflict with the one placed last. Near the optimum
when units are small beside the room; `exact` finds the optimum itself.

Units and room in → the total priority no choice can exceed: how far greedy can be from the optimum.

Were units divisible, taking the best priority per token first would be optimal, under nested caps too. Caps
that overlap, or that units belong to only in part, are left out of account: the bound stays a bound.

A budget in → one pool beside a reserve for the system prompt, and the caps somebody asked for.

Caps are laid over the pool, they are not shares of it: a piece may count against several of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from operator import attrgetter

from foveal.pipeline.kinds import HISTORY, RAG
from foveal.pipeline.values import Item, Pick, Unit
from foveal.presets.omar.score import business_fields
from foveal.window import Conflict, Slot


def _ungrouped(_: Item) -> tuple[str, ...]:
    return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """How a selection is made, beside the room it has."""

    prefer_higher_priority: bool = True
    allow_partial_fill: bool = True
    """Go on after the first unit that does not fit."""
    caps: Mapping[str, int] = field(default_factory=dict)
    """The most that the units of a group may have together."""
    groups_of: Callable[[Item], tuple[str, ...]] = _ungrouped
    exact_steps: int = 1_000_000


def ranked(units: Sequence[Unit], terms: Terms) -> list[Unit]:
    """The units in the order in which they are offered room, what is forced left aside.

    Higher priority first, then the newer (no time last), then the earlier in the conversation.
    """
    free = [unit for unit in units if not unit.forced]
    # Sorting keeps the order of equals, so one sort per part, the last part first, does what a key of three
    # parts would do, in half the time.
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


def beside_forced(units: Sequence[Unit], terms: Terms) -> Terms:
    """The terms for what may be chosen: what is forced has used its part of the caps already."""
    forced = [unit for unit in units if unit.forced] if terms.caps else []
    left = dict(terms.caps)
    for unit in forced:
        for group, tokens in charges(unit, terms).items():
            left[group] = max(0, left[group] - tokens)
    return replace(terms, caps=left) if forced else terms


def spent(units: Sequence[Unit], room: int, terms: Terms, *, forced: Sequence[Unit] = ()) -> tuple[Slot, ...]:
    """The room and each cap, and what these units use of them; what is forced draws on the caps alone."""
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


POOL = "pool"
RESERVE = "reserve"
GROUPS = ("overall", "history", "business_data", "client_data", "rag_results", "system_prompt")


def flat(budget: int, *, reserve: int, caps: Mapping[str, float]) -> tuple[Slot, ...]:
    """The pool, the reserve and the caps; the reserve is never more than the budget.

    >>> [(slot.name, slot.allotted) for slot in flat(10_000, reserve=2_000, caps={"history": 3_000})]
    [('pool', 8000), ('reserve', 2000), ('history', 3000)]
    """
    budget = max(0, budget)
    reserve = min(max(0, reserve), budget)
    shares = {POOL: budget - reserve, RESERVE: reserve}
    return tuple(_slot(name, int(tokens)) for name, tokens in [*shares.items(), *caps.items()])


def _slot(name: str, tokens: int) -> Slot:
    return Slot(name=name, floor=0, ideal=tokens, ceiling=tokens, allotted=tokens)


def slot_of(item: Item) -> str:
    """The system prompt draws on the reserve, everything else on the pool."""
    return RESERVE if item.kind == "system_prompt" else POOL


def groups_of(item: Item) -> tuple[str, ...]:
    """Everything an item counts against: the pool, unless it is the system prompt, and its groups."""
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
