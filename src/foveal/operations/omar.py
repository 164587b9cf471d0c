"""The 21 `context_*` operations: select, score and estimate chunks and allocations within a token budget.

They use the scorer and the solvers of the `omar` preset; the table at the end lists them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from typing import Literal

from foveal.errors import NotFoundError
from foveal.operations.omar_shapes import (
    Allocation,
    Allocations,
    Chunk,
    ChunkConflict,
    Chunks,
    Constraints,
    ConstraintsOrNull,
    Id,
    Metrics,
    ScoringRequest,
    Tokens,
)
from foveal.operations.omar_units import (
    ROLES,
    Spent,
    allocate,
    allocation_of,
    conflicts_of,
    metrics_of,
    now_of,
    numbers_of,
    reallocate,
    score_allocations,
    score_chunks,
    spend,
)
from foveal.operations.registry import Events, Operation, Shape
from foveal.pipeline.kinds import PROMPTS, RAG
from foveal.pipeline.values import Unit
from foveal.presets.omar.events import Optimization, optimization_events
from foveal.presets.omar.greedy import Terms, ranked
from foveal.presets.omar.score import (
    Content,
    OmarNumbers,
    business_fields,
    business_parts,
    content_of,
    estimate,
    relevance,
)
from foveal.presets.omar.solve import terms_of
from foveal.presets.recency_curves import DAY, age


class OptimizeRequest(ScoringRequest):
    chunks: Chunks
    available_tokens: Tokens
    user_id: Id
    session_id: str | None = None


class OptimizeResult(Shape):
    optimized_chunks: list[Chunk]
    total_tokens_used: int
    tokens_remaining: int
    chunks_dropped: int
    optimization_metrics: Metrics
    allocations: list[Allocation]
    dropped: list[str]
    conflicts: list[ChunkConflict]
    optimization_id: str


def optimize(request: OptimizeRequest) -> OptimizeResult:
    """Keep the chunks with the highest priority that fit, in their original order."""
    return _optimize(request, score_chunks(request.chunks, request))


def _optimize(request: OptimizeRequest, units: Sequence[Unit]) -> OptimizeResult:
    """Select among these units of the request."""
    spent = spend(units, request.available_tokens, request.constraints)
    in_order = sorted(spent.placed, key=lambda unit: (unit.items[0].index, unit.turn))
    return OptimizeResult(
        optimized_chunks=[request.chunks[unit.turn] for unit in in_order],
        total_tokens_used=spent.used,
        tokens_remaining=spent.remaining,
        chunks_dropped=len(spent.dropped),
        optimization_metrics=metrics_of(spent.placed, spent.gap),
        allocations=allocate(spent.placed, request.chunks),
        dropped=[unit.items[0].id for unit in spent.dropped],
        conflicts=conflicts_of(spent.pick, units),
        optimization_id=_id(request),
    )


def _id(request: OptimizeRequest) -> str:
    """A hash of the request: equal requests have the same id."""
    plain = json.dumps(request.model_dump(mode="json"), sort_keys=True)
    return hashlib.sha256(plain.encode()).hexdigest()[:32]


def optimize_events(request: OptimizeRequest) -> Events:
    """The events of optimizing all chunks of the request."""
    return _events(request, score_chunks(request.chunks, request))


def _events(request: OptimizeRequest, units: Sequence[Unit]) -> Events:
    spent = spend(units, request.available_tokens, request.constraints)
    optimization = Optimization(
        id=_id(request),
        units=units,
        scores=[(unit.items[0], unit.score.parts) for unit in units],
        pick=spent.pick,
        available=request.available_tokens,
        used=spent.used,
        remaining=spent.remaining,
        estimated={
            unit.items[0].id: unit.tokens for unit in units if request.chunks[unit.turn].tokens is None
        },
    )
    return optimization_events(optimization, numbers_of(request.constraints))


class PrioritizeRequest(ScoringRequest):
    chunks: Chunks


class AllocationsResult(Shape):
    allocations: list[Allocation]


def prioritize(request: PrioritizeRequest) -> AllocationsResult:
    """Every chunk with the parts of its priority, in the order of selection."""
    units = score_chunks(request.chunks, request)
    order = ranked(units, terms_of(numbers_of(request.constraints)))
    return AllocationsResult(allocations=allocate(order, request.chunks, boosts=True))


class MetricsRequest(ScoringRequest):
    allocations: Allocations


def calculate_metrics(request: MetricsRequest) -> Metrics:
    """Means over the allocations; boosts that they lack are calculated from metadata and time."""
    return metrics_of(score_allocations(request.allocations, request), None)


class ChatMessage(Shape):
    role: str
    content: str


class BuildResult(OptimizeResult):
    messages: list[ChatMessage]


def build_llm(request: OptimizeRequest) -> BuildResult:
    """The messages of all chunks, in their original order."""
    return _build(optimize(request))


def build_business(request: OptimizeRequest) -> BuildResult:
    """The messages of the prompts and of the chunks with business fields of their own."""
    return _build(_optimize(request, _business_units(request)))


def business_events(request: OptimizeRequest) -> Events:
    """The events of `context_build_business`."""
    return _events(request, _business_units(request))


def _business_units(request: OptimizeRequest) -> list[Unit]:
    """Scored among all chunks, so that each keeps its position in the request."""
    return [
        unit
        for unit in score_chunks(request.chunks, request)
        if unit.items[0].kind in PROMPTS or business_fields(request.chunks[unit.turn].metadata or {})
    ]


def build_rag(request: OptimizeRequest) -> BuildResult:
    """The messages in the order system prompt, retrieved material, history, current prompt."""
    return _build(optimize(request), order=_rag_order)


def _rag_order(chunk: Chunk) -> int:
    if chunk.type in PROMPTS:
        return 0 if chunk.type == "system_prompt" else 3
    return 1 if chunk.type in RAG else 2


def _build(result: OptimizeResult, order: Callable[[Chunk], int] = lambda _: 0) -> BuildResult:
    messages = [
        ChatMessage(role=ROLES.get(chunk.type, "user"), content=chunk.content)
        for chunk in sorted(result.optimized_chunks, key=order)
    ]
    return BuildResult(
        messages=messages, **{name: getattr(result, name) for name in OptimizeResult.model_fields}
    )


class BudgetRequest(Shape):
    allocations: Allocations
    available_tokens: Tokens
    constraints: ConstraintsOrNull = Constraints()


class BudgetResult(Shape):
    allocated: list[Allocation]
    dropped: list[Allocation]
    conflicts: list[ChunkConflict]
    tokens_used: int
    tokens_remaining: int


class ConflictsResult(Shape):
    conflicts: list[ChunkConflict]


def resolve_budget(request: BudgetRequest) -> BudgetResult:
    """Spend the budget on allocations that state their priorities."""
    units, spent = _spend(request)
    return BudgetResult(
        allocated=_allocated(request, spent),
        dropped=_dropped(request, spent),
        conflicts=conflicts_of(spent.pick, units),
        tokens_used=spent.used,
        tokens_remaining=spent.remaining,
    )


def detect_conflicts(request: BudgetRequest) -> ConflictsResult:
    units, spent = _spend(request)
    return ConflictsResult(conflicts=conflicts_of(spent.pick, units))


def filter_allocated(request: BudgetRequest) -> AllocationsResult:
    return AllocationsResult(allocations=_allocated(request, _spend(request)[1]))


def filter_dropped(request: BudgetRequest) -> AllocationsResult:
    return AllocationsResult(allocations=_dropped(request, _spend(request)[1]))


def _spend(request: BudgetRequest) -> tuple[list[Unit], Spent]:
    units = score_allocations(request.allocations)
    return units, spend(units, request.available_tokens, request.constraints)


def _allocated(request: BudgetRequest, spent: Spent) -> list[Allocation]:
    return reallocate([request.allocations[unit.turn] for unit in spent.placed])


def _dropped(request: BudgetRequest, spent: Spent) -> list[Allocation]:
    return [request.allocations[unit.turn] for unit in spent.dropped]


class ChunkToAllocationRequest(ScoringRequest):
    chunk: Chunk
    position: Tokens = 0
    """Where its token span starts."""


class AllocationResult(Shape):
    allocation: Allocation


def chunk_to_allocation(request: ChunkToAllocationRequest) -> AllocationResult:
    (unit,) = score_chunks([request.chunk], request)
    return AllocationResult(allocation=allocation_of(unit, request.position, request.chunk))


class AllocationToChunkRequest(Shape):
    allocation: Allocation
    chunks: Chunks


class ChunkResult(Shape):
    chunk: Chunk


def allocation_to_chunk(request: AllocationToChunkRequest) -> ChunkResult:
    id = request.allocation.chunk_id
    for chunk in request.chunks:
        if chunk.id == id:
            return ChunkResult(chunk=chunk)
    raise NotFoundError(
        f"`allocation.chunk_id` is {id!r}; none of the {len(request.chunks)} `chunks` has that id",
        remedy="add the chunk to `chunks`",
        field="allocation.chunk_id",
    )


class CompareRequest(Shape):
    a: Allocation
    b: Allocation


class CompareResult(Shape):
    order: Literal[-1, 0, 1]
    """-1 if `a` goes first, 1 if `b` does, 0 if they are equal."""
    because: str


def compare_allocations(request: CompareRequest) -> CompareResult:
    """Which of two allocations is selected first."""
    pair = score_allocations([request.a, request.b])
    reason = _difference(*pair)
    if reason:
        return CompareResult(order=-1 if ranked(pair, Terms())[0].turn == 0 else 1, because=reason)
    return _compare_indices(request.a.original_index, request.b.original_index)


def _compare_indices(a: int | None, b: int | None) -> CompareResult:
    """The lower original index goes first; the order of the request does not count."""
    if a == b:
        same = "no original index" if a is None else "same original index"
        return CompareResult(order=0, because=f"same priority, same time, {same}")
    if a is None or b is None:
        because = "same priority and time, only one has an original index"
        return CompareResult(order=1 if a is None else -1, because=because)
    because = f"same priority and time, original index {a} against {b}"
    return CompareResult(order=-1 if a < b else 1, because=because)


def _difference(a: Unit, b: Unit) -> str:
    """The priority or the time in which they differ."""
    if a.score.total != b.score.total:
        return f"priority {a.score.total:.1f} against {b.score.total:.1f}"
    first, second = a.items[0], b.items[0]
    if first.timestamp != second.timestamp:
        both = first.timestamp is not None and second.timestamp is not None
        return "same priority, the newer goes first" if both else "same priority, only one has a time"
    return ""


class EstimateRequest(Shape):
    text: str
    content_type: Content | None = None


class EstimateResult(Shape):
    tokens: int
    density: float


def estimate_tokens(request: EstimateRequest) -> EstimateResult:
    """Estimate with the given content type, or else the detected one."""
    return _estimate(request.text, request.content_type or content_of(request.text))


def estimate_as(content: Content) -> Callable[[EstimateRequest], EstimateResult]:
    """Estimate with the given content type, or else this one."""

    def run(request: EstimateRequest) -> EstimateResult:
        return _estimate(request.text, request.content_type or content)

    return run


def _estimate(text: str, content: Content) -> EstimateResult:
    density = OmarNumbers().densities[content]
    return EstimateResult(tokens=estimate(text, density), density=density)


class BoostRequest(ScoringRequest):
    chunk: Chunk


class BoostResult(Shape):
    boost: float
    parts: dict[str, float]


def recency_boost(request: BoostRequest) -> BoostResult:
    (unit,) = score_chunks([request.chunk], request)
    timestamp = unit.items[0].timestamp
    parts = {} if timestamp is None else {"age_days": age(timestamp, now_of(request)) / DAY}
    return BoostResult(boost=unit.score.parts["recency"], parts=parts)


def business_boost(request: BoostRequest) -> BoostResult:
    (unit,) = score_chunks([request.chunk], request)
    fields = business_fields(unit.items[0].metadata)
    parts = business_parts(fields, numbers_of(request.constraints))
    return BoostResult(boost=unit.score.parts["business"], parts=parts)


def rag_boost(request: BoostRequest) -> BoostResult:
    (unit,) = score_chunks([request.chunk], request)
    return BoostResult(boost=unit.score.parts["rag"], parts={"relevance": relevance(unit.items[0].metadata)})


_TABLE: tuple[tuple[str, str, str, Callable[..., object]], ...] = (
    ("optimize", "0x3200", "choose the chunks that a token budget holds, and say why", optimize),
    ("prioritize", "0x3201", "the priority of every chunk by part, in the order of selection", prioritize),
    ("allocate_budget", "0x3202", "spend a token budget on allocations", resolve_budget),
    ("calculate_metrics", "0x3203", "mean priority and boosts of a set of allocations", calculate_metrics),
    (
        "estimate_tokens",
        "0x3210",
        "estimate a text's tokens by the density of its type, detected unless given",
        estimate_tokens,
    ),
    (
        "estimate_business",
        "0x3211",
        "estimate the tokens of business prose: 4.2 characters each",
        estimate_as("business"),
    ),
    ("estimate_code", "0x3212", "estimate the tokens of code: 3.5 characters each", estimate_as("code")),
    (
        "estimate_general",
        "0x3213",
        "estimate the tokens of general text: 3.8 characters each",
        estimate_as("general"),
    ),
    (
        "chunk_to_allocation",
        "0x3220",
        "a chunk as an allocation, with its priority and flags",
        chunk_to_allocation,
    ),
    ("allocation_to_chunk", "0x3221", "the chunk behind an allocation", allocation_to_chunk),
    (
        "compare_allocations",
        "0x3222",
        "which of two allocations is offered room first, and why",
        compare_allocations,
    ),
    ("resolve_budget", "0x3223", "spend a token budget on allocations", resolve_budget),
    ("calculate_recency_boost", "0x3230", "what a chunk's age adds to its priority", recency_boost),
    (
        "calculate_business_boost",
        "0x3231",
        "what a chunk's business fields add to its priority",
        business_boost,
    ),
    ("calculate_rag_boost", "0x3232", "what a chunk's match in retrieval adds to its priority", rag_boost),
    (
        "detect_conflicts",
        "0x3240",
        "the allocations that do not fit into a token budget together",
        detect_conflicts,
    ),
    ("filter_allocated", "0x3241", "the allocations that a token budget holds", filter_allocated),
    ("filter_dropped", "0x3242", "the allocations that a token budget does not hold", filter_dropped),
    (
        "build_business",
        "0x3250",
        "optimize the prompts and the chunks with business fields, as messages",
        build_business,
    ),
    ("build_llm", "0x3251", "optimize all chunks, as messages in their original order", build_llm),
    (
        "build_rag",
        "0x3252",
        "optimize all chunks, as messages with retrieved material before the history",
        build_rag,
    ),
)
_EVENTS: dict[str, Callable[[OptimizeRequest], Events]] = {
    "optimize": optimize_events,
    "build_business": business_events,
    "build_llm": optimize_events,
    "build_rag": optimize_events,
}
OPERATIONS = tuple(
    Operation(f"context_{name}", about, run, code, _EVENTS.get(name)) for name, code, about, run in _TABLE
)
