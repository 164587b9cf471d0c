"""Plan the eight layers of a build, and pick the newest turns of each layer within its allotment.

System prompts are always in the window: they are taken off the total, and layer L0 gets them on top of its
allotment. Turns of the history layer are left undecided; `compact` decides them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from foveal.pipeline.kinds import ENTITY, IDENTITY, LAYERS, MESSAGE_HISTORY, TOPIC, USER_MESSAGE
from foveal.pipeline.material.categories import lend_spare, tokens_by_slot, with_usage
from foveal.pipeline.reasons import Reason, no_room
from foveal.pipeline.values import Item, Pick, Scene, Unit
from foveal.presets.openscroll.layers import (
    BUNDLES,
    LayerBudget,
    OpenscrollNumbers,
    Situation,
    negotiate,
    slot_of,
)
from foveal.window import Slot

ORDER = (USER_MESSAGE, *LAYERS)
"""The user's message comes before everything else."""


def layers(
    items: Sequence[Item], scene: Scene, *, numbers: OpenscrollNumbers | None = None
) -> tuple[Slot, ...]:
    """Negotiate the layers for these items and the scene's material.

    The user's message must be in the window; identity material gives way to it.
    """
    by = numbers or OpenscrollNumbers()
    system = sum(item.tokens for item in items if item.role == "system" and slot_of(item) == IDENTITY)
    total = max(1, scene.budget - scene.overhead - system)
    messages, material = tokens_by_slot(items, slot_of), tokens_by_slot(scene.material, slot_of)
    tokens = {name: messages.get(name, 0) + material.get(name, 0) for name in {*messages, *material}}
    tokens[IDENTITY] = tokens.get(IDENTITY, 0) - system
    user = min(total, messages.get(USER_MESSAGE, 0))  # a message that exceeds it was cut
    if user + min(by.identity_min, tokens[IDENTITY]) > total:
        tokens[IDENTITY] = 0
    situation = replace(_situation([*items, *scene.material], tokens, by), total=total, user_tokens=user)
    plan = negotiate(situation, by)
    shown = sum(min(material.get(budget.layer, 0), budget.allocated) for budget in plan)
    if sum(messages.values()) - system + shown > total:
        # The history will be compacted and get an arc, whose length is not known yet.
        known = {name: there for name, there in situation.available.items() if name != "conversation"}
        plan = negotiate(replace(situation, available=known), by)
    return tuple(_slot(budget, system) for budget in plan)


def _situation(items: Sequence[Item], tokens: Mapping[str, int], by: OpenscrollNumbers) -> Situation:
    available = {bundle: tokens.get(name, 0) for bundle, name in BUNDLES.items()}
    return Situation(
        total=0,
        messages=sum(slot_of(item) in (MESSAGE_HISTORY, USER_MESSAGE) for item in items),
        history_tokens=available["history"],
        user_tokens=0,
        topics=_subjects(items, TOPIC, "topic", "topic_slug", "topic_id"),
        entities=_subjects(items, ENTITY, "entity", "entity_id"),
        active=available["history"] > 0,
        depth=by.depth,
        prioritize_history=by.prioritize_history,
        available=available,
    )


def _subjects(items: Sequence[Item], layer: str, *keys: str) -> int:
    """How many topics or entities the items of a layer are about; each unnamed one counts separately."""
    subjects = (
        next((str(item.metadata[key]) for key in keys if key in item.metadata), item.id)
        for item in items
        if slot_of(item) == layer
    )
    return len(set(subjects))


def _slot(budget: LayerBudget, system: int) -> Slot:
    slot = budget.slot
    if slot.name != IDENTITY:
        return slot
    return replace(
        slot,
        floor=slot.floor + system,
        ideal=slot.ideal + system,
        ceiling=slot.ceiling + system,
        allotted=slot.allotted + system,
    )


def by_layer(units: Sequence[Unit], room: int, *, slots: Sequence[Slot]) -> Pick:
    """Spend the room layer by layer, newest first; skip units that are too large, and all of the history."""
    because = {unit.turn: unit.forced for unit in units if unit.forced}
    forced = [unit for unit in units if unit.forced]
    left = Counter({slot.name: max(0, slot.allotted - slot.used) for slot in with_usage(slots, forced)})
    kept = set(because)
    newest_first = [unit for unit in reversed(units) if not unit.forced]
    for unit in sorted(newest_first, key=lambda unit: ORDER.index(_main_layer(unit))):
        layer = _main_layer(unit)
        if layer == MESSAGE_HISTORY:
            continue
        most = min(left[layer], room)
        if unit.tokens > most:
            because[unit.turn] = no_room(needed=unit.tokens, left=most, columns=layer)
            continue
        because[unit.turn] = Reason(code="selected", columns=f"{layer}, {unit.tokens:,} tokens")
        kept.add(unit.turn)
        room -= unit.tokens
        left.subtract(unit.by_slot)
    return Pick(
        kept=frozenset(kept),
        because=because,
        slots=lend_spare(with_usage(slots, [unit for unit in units if unit.turn in kept]))[0],
    )


def settled(slots: Sequence[Slot], scene: Scene) -> tuple[Slot, ...]:
    """Raise over-full slots, first from tokens that were not allotted, then from what other slots do not use.

    Forced turns, or a window that fits whole, may use more than a layer was allotted; the total always fits.
    """
    spare = max(0, scene.budget - scene.overhead - sum(slot.allotted for slot in slots))
    raised = []
    for slot in slots:
        more = max(0, min(spare, slot.used - slot.allotted))
        spare -= more
        raised.append(replace(slot, allotted=slot.allotted + more, floor=0))
    even = lend_spare(raised)[0]
    return tuple(replace(slot, floor=before.floor) for slot, before in zip(even, slots, strict=True))


def _main_layer(unit: Unit) -> str:
    """The layer that has most of a unit's tokens; of equals the first."""
    if len(unit.by_slot) == 1:
        (only,) = unit.by_slot
        return only
    return max(LAYERS, key=lambda layer: unit.by_slot.get(layer, -1))
