"""The 21 operations over chunks in token space, each by its name and by its code.

Chunks and a budget in → the ones to keep, why, and the messages to send: the main operations of omar.

Allocations in → which of them a budget holds, how two compare, and the chunks behind them.

A text or a chunk in → estimated tokens, or one boost of its priority with the parts it is made of.
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
    Asked,
    Chunk,
    Chunks,
    Conflicting,
    Constraints,
    Id,
    Metrics,
    Tokens,
    Weighing,
)
from foveal.operations.omar_units import (
    ROLES,
    Spent,
    allocation_of,
    conflicts_of,
    laid,
    metrics_of,
    now_of,
    numbers_of,
    relaid,
    reweighed,
    spend,
    weighed,
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
from foveal.presets.recency import DAY, age


class Optimize(Weighing):
    chunks: Chunks
    available_tokens: Tokens
    user_id: Id
    session_id: str | None = None


class Optimized(Shape):
    optimized_chunks: list[Chunk]
    total_tokens_used: int
    tokens_remaining: int
    chunks_dropped: int
    optimization_metrics: Metrics
    allocations: list[Allocation]
    dropped: list[str]
    conflicts: list[Conflicting]
    optimization_id: str


def optimize(request: Optimize) -> Optimized:
    """Keep the chunks of the highest priority that fit, in their original order."""
    return _optimized(request, weighed(request.chunks, request))


def _optimized(request: Optimize, units: Sequence[Unit]) -> Optimized:
    """Choose among these units of the request."""
    spent = spend(units, request.available_tokens, request.constraints)
    in_order = sorted(spent.placed, key=lambda unit: (unit.items[0].index, unit.turn))
    return Optimized(
        optimized_chunks=[request.chunks[unit.turn] for unit in in_order],
        total_tokens_used=spent.used,
        tokens_remaining=spent.remaining,
        chunks_dropped=len(spent.dropped),
        optimization_metrics=metrics_of(spent.placed, spent.gap),
        allocations=laid(spent.placed, request.chunks),
        dropped=[unit.items[0].id for unit in spent.dropped],
        conflicts=conflicts_of(spent.pick, units),
        optimization_id=_hash(request),
    )


def _hash(request: Optimize) -> str:
    """The same request always has the same id."""
    plain = json.dumps(request.model_dump(mode="json"), sort_keys=True)
    return hashlib.sha256(plain.encode()).hexdigest()[:32]


def events_of(request: Optimize) -> Events:
    """What a shell that optimizes all chunks of the request tells its subscribers."""
    return _events(request, weighed(request.chunks, request))


def _events(request: Optimize, units: Sequence[Unit]) -> Events:
    spent = spend(units, request.available_tokens, request.constraints)
    done = Optimization(
        id=_hash(request),
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
    return optimization_events(done, numbers_of(request.constraints))


class Prioritize(Weighing):
    chunks: Chunks


class Prioritized(Shape):
    allocations: list[Allocation]


def prioritize(request: Prioritize) -> Prioritized:
    """Every chunk with its priority by part, in the order of selection."""
    order = ranked(weighed(request.chunks, request), terms_of(numbers_of(request.constraints)))
    return Prioritized(allocations=laid(order, request.chunks, boosts=True))


class Measure(Weighing):
    allocations: Allocations


def calculate_metrics(request: Measure) -> Metrics:
    """Means over the allocations; boosts that they do not carry are worked out from metadata and time."""
    return metrics_of(reweighed(request.allocations, request), None)


class Said(Shape):
    role: str
    content: str


class Built(Optimized):
    messages: list[Said]


def build_llm(request: Optimize) -> Built:
    """Of all chunks, in their original order."""
    return _built(optimize(request))


def build_business(request: Optimize) -> Built:
    """Of the prompts and the chunks that carry a business field themselves."""
    return _built(_optimized(request, _business(request)))


def business_events(request: Optimize) -> Events:
    """What a shell that runs `context_build_business` tells its subscribers."""
    return _events(request, _business(request))


def _business(request: Optimize) -> list[Unit]:
    """Weighed among all chunks, so that each keeps its place in the request."""
    return [unit for unit in weighed(request.chunks, request) if _is_business(request.chunks[unit.turn])]


def _is_business(chunk: Chunk) -> bool:
    return chunk.type in PROMPTS or bool(business_fields(chunk.metadata or {}))


def build_rag(request: Optimize) -> Built:
    """Of all chunks, in the order system prompt, retrieved material, history, current prompt."""
    return _built(optimize(request), place=_rag_place)


def _rag_place(chunk: Chunk) -> int:
    if chunk.type in PROMPTS:
        return 0 if chunk.type == "system_prompt" else 3
    return 1 if chunk.type in RAG else 2


def _built(result: Optimized, place: Callable[[Chunk], int] = lambda _: 0) -> Built:
    messages = [
        Said(role=ROLES.get(chunk.type, "user"), content=chunk.content)
        for chunk in sorted(result.optimized_chunks, key=place)
    ]
    return Built(messages=messages, **{name: getattr(result, name) for name in Optimized.model_fields})


_OPTIMIZING: tuple[Operation, ...] = (
    Operation(
        name="context_optimize",
        code="0x3200",
        about="choose the chunks that a token budget holds, and say why",
        request=Optimize,
        result=Optimized,
        run=optimize,
        events=events_of,
    ),
    Operation(
        name="context_prioritize",
        code="0x3201",
        about="the priority of every chunk by part, in the order of selection",
        request=Prioritize,
        result=Prioritized,
        run=prioritize,
    ),
    Operation(
        name="context_calculate_metrics",
        code="0x3203",
        about="mean priority and boosts of a set of allocations",
        request=Measure,
        result=Metrics,
        run=calculate_metrics,
    ),
    Operation(
        name="context_build_business",
        code="0x3250",
        about="optimize the prompts and the chunks with business fields, as messages",
        request=Optimize,
        result=Built,
        run=build_business,
        events=business_events,
    ),
    Operation(
        name="context_build_llm",
        code="0x3251",
        about="optimize all chunks, as messages in their original order",
        request=Optimize,
        result=Built,
        run=build_llm,
        events=events_of,
    ),
    Operation(
        name="context_build_rag",
        code="0x3252",
        about="optimize all chunks, as messages with retrieved material before the history",
        request=Optimize,
        result=Built,
        run=build_rag,
        events=events_of,
    ),
)


class Resolve(Shape):
    allocations: Allocations
    available_tokens: Tokens
    constraints: Asked = Constraints()


class Resolved(Shape):
    allocated: list[Allocation]
    dropped: list[Allocation]
    conflicts: list[Conflicting]
    tokens_used: int
    tokens_remaining: int


class Conflicts(Shape):
    conflicts: list[Conflicting]


class Filtered(Shape):
    allocations: list[Allocation]


def resolve_budget(request: Resolve) -> Resolved:
    """Spend the budget on allocations whose priorities are known."""
    units, spent = _spent(request)
    return Resolved(
        allocated=_allocated(request, spent),
        dropped=[request.allocations[unit.turn] for unit in spent.dropped],
        conflicts=conflicts_of(spent.pick, units),
        tokens_used=spent.used,
        tokens_remaining=spent.remaining,
    )


def detect_conflicts(request: Resolve) -> Conflicts:
    units, spent = _spent(request)
    return Conflicts(conflicts=conflicts_of(spent.pick, units))


def filter_allocated(request: Resolve) -> Filtered:
    return Filtered(allocations=_allocated(request, _spent(request)[1]))


def filter_dropped(request: Resolve) -> Filtered:
    return Filtered(allocations=[request.allocations[unit.turn] for unit in _spent(request)[1].dropped])


def _spent(request: Resolve) -> tuple[list[Unit], Spent]:
    units = reweighed(request.allocations)
    return units, spend(units, request.available_tokens, request.constraints)


def _allocated(request: Resolve, spent: Spent) -> list[Allocation]:
    return relaid([request.allocations[unit.turn] for unit in spent.placed])


class ToAllocation(Weighing):
    chunk: Chunk
    position: Tokens = 0
    """Where its token span starts."""


class OneAllocation(Shape):
    allocation: Allocation


def chunk_to_allocation(request: ToAllocation) -> OneAllocation:
    (unit,) = weighed([request.chunk], request)
    return OneAllocation(allocation=allocation_of(unit, request.position, request.chunk.timestamp))


class ToChunk(Shape):
    allocation: Allocation
    chunks: Chunks


class OneChunk(Shape):
    chunk: Chunk


def allocation_to_chunk(request: ToChunk) -> OneChunk:
    wanted = request.allocation.chunk_id
    for chunk in request.chunks:
        if chunk.id == wanted:
            return OneChunk(chunk=chunk)
    raise NotFoundError(
        f"`allocation.chunk_id` is {wanted!r}; none of the {len(request.chunks)} `chunks` has that id",
        remedy="put the chunk among `chunks`",
    )


class Compare(Shape):
    a: Allocation
    b: Allocation


class Compared(Shape):
    order: Literal[-1, 0, 1]
    """-1 when `a` goes first, 1 when `b` does, 0 when nothing tells them apart."""
    because: str


def compare_allocations(request: Compare) -> Compared:
    """The order of selection between two."""
    pair = reweighed([request.a, request.b])
    reason = _difference(*pair)
    if reason:
        return Compared(order=-1 if ranked(pair, Terms())[0].turn == 0 else 1, because=reason)
    return _by_place(request.a.original_index, request.b.original_index)


def _by_place(a: int | None, b: int | None) -> Compared:
    """The earlier goes first; where they stand in the request says nothing of it."""
    if a == b:
        same = "no original index" if a is None else "same original index"
        return Compared(order=0, because=f"same priority, same time, {same}")
    if a is None or b is None:
        because = "same priority and time, only one has an original index"
        return Compared(order=1 if a is None else -1, because=because)
    because = f"same priority and time, original index {a} against {b}"
    return Compared(order=-1 if a < b else 1, because=because)


def _difference(a: Unit, b: Unit) -> str:
    """The priority or the time in which they differ."""
    if a.score.total != b.score.total:
        return f"priority {a.score.total:.1f} against {b.score.total:.1f}"
    first, second = a.items[0], b.items[0]
    if first.timestamp != second.timestamp:
        both = first.timestamp is not None and second.timestamp is not None
        return "same priority, the newer goes first" if both else "same priority, only one has a time"
    return ""


_ALLOCATIONS: tuple[Operation, ...] = (
    Operation(
        name="context_allocate_budget",
        code="0x3202",
        about="spend a token budget on allocations",
        request=Resolve,
        result=Resolved,
        run=resolve_budget,
    ),
    Operation(
        name="context_chunk_to_allocation",
        code="0x3220",
        about="a chunk as an allocation, with its priority and flags",
        request=ToAllocation,
        result=OneAllocation,
        run=chunk_to_allocation,
    ),
    Operation(
        name="context_allocation_to_chunk",
        code="0x3221",
        about="the chunk behind an allocation",
        request=ToChunk,
        result=OneChunk,
        run=allocation_to_chunk,
    ),
    Operation(
        name="context_compare_allocations",
        code="0x3222",
        about="which of two allocations is offered room first, and why",
        request=Compare,
        result=Compared,
        run=compare_allocations,
    ),
    Operation(
        name="context_resolve_budget",
        code="0x3223",
        about="spend a token budget on allocations",
        request=Resolve,
        result=Resolved,
        run=resolve_budget,
    ),
    Operation(
        name="context_detect_conflicts",
        code="0x3240",
        about="the allocations that a token budget cannot hold beside each other",
        request=Resolve,
        result=Conflicts,
        run=detect_conflicts,
    ),
    Operation(
        name="context_filter_allocated",
        code="0x3241",
        about="the allocations that a token budget holds",
        request=Resolve,
        result=Filtered,
        run=filter_allocated,
    ),
    Operation(
        name="context_filter_dropped",
        code="0x3242",
        about="the allocations that a token budget does not hold",
        request=Resolve,
        result=Filtered,
        run=filter_dropped,
    ),
)


class Estimate(Shape):
    text: str
    content_type: Content | None = None


class Estimated(Shape):
    tokens: int
    density: float


def estimate_tokens(request: Estimate) -> Estimated:
    """The density of the type that is given, or else detected."""
    return _estimated(request.text, request.content_type or content_of(request.text))


def estimate_business(request: Estimate) -> Estimated:
    return _estimated(request.text, request.content_type or "business")


def estimate_code(request: Estimate) -> Estimated:
    return _estimated(request.text, request.content_type or "code")


def estimate_general(request: Estimate) -> Estimated:
    return _estimated(request.text, request.content_type or "general")


def _estimated(text: str, content: Content) -> Estimated:
    density = OmarNumbers().densities[content]
    return Estimated(tokens=estimate(text, density), density=density)


class Weigh(Weighing):
    chunk: Chunk


class Boost(Shape):
    boost: float
    parts: dict[str, float]


def recency_boost(request: Weigh) -> Boost:
    (unit,) = weighed([request.chunk], request)
    stamp = unit.items[0].timestamp
    parts = {} if stamp is None else {"age_days": age(stamp, now_of(request)) / DAY}
    return Boost(boost=unit.score.parts["recency"], parts=parts)


def business_boost(request: Weigh) -> Boost:
    (unit,) = weighed([request.chunk], request)
    fields = business_fields(unit.items[0].metadata)
    parts = business_parts(fields, numbers_of(request.constraints))
    return Boost(boost=unit.score.parts["business"], parts=parts)


def rag_boost(request: Weigh) -> Boost:
    (unit,) = weighed([request.chunk], request)
    return Boost(boost=unit.score.parts["rag"], parts={"relevance": relevance(unit.items[0].metadata)})


_BOOSTING: tuple[Operation, ...] = (
    Operation(
        name="context_estimate_tokens",
        code="0x3210",
        about="estimate a text's tokens by the density of its type, detected unless given",
        request=Estimate,
        result=Estimated,
        run=estimate_tokens,
    ),
    Operation(
        name="context_estimate_business",
        code="0x3211",
        about="estimate the tokens of business prose: 4.2 characters each",
        request=Estimate,
        result=Estimated,
        run=estimate_business,
    ),
    Operation(
        name="context_estimate_code",
        code="0x3212",
        about="estimate the tokens of code: 3.5 characters each",
        request=Estimate,
        result=Estimated,
        run=estimate_code,
    ),
    Operation(
        name="context_estimate_general",
        code="0x3213",
        about="estimate the tokens of general text: 3.8 characters each",
        request=Estimate,
        result=Estimated,
        run=estimate_general,
    ),
    Operation(
        name="context_calculate_recency_boost",
        code="0x3230",
        about="what a chunk's age adds to its priority",
        request=Weigh,
        result=Boost,
        run=recency_boost,
    ),
    Operation(
        name="context_calculate_business_boost",
        code="0x3231",
        about="what a chunk's business fields add to its priority",
        request=Weigh,
        result=Boost,
        run=business_boost,
    ),
    Operation(
        name="context_calculate_rag_boost",
        code="0x3232",
        about="what a chunk's match in retrieval adds to its priority",
        request=Weigh,
        result=Boost,
        run=rag_boost,
    ),
)


OPERATIONS: tuple[Operation, ...] = (
    *_OPTIMIZING,
    *_ALLOCATIONS,
    *_BOOSTING,
)
