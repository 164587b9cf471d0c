"""Units and room in → each layer's newest within its allotment; history is left for compaction to decide."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from foveal.pipeline.plan.layers import HISTORY, LAYERS, USER
from foveal.pipeline.plan.slots import even_out, fill
from foveal.pipeline.values import Pick, Scene, Slot, Unit

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
    return Pick(
        kept=frozenset(kept),
        because=because,
        slots=even_out(fill(slots, [unit for unit in units if unit.turn in kept]))[0],
    )


def settled(slots: Sequence[Slot], scene: Scene) -> tuple[Slot, ...]:
    """The slots with none over-full: first from what nobody was allotted, then from what others do not use.

    What must be in, and what fits whole, may be more than a layer was allotted; the budget holds it all.
    """
    spare = max(0, scene.budget - scene.overhead - sum(slot.allotted for slot in slots))
    raised = []
    for slot in slots:
        more = max(0, min(spare, slot.used - slot.allotted))
        spare -= more
        raised.append(replace(slot, allotted=slot.allotted + more, floor=0))
    even = even_out(raised)[0]
    return tuple(replace(slot, floor=before.floor) for slot, before in zip(even, slots, strict=True))


def _home(unit: Unit) -> str:
    """The layer that has most of a unit's tokens; of equals the first."""
    return max(LAYERS, key=lambda layer: unit.by_slot.get(layer, -1))
