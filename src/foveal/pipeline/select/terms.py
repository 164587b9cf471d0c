"""What greedy and exact selection have in common: the terms, the order, the caps and the account."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter

from foveal.pipeline.values import Item, Slot, Unit


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
    free.sort(key=_place)
    free.sort(key=_age)
    if terms.prefer_higher_priority:
        free.sort(key=_priority, reverse=True)
    return free


_priority = attrgetter("score.total")


def _place(unit: Unit) -> int:
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
