"""Score and select the chunks and allocations of a request, with the stages of the `omar` preset.

The functions at the end describe what that did as the events of the preset's design.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any

from foveal.events import Reports
from foveal.model import Kind, Role
from foveal.operations.omar_shapes import (
    Allocation,
    Boosts,
    Chunk,
    ChunkConflict,
    Constraints,
    Metrics,
    ScoringRequest,
)
from foveal.operations.registry import Done
from foveal.pipeline.kinds import PROMPTS
from foveal.pipeline.values import Item, Pick, Scene, Unit
from foveal.presets.omar.events import (
    Optimization,
    Outcome,
    boost_applied,
    budget_events,
    chunks_dropped,
    conflicts_detected,
    optimization_events,
    scoring_events,
    tokens_estimated,
)
from foveal.presets.omar.greedy import POOL, fractional_bound, optimality_gap, ranked
from foveal.presets.omar.score import (
    USUAL_CAPS,
    OmarNumbers,
    business_fields,
    estimate,
    flags,
    mean_scores,
    priorities,
    supplied,
)
from foveal.presets.omar.solve import select, terms_of
from foveal.window import Score
from foveal.wire.times import seconds

ROLES: dict[Kind, Role] = {
    "system_prompt": "system",
    "chat_history_assistant": "assistant",
    "tool_input": "assistant",
    "tool_output": "tool",
}
"""All other kinds are the user's: retrieved material never gets the system's role."""


OPTIONS = ("prefer_recent", "recency", "prefer_higher_priority", "allow_partial_fill", "solver")
"""Constraints with the name of a setting."""


def constrained(numbers: OmarNumbers, constraints: Constraints) -> OmarNumbers:
    """The settings with the constraints that the request states in their place."""
    given = {name: getattr(constraints, name) for name in OPTIONS if name in constraints.model_fields_set}
    caps = {
        group: numbers.group_caps.get(group, USUAL_CAPS[group]) if cap is None else cap
        for group, cap in constraints.group_caps.items()
    }
    return replace(
        numbers,
        base=dict(numbers.base) | {**constraints.priority_thresholds},
        reserve=numbers.reserve if constraints.reserve_tokens is None else constraints.reserve_tokens,
        group_caps=dict(numbers.group_caps) | {**caps},
        **given,
    )


def _item(chunk: Chunk, position: int, request: ScoringRequest, numbers: OmarNumbers) -> Item:
    metadata = supplied(chunk.metadata or {}, request.business_context)
    tokens = chunk.tokens
    if tokens is None:
        content = metadata.get("content_type")
        general = numbers.densities["general"]
        density = numbers.densities.get(content, general) if isinstance(content, str) else general
        tokens = estimate(chunk.content, density)
    return Item(
        index=position if chunk.original_index is None else chunk.original_index,
        id=chunk.id,
        role=ROLES.get(chunk.type, "user"),
        kind=chunk.type,
        text=chunk.content,
        tokens=tokens,
        timestamp=seconds(chunk.timestamp),
        priority=chunk.priority,
        metadata=metadata,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredChunks:
    """Chunks with their priorities."""

    chunks: Sequence[Chunk]
    units: Sequence[Unit]
    """One per chunk, or fewer, with the parts of its priority; `turn` is the chunk's position."""
    numbers: OmarNumbers
    """With the constraints of the request."""


def score_chunks(chunks: Sequence[Chunk], request: ScoringRequest, numbers: OmarNumbers) -> ScoredChunks:
    """All chunks with the parts of their priorities."""
    numbers = constrained(numbers, request.constraints)
    items = [_item(chunk, position, request, numbers) for position, chunk in enumerate(chunks)]
    scores = priorities(items, Scene(now=now_of(request)), numbers)
    units = [_unit(position, *pair) for position, pair in enumerate(zip(items, scores, strict=True))]
    return ScoredChunks(chunks=chunks, units=units, numbers=numbers)


def score_business(chunks: Sequence[Chunk], request: ScoringRequest, numbers: OmarNumbers) -> ScoredChunks:
    """The prompts and the chunks with business fields of their own, scored among all chunks."""
    scored = score_chunks(chunks, request, numbers)
    of_business = [
        unit
        for unit in scored.units
        if unit.items[0].kind in PROMPTS or business_fields(chunks[unit.turn].metadata or {})
    ]
    return replace(scored, units=of_business)


def now_of(request: ScoringRequest) -> float:
    now = seconds(request.now)
    return -math.inf if now is None else now  # then every time is in the future and has no age


def score_allocations(
    allocations: Sequence[Allocation], numbers: OmarNumbers, request: ScoringRequest | None = None
) -> list[Unit]:
    """Allocations as units, with the priority they state; missing boosts are calculated."""
    request = request or ScoringRequest()
    numbers = constrained(numbers, request.constraints)
    items = [
        Item(
            index=position if each.original_index is None else each.original_index,
            id=each.chunk_id,
            role=ROLES.get(each.chunk_type, "user"),
            kind=each.chunk_type,
            text="",
            tokens=each.tokens,
            timestamp=seconds(each.timestamp),
            metadata=supplied(each.metadata, request.business_context),
        )
        for position, each in enumerate(allocations)
    ]
    scores = priorities(items, Scene(now=now_of(request)), numbers)
    return [
        _unit(
            position,
            item,
            Score(total=each.priority, parts=each.boosts.model_dump() if each.boosts else score.parts),
        )
        for position, (each, item, score) in enumerate(zip(allocations, items, scores, strict=True))
    ]


def _unit(position: int, item: Item, score: Score) -> Unit:
    return Unit(turn=position, items=(item,), tokens=item.tokens, score=score, by_slot={POOL: item.tokens})


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """The units that a budget holds, and those it does not."""

    pick: Pick
    placed: tuple[Unit, ...]
    """In the order of selection."""
    dropped: tuple[Unit, ...]
    used: int
    """Tokens, including the reserve."""
    remaining: int
    gap: float


def spend(units: Sequence[Unit], available: int, constraints: Constraints, numbers: OmarNumbers) -> Spent:
    """Select within the budget; the system prompt uses the reserve before it uses the pool."""
    numbers = constrained(numbers, constraints)
    most = constraints.max_total_tokens
    budget = available if most is None else min(available, most)
    reserve = min(numbers.reserve, budget)
    pool = budget - reserve
    system = sum(unit.tokens for unit in units if unit.items[0].kind == "system_prompt")
    room = pool + min(reserve, system)
    caps = {POOL: pool} if system else {}
    pick = select(units, room, numbers, caps)
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
    """Means over the kept units; 0 if there are none."""
    return Metrics(**mean_scores([unit.score for unit in placed]), optimality_gap=gap)


def allocation_of(
    unit: Unit, start: int, chunk: Chunk, numbers: OmarNumbers, *, boosts: bool = False
) -> Allocation:
    item = unit.items[0]
    return Allocation(
        chunk_id=item.id,
        token_span=(start, start + unit.tokens),
        tokens=unit.tokens,
        priority=unit.score.total,
        chunk_type=item.kind,
        timestamp=chunk.timestamp,
        original_index=item.index,
        flags=flags(unit.tokens, item.metadata, numbers),
        metadata=dict(item.metadata),
        boosts=Boosts(**unit.score.parts) if boosts else None,
    )


def allocate(
    units: Sequence[Unit], chunks: Sequence[Chunk], numbers: OmarNumbers, *, boosts: bool = False
) -> list[Allocation]:
    """The units' allocations, their spans end to end from 0."""
    starts = accumulate((unit.tokens for unit in units), initial=0)
    return [
        allocation_of(unit, start, chunks[unit.turn], numbers, boosts=boosts)
        for unit, start in zip(units, starts, strict=False)
    ]


def reallocate(allocations: Sequence[Allocation]) -> list[Allocation]:
    """The same allocations, their spans end to end from 0."""
    starts = accumulate((each.tokens for each in allocations), initial=0)
    return [
        each.model_copy(update={"token_span": (start, start + each.tokens)})
        for each, start in zip(allocations, starts, strict=False)
    ]


def conflicts_of(pick: Pick, units: Sequence[Unit]) -> list[ChunkConflict]:
    ids = {unit.turn: unit.items[0].id for unit in units}
    return [
        ChunkConflict(
            chunk1=ids[each.chunk1],
            chunk2=ids[each.chunk2],
            conflict_type=each.type,
            resolution=each.resolution,
        )
        for each in pick.conflicts
    ]


def optimization_reports(done: Done) -> Reports:
    """All events of an optimization; its work is the request and the scored chunks."""
    (request, scored), result = done.work, done.result
    optimization = Optimization(
        id=result.optimization_id,
        scores=_scores(scored),
        outcome=Outcome(
            allocated=len(result.allocations),
            dropped=result.dropped,
            conflicts=_plain(result.conflicts),
            used=result.total_tokens_used,
            remaining=result.tokens_remaining,
        ),
        available=request.available_tokens,
        estimated=_estimated(scored),
        user=request.user_id,
    )
    return optimization_events(optimization, scored.numbers)


def scoring_reports(done: Done) -> Reports:
    """Chunks became allocations; its work is the scored chunks."""
    scored = done.work
    return scoring_events(_scores(scored), scored.numbers, _estimated(scored))


def boost_reports(boost: str, done: Done) -> Reports:
    """One boost was calculated for one chunk, be it 0; its work is the scored chunk."""
    return boost_applied(boost, _scores(done.work), done.work.numbers)


def budget_reports(done: Done) -> Reports:
    """A budget was spent on allocations."""
    result = done.result
    return budget_events(
        Outcome(
            allocated=len(result.allocated),
            dropped=[each.chunk_id for each in result.dropped],
            conflicts=_plain(result.conflicts),
            used=result.tokens_used,
            remaining=result.tokens_remaining,
        )
    )


def conflict_reports(done: Done) -> Reports:
    return conflicts_detected(_plain(done.result.conflicts))


def dropped_reports(done: Done) -> Reports:
    return chunks_dropped([each.chunk_id for each in done.result.allocations])


def estimate_reports(done: Done) -> Reports:
    return tokens_estimated([done.result.model_dump()], 1)


def _scores(scored: ScoredChunks) -> list[tuple[Item, Mapping[str, float]]]:
    return [(unit.items[0], unit.score.parts) for unit in scored.units]


def _estimated(scored: ScoredChunks) -> dict[str, int]:
    """By id, the tokens of chunks that came without a number."""
    return {unit.items[0].id: unit.tokens for unit in scored.units if scored.chunks[unit.turn].tokens is None}


def _plain(conflicts: Sequence[ChunkConflict]) -> list[dict[str, Any]]:
    return [each.model_dump() for each in conflicts]
