"""Units and room in → each layer's newest within its allotment, history without a gap."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from foveal.pipeline.plan.layers import HISTORY, LAYERS, USER
from foveal.pipeline.plan.slots import even_out, fill
from foveal.pipeline.values import Pick, Slot, Unit

ORDER = (USER, *LAYERS)
"""The user's message before everything else."""


def by_layer(units: Sequence[Unit], room: int, *, slots: Sequence[Slot]) -> Pick:
    """Spend the room layer by layer; units of other layers than history are passed over if too large."""
    because = {unit.turn: unit.forced for unit in units if unit.forced}
    forced = [unit for unit in units if unit.forced]
    left = Counter({slot.name: max(0, slot.allotted - slot.used) for slot in fill(slots, forced)})
    kept = set(because)
    newest_first = [unit for unit in reversed(units) if not unit.forced]
    for unit in sorted(newest_first, key=lambda unit: ORDER.index(_home(unit))):
        home = _home(unit)
        if home == HISTORY:
            continue
        most = min(left[home], room)
        because[unit.turn] = f"{home}, {unit.tokens:,} tokens"
        if unit.tokens > most:
            because[unit.turn] = f"{home}, needed {unit.tokens:,} tokens, {most:,} were left"
            continue
        kept.add(unit.turn)
        room -= unit.tokens
        left.subtract(unit.by_slot)
    history = [unit for unit in newest_first if _home(unit) == HISTORY]
    _recent(history, min(room, left[HISTORY]), kept, because)
    return Pick(
        kept=frozenset(kept),
        because=because,
        slots=even_out(fill(slots, [unit for unit in units if unit.turn in kept]))[0],
    )


def _recent(history: Sequence[Unit], room: int, kept: set[int], because: dict[int, str]) -> None:
    """The newest turns while they fit; the first that does not ends the walk."""
    end = ""
    for unit in history:
        if not end and unit.tokens > room:
            end = f"the next turn needed {unit.tokens:,} tokens, {room:,} were left"
        if end:
            because[unit.turn] = f"{HISTORY}, {end}"
            continue
        because[unit.turn] = f"{HISTORY}, among the newest turns that fit, {unit.tokens:,} tokens"
        kept.add(unit.turn)
        room -= unit.tokens


def _home(unit: Unit) -> str:
    """The layer that has most of a unit's tokens; of equals the first."""
    return max(LAYERS, key=lambda layer: unit.by_slot.get(layer, -1))
