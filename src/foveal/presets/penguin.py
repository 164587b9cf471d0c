"""Divide the budget among four categories that borrow from each other, and trim the oldest turns first.

    rebalance  categories over their allotment borrow what others do not use
    level      those still over it lose their oldest turns until they are within it
    fit        SYSTEM_OUTPUT, then DIALOG, then CONTEXT lose their oldest turns until the total fits

Turns are kept or left out as a whole. SYSTEM and the newest user message are left out only when nothing else
remains and the room would be exceeded.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Sequence
from functools import partial

from foveal.pipeline.material.admit import admit_by_category
from foveal.pipeline.material.categories import (
    SYSTEM,
    TRIMMED_FIRST,
    PenguinNumbers,
    plan_categories,
    rebalance,
    slot_of,
    with_usage,
)
from foveal.pipeline.reasons import Reason
from foveal.pipeline.recipe import Recipe
from foveal.pipeline.values import Pick, Unit
from foveal.presets.base import Preset
from foveal.presets.recency_curves import unscored
from foveal.window import Slot


def trim_when_over(units: Sequence[Unit], room: int, *, slots: Sequence[Slot]) -> Pick:
    """Keep everything if it fits, else rebalance and trim."""
    over = sum(unit.tokens for unit in units if not unit.forced) - room
    rebalanced = rebalance(with_usage(slots, units))[0]
    if over > 0:
        return trim(units, room, slots=rebalanced)
    return Pick(
        kept=frozenset(unit.turn for unit in units),
        because={unit.turn: unit.forced or _fits(-over) for unit in units},
        slots=rebalanced,
    )


def _fits(spare: int) -> Reason:
    words = f"everything fits, {spare:,} tokens to spare"
    return Reason(code="selected", numbers={"spare": spare}, words=words)


def trim(units: Sequence[Unit], room: int, *, slots: Sequence[Slot]) -> Pick:
    """Bring each category within its allotment, then the total into the room."""
    allotted = {slot.name: slot.allotted for slot in slots}
    used = Counter({slot.name: slot.used for slot in with_usage(slots, units)})
    total = sum(unit.tokens for unit in units if not unit.forced)
    out: dict[int, Reason] = {}
    for name in TRIMMED_FIRST:
        for unit in _oldest(units, name, out):
            if used[name] <= allotted[name]:
                break
            words = f"{name} had {used[name]:,} tokens of {allotted[name]:,}: the oldest go first"
            out[unit.turn] = _over(unit, used[name] - allotted[name], words)
            used.subtract(unit.by_slot)
            total -= unit.tokens
    giving_way = [(f"{name} gives way, oldest first", _oldest(units, name, out)) for name in TRIMMED_FIRST]
    last = [unit for unit in units if _shielded(unit) and not unit.forced]
    for why, candidates in [*giving_way, ("nothing else is left to go", last)]:
        for unit in candidates:
            if total <= room:
                break
            if unit.turn not in out:
                out[unit.turn] = _over(unit, total - room, f"{total - room:,} tokens too many: {why}")
                total -= unit.tokens
    kept = [unit for unit in units if unit.turn not in out]
    after = with_usage(slots, kept)
    return Pick(
        kept=frozenset(unit.turn for unit in kept),
        because=out | {unit.turn: unit.forced or _kept_because(unit, after) for unit in kept},
        slots=after,
    )


def _over(unit: Unit, missing: int, why: str) -> Reason:
    return Reason(code="no_room", numbers={"missing": missing}, words=f"{why}, this one had {unit.tokens:,}")


def _oldest(units: Sequence[Unit], name: str, out: Container[int]) -> list[Unit]:
    """The units that may be left out for a category, oldest first."""
    return [
        unit
        for unit in units
        if unit.by_slot.get(name) and unit.turn not in out and not unit.forced and not _shielded(unit)
    ]


def _shielded(unit: Unit) -> bool:
    """Whether part of it is in SYSTEM, or it has the newest user message."""
    return bool(unit.by_slot.get(SYSTEM)) or any(item.kind == "current_user_prompt" for item in unit.items)


def _kept_because(unit: Unit, slots: Sequence[Slot]) -> Reason:
    words = "; ".join(
        f"{slot.name} has {slot.used:,} tokens of {slot.allotted:,}"
        for slot in slots
        if slot.name in unit.by_slot
    )
    return Reason(code="selected", words=words)


def penguin(numbers: PenguinNumbers = PenguinNumbers()) -> Preset:
    return Preset(
        name="penguin",
        about="four borrowing categories, trimmed oldest first",
        select=Recipe(
            score=unscored,
            slot_of=slot_of,
            plan=partial(plan_categories, numbers=numbers),
            pick=lambda units, room, slots: trim_when_over(units, room, slots=slots),
            settle=lambda slots, _scene: rebalance(slots)[0],
        ),
        looks_at_all=True,
        admit=partial(admit_by_category, numbers=numbers),
        searches_sessions=True,
    )
