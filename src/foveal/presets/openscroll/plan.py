"""The items and the material of a build in → the plan of its eight layers.

System prompts are always in: they are taken off the total, and L0 has them beside what it was allotted. What
each layer has to show is known, for these items and this material are all there is.

Units and room in → each layer's newest within its allotment; history is left for compaction to decide.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from foveal.errors import BudgetError
from foveal.pipeline.kinds import ENTITY, IDENTITY, LAYERS, MESSAGE_HISTORY, TOPIC, USER_MESSAGE
from foveal.pipeline.material.categories import lend_spare, tokens_by_slot, with_usage
from foveal.pipeline.values import Item, Pick, Scene, Unit
from foveal.presets.openscroll.layers import BUNDLES, Layer, OpenscrollNumbers, Situation, negotiate, slot_of
from foveal.window import Slot


def layers(
    items: Sequence[Item], scene: Scene, *, numbers: OpenscrollNumbers | None = None
) -> tuple[Slot, ...]:
    """Negotiate over what there is; material gives way to the user's message, which must be in."""
    by = numbers or OpenscrollNumbers()
    steady = sum(item.tokens for item in items if item.role == "system" and slot_of(item) == IDENTITY)
    total = max(1, scene.budget - scene.overhead - steady)
    said, beside = tokens_by_slot(items, slot_of), tokens_by_slot(scene.material, slot_of)
    tokens = {name: said.get(name, 0) + beside.get(name, 0) for name in {*said, *beside}}
    tokens[IDENTITY] = tokens.get(IDENTITY, 0) - steady
    user = _user(items, scene.budget, total)
    if user + min(by.identity_min, tokens[IDENTITY]) > total:
        tokens[IDENTITY] = 0
    asked = _asked([*items, *scene.material], tokens, by)
    asked = replace(asked, total=total, user_tokens=user)
    plan = negotiate(asked, by)
    shown = sum(min(beside.get(layer.name, 0), layer.allocated) for layer in plan)
    if sum(said.values()) - steady + shown > total:
        # An arc will be made, as long as it may be.
        known = {name: there for name, there in asked.available.items() if name != "conversation"}
        plan = negotiate(replace(asked, available=known), by)
    return tuple(_slot(layer, steady) for layer in plan)


def _asked(items: Sequence[Item], tokens: Mapping[str, int], by: OpenscrollNumbers) -> Situation:
    known = {bundle: tokens.get(name, 0) for bundle, name in BUNDLES.items()}
    return Situation(
        total=0,
        messages=sum(slot_of(item) in (MESSAGE_HISTORY, USER_MESSAGE) for item in items),
        history_tokens=known["history"],
        user_tokens=0,
        topics=_named(items, TOPIC, "topic", "topic_slug", "topic_id"),
        entities=_named(items, ENTITY, "entity", "entity_id"),
        active=known["history"] > 0,
        depth=by.depth,
        prioritize_history=by.prioritize_history,
        available=known,
    )


def _user(items: Sequence[Item], budget: int, total: int) -> int:
    """Tokens of the user's message and what else was put into its layer, as far as the total goes."""
    asked = sum(item.tokens for item in items if item.kind == "current_user_prompt")
    if asked > total:
        raise BudgetError(
            f"the user message has {asked:,} tokens; the budget is {budget:,}, of which {total:,} are left "
            "beside the system prompt, the tools and the framing",
            remedy=f"raise `budget` to {budget - total + asked:,} or more, or shorten the user message",
        )
    return min(total, sum(item.tokens for item in items if slot_of(item) == USER_MESSAGE))


def _named(items: Sequence[Item], layer: str, *keys: str) -> int:
    """How many topics or entities the items of a layer are about; an unnamed one is one of its own."""
    about = (
        next((str(i.metadata[k]) for k in keys if k in i.metadata), i.id)
        for i in items
        if slot_of(i) == layer
    )
    return len(set(about))


def _slot(layer: Layer, steady: int) -> Slot:
    slot = layer.slot
    if slot.name != IDENTITY:
        return slot
    return replace(
        slot,
        floor=slot.floor + steady,
        ideal=slot.ideal + steady,
        ceiling=slot.ceiling + steady,
        allotted=slot.allotted + steady,
    )


ORDER = (USER_MESSAGE, *LAYERS)
"""The user's message before everything else."""


def by_layer(units: Sequence[Unit], room: int, *, slots: Sequence[Slot]) -> Pick:
    """Spend the room layer by layer; units of other layers than history are passed over if too large."""
    because = {unit.turn: unit.forced for unit in units if unit.forced}
    forced = [unit for unit in units if unit.forced]
    left = Counter({slot.name: max(0, slot.allotted - slot.used) for slot in with_usage(slots, forced)})
    kept = set(because)
    newest_first = [unit for unit in reversed(units) if not unit.forced]
    for unit in sorted(newest_first, key=lambda unit: ORDER.index(_home(unit))):
        home = _home(unit)
        if home == MESSAGE_HISTORY:
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
        slots=lend_spare(with_usage(slots, [unit for unit in units if unit.turn in kept]))[0],
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
    even = lend_spare(raised)[0]
    return tuple(replace(slot, floor=before.floor) for slot, before in zip(even, slots, strict=True))


def _home(unit: Unit) -> str:
    """The layer that has most of a unit's tokens; of equals the first."""
    return max(LAYERS, key=lambda layer: unit.by_slot.get(layer, -1))
