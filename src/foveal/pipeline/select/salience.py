"""Contributors and room in → the most salient that fit the CONTEXT category, with what DIALOG can lend."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from foveal.pipeline.plan.categories import CONTEXT, DIALOG, borrow
from foveal.pipeline.values import Pick, Score, Slot, Unit


def worth(*, weight: float, salience: float) -> Score:
    """What a contributor is worth: its type's weight times its salience, which is within 0 and 1."""
    salience = min(1.0, max(0.0, salience))
    return Score(total=weight * salience, parts={"weight": weight, "salience": salience})


def by_salience(units: Sequence[Unit], room: int, *, slots: Sequence[Slot]) -> Pick:
    """Take contributors from the worthiest down; where they do not fit, borrow from DIALOG, else drop.

    `slots` have in them what the conversation uses; what is forced is part of that.
    """
    because = {unit.turn: unit.forced for unit in units if unit.forced}
    kept, after = set(because), tuple(slots)
    free = [unit for unit in units if not unit.forced]
    for unit in sorted(free, key=lambda unit: (-unit.score.total, unit.turn)):
        left, lent = min(room, _left(after)), 0
        if left < unit.tokens <= room:
            done, after = borrow(after, DIALOG, target=CONTEXT, amount=unit.tokens - left)
            lent = unit.tokens - left if done else 0
        if unit.tokens > left + lent:
            had = max(0, left)
            because[unit.turn] = f"{_worth(unit)}, needed {unit.tokens:,} tokens, {had:,} were left"
            continue
        because[unit.turn] = f"{_worth(unit)}, {unit.tokens:,} tokens" + (
            f", {lent:,} borrowed from {DIALOG}" if lent else ""
        )
        kept.add(unit.turn)
        room -= unit.tokens
        after = tuple(
            replace(slot, used=slot.used + unit.tokens) if slot.name == CONTEXT else slot for slot in after
        )
    return Pick(kept=frozenset(kept), because=because, slots=after)


def _left(slots: Sequence[Slot]) -> int:
    """What CONTEXT has left; below 0 when it is over-full."""
    return next((slot.allotted - slot.used for slot in slots if slot.name == CONTEXT), 0)


def _worth(unit: Unit) -> str:
    parts = unit.score.parts
    return f"weight {parts.get('weight', 1.0):.2f} x salience {parts.get('salience', unit.score.total):.2f}"
