"""Chunks and a budget in → the ones to keep, why, and the messages to send: the main operations of omar."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence

from foveal.operations.allocating import (
    ROLES,
    conflicts_of,
    laid,
    metrics_of,
    numbers_of,
    reweighed,
    spend,
    weighed,
)
from foveal.operations.chunks import (
    Allocation,
    Allocations,
    Chunk,
    Chunks,
    Conflicting,
    Id,
    Metrics,
    Tokens,
    Weighing,
)
from foveal.operations.registry import Events, Operation, Shape
from foveal.pipeline.kinds import PROMPTS, RAG
from foveal.pipeline.optimization import Optimization, optimization_events
from foveal.pipeline.score.business import business_fields
from foveal.pipeline.select.omar import terms_of
from foveal.pipeline.select.terms import ranked
from foveal.pipeline.values import Unit


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


OPERATIONS: tuple[Operation, ...] = (
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
