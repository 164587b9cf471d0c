"""Chunks or allocations in → units with priorities, and what a budget makes of them.

The same scorer, plan and selectors as the `omar` preset; only the shapes differ.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from foveal.model import Kind, Role
from foveal.operations.omar_shapes import (
    Allocation,
    Boosts,
    Chunk,
    Conflicting,
    Constraints,
    Metrics,
    Weighing,
)
from foveal.pipeline.values import Item, Pick, Scene, Unit
from foveal.presets.omar.greedy import POOL, flat, fractional_bound, optimality_gap, ranked
from foveal.presets.omar.score import OmarNumbers, estimate, flags, priorities, supplied
from foveal.presets.omar.solve import omar, terms_of
from foveal.window import Score
from foveal.wire.times import seconds

ROLES: dict[Kind, Role] = {
    "system_prompt": "system",
    "chat_history_assistant": "assistant",
    "tool_input": "assistant",
    "tool_output": "tool",
}
"""All others are the user's: what was retrieved never speaks with the system's voice."""


def numbers_of(constraints: Constraints) -> OmarNumbers:
    """The preset's numbers, with what the request says in their place."""
    usual = OmarNumbers()
    return replace(
        usual,
        base=dict(usual.base) | {**constraints.priority_thresholds},
        prefer_recent=constraints.prefer_recent,
        recency=constraints.recency,
        reserve=usual.reserve if constraints.reserve_tokens is None else constraints.reserve_tokens,
        group_caps={
            group: usual.usual_caps[group] if cap is None else cap
            for group, cap in constraints.group_caps.items()
        },
        prefer_higher_priority=constraints.prefer_higher_priority,
        allow_partial_fill=constraints.allow_partial_fill,
        solver=constraints.solver,
    )


def item_of(chunk: Chunk, place: int, weighing: Weighing, numbers: OmarNumbers) -> Item:
    metadata = supplied(chunk.metadata or {}, weighing.business_context)
    tokens = chunk.tokens
    if tokens is None:
        said = metadata.get("content_type")
        density = numbers.densities.get(said if isinstance(said, str) else "", numbers.densities["general"])
        tokens = estimate(chunk.content, density)
    return Item(
        index=place if chunk.original_index is None else chunk.original_index,
        id=chunk.id,
        role=ROLES.get(chunk.type, "user"),
        kind=chunk.type,
        text=chunk.content,
        tokens=tokens,
        timestamp=seconds(chunk.timestamp),
        priority=chunk.priority,
        metadata=metadata,
    )


def weighed(chunks: Sequence[Chunk], weighing: Weighing) -> list[Unit]:
    """One unit per chunk, with its priority by part; `turn` is the chunk's place in the request."""
    numbers = numbers_of(weighing.constraints)
    items = [item_of(chunk, place, weighing, numbers) for place, chunk in enumerate(chunks)]
    scores = priorities(items, Scene(now=now_of(weighing)), numbers)
    return [_unit(place, *pair) for place, pair in enumerate(zip(items, scores, strict=True))]


def now_of(weighing: Weighing) -> float:
    now = seconds(weighing.now)
    return -math.inf if now is None else now  # before everything: a time in the future has no age


def reweighed(allocations: Sequence[Allocation], weighing: Weighing | None = None) -> list[Unit]:
    """Allocations as units again. Their priority stands; their parts are worked out where they do not say."""
    weighing = weighing or Weighing()
    numbers = numbers_of(weighing.constraints)
    items = [
        Item(
            index=place if each.original_index is None else each.original_index,
            id=each.chunk_id,
            role=ROLES.get(each.chunk_type, "user"),
            kind=each.chunk_type,
            text="",
            tokens=each.tokens,
            timestamp=seconds(each.timestamp),
            metadata=supplied(each.metadata, weighing.business_context),
        )
        for place, each in enumerate(allocations)
    ]
    worked_out = priorities(items, Scene(now=now_of(weighing)), numbers)
    return [
        _unit(
            place, item, Score(total=each.priority, parts=each.boosts.model_dump() if each.boosts else parts)
        )
        for place, (each, item, parts) in enumerate(
            zip(allocations, items, (score.parts for score in worked_out), strict=True)
        )
    ]


def _unit(place: int, item: Item, score: Score) -> Unit:
    return Unit(turn=place, items=(item,), tokens=item.tokens, score=score, by_slot={POOL: item.tokens})


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """What a budget made of the units."""

    pick: Pick
    placed: tuple[Unit, ...]
    """In the order in which they were placed."""
    dropped: tuple[Unit, ...]
    used: int
    """The reserve included."""
    remaining: int
    gap: float


def spend(units: Sequence[Unit], available: int, constraints: Constraints) -> Spent:
    """Choose within the budget; the system prompt draws on the reserve before it draws on the pool."""
    numbers = numbers_of(constraints)
    most = constraints.max_total_tokens
    plan = flat(available if most is None else min(available, most), reserve=numbers.reserve, caps={})
    pool, reserve = (slot.allotted for slot in plan)
    system = sum(unit.tokens for unit in units if unit.items[0].kind == "system_prompt")
    room = pool + min(reserve, system)
    caps = {POOL: pool} if system else {}
    pick = omar(units, room, numbers, caps)
    order = ranked(units, terms_of(numbers))
    placed = tuple(unit for unit in order if unit.turn in pick.kept)
    paid = sum(unit.tokens for unit in placed if unit.items[0].kind == "system_prompt")
    drawn = sum(unit.tokens for unit in placed) - min(paid, reserve)
    bound = fractional_bound(units, room, terms_of(numbers, caps))
    return Spent(
        pick=pick,
        placed=placed,
        dropped=tuple(unit for unit in order if unit.turn not in pick.kept),
        used=reserve + drawn,
        remaining=pool - drawn,
        gap=optimality_gap(math.fsum(unit.score.total for unit in placed), bound),
    )


def metrics_of(placed: Sequence[Unit], gap: float | None) -> Metrics:
    """Means over what is kept; 0 when nothing is."""
    count = len(placed) or 1
    return Metrics(
        prioritization_score=math.fsum(unit.score.total for unit in placed) / count,
        business_relevance_boost=math.fsum(unit.score.parts["business"] for unit in placed) / count,
        recency_boost=math.fsum(unit.score.parts["recency"] for unit in placed) / count,
        optimality_gap=gap,
    )


def allocation_of(
    unit: Unit, start: int, timestamp: float | str | None, *, boosts: bool = False
) -> Allocation:
    item = unit.items[0]
    return Allocation(
        chunk_id=item.id,
        token_span=(start, start + unit.tokens),
        tokens=unit.tokens,
        priority=unit.score.total,
        chunk_type=item.kind,
        timestamp=timestamp,
        original_index=item.index,
        flags=flags(unit.tokens, item.metadata),
        metadata=dict(item.metadata),
        boosts=Boosts(**unit.score.parts) if boosts else None,
    )


def laid(units: Sequence[Unit], chunks: Sequence[Chunk], *, boosts: bool = False) -> list[Allocation]:
    """The units' allocations, their spans end to end from 0."""
    found, start = [], 0
    for unit in units:
        found.append(allocation_of(unit, start, chunks[unit.turn].timestamp, boosts=boosts))
        start += unit.tokens
    return found


def relaid(allocations: Sequence[Allocation]) -> list[Allocation]:
    """The same allocations, their spans end to end from 0."""
    found, start = [], 0
    for each in allocations:
        found.append(each.model_copy(update={"token_span": (start, start + each.tokens)}))
        start += each.tokens
    return found


def conflicts_of(pick: Pick, units: Sequence[Unit]) -> list[Conflicting]:
    ids = {unit.turn: unit.items[0].id for unit in units}
    return [
        Conflicting(
            chunk1=ids[each.chunk1],
            chunk2=ids[each.chunk2],
            conflict_type=each.type,
            resolution=each.resolution,
        )
        for each in pick.conflicts
    ]
