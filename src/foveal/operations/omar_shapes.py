"""The shapes of chunks and allocations, as every surface speaks them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, FiniteFloat, StringConstraints

from foveal.model import Kind
from foveal.operations.registry import Shape
from foveal.wire.times import seconds

Tokens = Annotated[int, Field(ge=0, le=10**12)]
Priority = Annotated[FiniteFloat, Field(ge=-1e9, le=1e9)]
Total = Annotated[FiniteFloat, Field(ge=-2e9, le=2e9)]
"""A priority with its boosts."""
Id = Annotated[str, StringConstraints(min_length=1)]
Group = Literal["overall", "history", "business_data", "client_data", "rag_results", "system_prompt"]


def _or_empty(value: object) -> object:
    return {} if value is None else value


Free = Annotated[dict[str, Any], BeforeValidator(_or_empty)]
"""Any fields, in any number."""


def _is_time(value: float | str | None) -> float | str | None:
    if value is not None and seconds(value) is None:
        raise ValueError(
            "not a time: give seconds since 1970 or an ISO 8601 text such as 2025-01-31T09:30:00Z"
        )
    return value


Time = Annotated[
    Annotated[int, Field(ge=-(10**15), le=10**15)] | FiniteFloat | str | None, AfterValidator(_is_time)
]
"""Seconds since 1970 or ISO 8601, kept as it came."""


def _missing(value: object) -> bool:
    return value is None


def _optional() -> Any:
    """A field that is left out of the answer when it was left out of the request."""
    return Field(default=None, exclude_if=_missing)


class Chunk(Shape):
    id: Id
    content: str
    type: Kind
    tokens: Tokens | None = _optional()
    priority: Priority | None = _optional()
    """Stands in place of the priority of its type."""
    timestamp: Time = _optional()
    original_index: int | None = _optional()
    source_system: str | None = _optional()
    metadata: dict[str, Any] | None = _optional()


class Boosts(Shape):
    base: float
    recency: float
    rag: float
    business: float


class Allocation(Shape):
    """A chunk's place in token space."""

    chunk_id: Id
    token_span: tuple[int, int] = (0, 0)
    tokens: Tokens
    priority: Total
    chunk_type: Kind
    timestamp: Time = None
    original_index: int | None = None
    flags: tuple[str, ...] = ()
    metadata: Free = Field(default_factory=dict)
    boosts: Boosts | None = _optional()


class Constraints(Shape):
    max_total_tokens: Tokens | None = None
    reserve_tokens: Tokens | None = None
    priority_thresholds: dict[Kind, Priority] = Field(default_factory=dict)
    prefer_recent: bool = True
    prefer_higher_priority: bool = True
    allow_partial_fill: bool = True
    group_caps: dict[Group, Tokens | None] = Field(default_factory=dict)
    """A cap of null is the usual one for its group."""
    recency: Literal["linear", "exponential"] = "linear"
    solver: Literal["greedy", "exact"] = "greedy"


Asked = Annotated[Constraints, BeforeValidator(_or_empty)]


def _distinct(chunks: list[Chunk]) -> list[Chunk]:
    seen: dict[str, int] = {}
    for place, chunk in enumerate(chunks):
        if seen.setdefault(chunk.id, place) != place:
            raise ValueError(f"{place}.id is {chunk.id!r}, which is the id of {seen[chunk.id]} already")
    return chunks


def _distinct_allocations(allocations: list[Allocation]) -> list[Allocation]:
    seen: dict[str, int] = {}
    for place, each in enumerate(allocations):
        if seen.setdefault(each.chunk_id, place) != place:
            first = seen[each.chunk_id]
            raise ValueError(f"{place}.chunk_id is {each.chunk_id!r}, which is that of {first} already")
    return allocations


Chunks = Annotated[list[Chunk], AfterValidator(_distinct)]
Allocations = Annotated[list[Allocation], AfterValidator(_distinct_allocations)]


class Weighing(Shape):
    """What a priority depends on beside the chunk itself."""

    business_context: Free = Field(default_factory=dict)
    constraints: Asked = Constraints()
    now: Time = None
    """Without it, nothing has an age."""


class Conflicting(Shape):
    chunk1: str
    chunk2: str
    conflict_type: Literal["budget_exceeded", "priority_conflict"]
    resolution: Literal["keep_chunk1", "keep_chunk2", "drop_both"]


class Metrics(Shape):
    prioritization_score: float
    business_relevance_boost: float
    recency_boost: float
    optimality_gap: float | None
    """The share of the fractional bound that is missing; null where what was left out is not known."""
