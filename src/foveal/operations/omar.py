"""The 21 `context_*` operations: select, score and estimate chunks and allocations within a token budget.

They use the scorer and the solvers of the `omar` preset; the table at the end lists them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from functools import partial
from typing import Literal

from foveal.errors import NotFoundError
from foveal.events import Reports
from foveal.operations.omar_shapes import (
    Allocation,
    Allocations,
    Chunk,
    ChunkConflict,
    Chunks,
    Constraints,
    ConstraintsOrNull,
    Metrics,
    Name,
    ScoringRequest,
    Tokens,
)
from foveal.operations.omar_units import (
    ROLES,
    ScoredChunks,
    Spent,
    allocate,
    allocation_of,
    boost_reports,
    budget_reports,
    conflict_reports,
    conflicts_of,
    dropped_reports,
    estimate_reports,
    metrics_of,
    now_of,
    optimization_reports,
    reallocate,
    score_allocations,
    score_business,
    score_chunks,
    scoring_reports,
    spend,
)
from foveal.operations.registry import Done, Operation, Shape, Worked
from foveal.pipeline.kinds import PROMPTS, RAG
from foveal.pipeline.values import Unit
from foveal.presets.omar.events import FAILED, SUCCESS
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
    user_id: Name
    session_id: Name | None = None
    """The session that the events and the record belong to."""


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


def optimize(request: OptimizeRequest, numbers: OmarNumbers) -> Worked[OptimizeResult]:
    """Keep the chunks with the highest priority that fit, in their original order."""
    return _optimize(request, score_chunks(request.chunks, request, numbers), numbers)


def _optimize(request: OptimizeRequest, scored: ScoredChunks, numbers: OmarNumbers) -> Worked[OptimizeResult]:
    """Select among these chunks of the request."""
    spent = spend(scored.units, request.available_tokens, request.constraints, numbers)
    in_order = sorted(spent.placed, key=lambda unit: (unit.items[0].index, unit.turn))
    result = OptimizeResult(
        optimized_chunks=[request.chunks[unit.turn] for unit in in_order],
        total_tokens_used=spent.used,
        tokens_remaining=spent.remaining,
        chunks_dropped=len(spent.dropped),
        optimization_metrics=metrics_of(spent.placed, spent.gap),
        allocations=allocate(spent.placed, request.chunks, numbers),
        dropped=[unit.items[0].id for unit in spent.dropped],
        conflicts=conflicts_of(spent.pick, scored.units),
        optimization_id=_id(request),
    )
    return Worked(result, (request, scored))


def _id(request: OptimizeRequest) -> str:
    """A hash of the request: equal requests have the same id."""
    plain = json.dumps(request.model_dump(mode="json"), sort_keys=True)
    return hashlib.sha256(plain.encode()).hexdigest()[:32]


class PrioritizeRequest(ScoringRequest):
    chunks: Chunks


class AllocationsResult(Shape):
    allocations: list[Allocation]


def prioritize(request: PrioritizeRequest, numbers: OmarNumbers) -> Worked[AllocationsResult]:
    """Every chunk with the parts of its priority, in the order of selection."""
    scored = score_chunks(request.chunks, request, numbers)
    order = ranked(scored.units, terms_of(scored.numbers))
    allocations = allocate(order, request.chunks, numbers, boosts=True)
    return Worked(AllocationsResult(allocations=allocations), scored)


class MetricsRequest(ScoringRequest):
    allocations: Allocations


def calculate_metrics(request: MetricsRequest, numbers: OmarNumbers) -> Metrics:
    """Means over the allocations; boosts that they lack are calculated from metadata and time."""
    return metrics_of(score_allocations(request.allocations, numbers, request), None)


class ChatMessage(Shape):
    role: str
    content: str


class BuildResult(OptimizeResult):
    messages: list[ChatMessage]


def build_llm(request: OptimizeRequest, numbers: OmarNumbers) -> Worked[BuildResult]:
    """The messages of all chunks, in their original order."""
    return _build(optimize(request, numbers))


def build_business(request: OptimizeRequest, numbers: OmarNumbers) -> Worked[BuildResult]:
    """The messages of the prompts and of the chunks with business fields of their own."""
    return _build(_optimize(request, score_business(request.chunks, request, numbers), numbers))


def build_rag(request: OptimizeRequest, numbers: OmarNumbers) -> Worked[BuildResult]:
    """The messages in the order system prompt, retrieved material, history, current prompt."""
    return _build(optimize(request, numbers), order=_rag_order)


def _rag_order(chunk: Chunk) -> int:
    if chunk.type in PROMPTS:
        return 0 if chunk.type == "system_prompt" else 3
    return 1 if chunk.type in RAG else 2


def _build(done: Worked[OptimizeResult], order: Callable[[Chunk], int] = lambda _: 0) -> Worked[BuildResult]:
    result = done.result
    messages = [
        ChatMessage(role=ROLES.get(chunk.type, "user"), content=chunk.content)
        for chunk in sorted(result.optimized_chunks, key=order)
    ]
    built = BuildResult(
        messages=messages, **{name: getattr(result, name) for name in OptimizeResult.model_fields}
    )
    return Worked(built, done.work)


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


def resolve_budget(request: BudgetRequest, numbers: OmarNumbers) -> BudgetResult:
    """Spend the budget on allocations that state their priorities."""
    units, spent = _spend(request, numbers)
    return BudgetResult(
        allocated=_allocated(request, spent),
        dropped=_dropped(request, spent),
        conflicts=conflicts_of(spent.pick, units),
        tokens_used=spent.used,
        tokens_remaining=spent.remaining,
    )


def detect_conflicts(request: BudgetRequest, numbers: OmarNumbers) -> ConflictsResult:
    units, spent = _spend(request, numbers)
    return ConflictsResult(conflicts=conflicts_of(spent.pick, units))


def filter_allocated(request: BudgetRequest, numbers: OmarNumbers) -> AllocationsResult:
    return AllocationsResult(allocations=_allocated(request, _spend(request, numbers)[1]))


def filter_dropped(request: BudgetRequest, numbers: OmarNumbers) -> AllocationsResult:
    return AllocationsResult(allocations=_dropped(request, _spend(request, numbers)[1]))


def _spend(request: BudgetRequest, numbers: OmarNumbers) -> tuple[list[Unit], Spent]:
    units = score_allocations(request.allocations, numbers)
    return units, spend(units, request.available_tokens, request.constraints, numbers)


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


def chunk_to_allocation(request: ChunkToAllocationRequest, numbers: OmarNumbers) -> Worked[AllocationResult]:
    scored = score_chunks([request.chunk], request, numbers)
    allocation = allocation_of(scored.units[0], request.position, request.chunk, numbers)
    return Worked(AllocationResult(allocation=allocation), scored)


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
    pair = score_allocations([request.a, request.b], OmarNumbers())
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


def estimate_tokens(request: EstimateRequest, numbers: OmarNumbers) -> EstimateResult:
    """Estimate with the given content type, or else the detected one."""
    return _estimate(request.text, request.content_type or content_of(request.text), numbers)


def estimate_as(content: Content) -> Callable[[EstimateRequest, OmarNumbers], EstimateResult]:
    """Estimate with the given content type, or else this one."""

    def run(request: EstimateRequest, numbers: OmarNumbers) -> EstimateResult:
        return _estimate(request.text, request.content_type or content, numbers)

    return run


def _estimate(text: str, content: Content, numbers: OmarNumbers) -> EstimateResult:
    density = numbers.densities[content]
    return EstimateResult(tokens=estimate(text, density), density=density)


class BoostRequest(ScoringRequest):
    chunk: Chunk


class BoostResult(Shape):
    boost: float
    parts: dict[str, float]


def recency_boost(request: BoostRequest, numbers: OmarNumbers) -> Worked[BoostResult]:
    scored = score_chunks([request.chunk], request, numbers)
    timestamp = scored.units[0].items[0].timestamp
    parts = {} if timestamp is None else {"age_days": age(timestamp, now_of(request)) / DAY}
    return _boosted("recency", scored, parts)


def business_boost(request: BoostRequest, numbers: OmarNumbers) -> Worked[BoostResult]:
    scored = score_chunks([request.chunk], request, numbers)
    fields = business_fields(scored.units[0].items[0].metadata)
    return _boosted("business", scored, business_parts(fields, numbers))


def rag_boost(request: BoostRequest, numbers: OmarNumbers) -> Worked[BoostResult]:
    scored = score_chunks([request.chunk], request, numbers)
    return _boosted("rag", scored, {"relevance": relevance(scored.units[0].items[0].metadata)})


def _boosted(boost: str, scored: ScoredChunks, parts: Mapping[str, float]) -> Worked[BoostResult]:
    return Worked(BoostResult(boost=scored.units[0].score.parts[boost], parts=dict(parts)), scored)


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
_EVENTS: Mapping[str, Callable[[Done], Reports]] = {
    "optimize": optimization_reports,
    "prioritize": scoring_reports,
    "allocate_budget": budget_reports,
    "estimate_tokens": estimate_reports,
    "estimate_business": estimate_reports,
    "estimate_code": estimate_reports,
    "estimate_general": estimate_reports,
    "chunk_to_allocation": scoring_reports,
    "resolve_budget": budget_reports,
    "calculate_recency_boost": partial(boost_reports, "recency"),
    "calculate_business_boost": partial(boost_reports, "business"),
    "calculate_rag_boost": partial(boost_reports, "rag"),
    "detect_conflicts": conflict_reports,
    "filter_dropped": dropped_reports,
    "build_business": optimization_reports,
    "build_llm": optimization_reports,
    "build_rag": optimization_reports,
}
"""The design has no events for the other four operations."""
_RECORDED = {"record": SUCCESS, "on_failure": FAILED}
OPERATIONS = tuple(
    Operation(
        f"context_{name}",
        about,
        run,
        code,
        _EVENTS.get(name),
        **(_RECORDED if name == "optimize" or name.startswith("build_") else {}),
    )
    for name, code, about, run in _TABLE
)
