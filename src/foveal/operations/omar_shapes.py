"""Chunks, allocations and constraints as requests and results of the `context_*` operations."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    FiniteFloat,
    StrictBool,
    StringConstraints,
)

from foveal.model import PRIORITY_MOST, Kind
from foveal.operations.registry import NOT_A_TIME, Shape
from foveal.validation import LARGEST, Few, Many, Series
from foveal.wire.times import seconds

Tokens = Annotated[int, Field(strict=True, ge=0, le=LARGEST)]
Priority = Annotated[FiniteFloat, Field(strict=True, ge=-1e9, le=1e9)]
OwnPriority = Annotated[FiniteFloat, Field(strict=True, ge=0, le=PRIORITY_MOST)]
Total = Annotated[FiniteFloat, Field(strict=True, ge=-2e9, le=2e9)]
"""A priority with its boosts."""
Id = Annotated[str, StringConstraints(min_length=1)]
Name = Annotated[str, StringConstraints(min_length=1, max_length=500)]
Index = Annotated[int, Field(strict=True, ge=-LARGEST, le=LARGEST)]
Group = Literal["overall", "history", "business_data", "client_data", "rag_results", "system_prompt"]


def _or_empty(value: object) -> object:
    return {} if value is None else value


def _finite(fields: dict[str, Any]) -> dict[str, Any]:
    left: list[object] = [*fields.values()]
    while left:
        match left.pop():
            case dict() as value:
                left += value.values()
            case list() as value:
                left += value
            case float() as value if not isfinite(value):
                raise ValueError(f"{value} is no number of JSON")
    return fields


Fields = Annotated[dict[str, Any], AfterValidator(_finite)]
"""Any fields."""
Metadata = Annotated[Fields, BeforeValidator(_or_empty)]
"""Any fields; null means none."""


def _is_time(value: object) -> object:
    if value is not None and seconds(value) is None:
        raise ValueError(NOT_A_TIME)
    return value


Timestamp = Annotated[
    Annotated[int, Field(strict=True, ge=-(10**15), le=10**15)] | FiniteFloat | str | None,
    BeforeValidator(_is_time),
]
"""Seconds since 1970 or ISO 8601, returned as it was given."""


def _is_none(value: object) -> bool:
    return value is None


def _optional() -> Any:
    """A field that is missing from the result if it is missing from the request."""
    return Field(default=None, exclude_if=_is_none)


class Chunk(Shape):
    id: Id
    content: str
    type: Kind
    tokens: Tokens | None = _optional()
    priority: OwnPriority | None = _optional()
    """Replaces the priority of its type."""
    timestamp: Timestamp = _optional()
    original_index: Index | None = _optional()
    source_system: str | None = _optional()
    metadata: Fields | None = _optional()


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
    timestamp: Timestamp = None
    original_index: Index | None = None
    flags: Series[str] = ()
    metadata: Metadata = Field(default_factory=dict)
    boosts: Boosts | None = _optional()


class Constraints(Shape):
    max_total_tokens: Tokens | None = None
    reserve_tokens: Tokens | None = None
    priority_thresholds: Annotated[dict[Kind, Priority], Few] = Field(default_factory=dict)
    prefer_recent: StrictBool = True
    prefer_higher_priority: StrictBool = True
    allow_partial_fill: StrictBool = True
    group_caps: Annotated[dict[Group, Tokens | None], Few] = Field(default_factory=dict)
    """A cap of null is the default cap of its group."""
    recency: Literal["linear", "exponential"] = "linear"
    solver: Literal["greedy", "exact"] = "greedy"


ConstraintsOrNull = Annotated[Constraints, BeforeValidator(_or_empty)]


def _unique_chunks(chunks: list[Chunk]) -> list[Chunk]:
    if repeated := _repeated([chunk.id for chunk in chunks]):
        at, first = repeated
        raise ValueError(f"{at}.id is {chunks[at].id!r}, which is the id of {first} already")
    return chunks


def _unique_allocations(allocations: list[Allocation]) -> list[Allocation]:
    if repeated := _repeated([each.chunk_id for each in allocations]):
        at, first = repeated
        raise ValueError(f"{at}.chunk_id is {allocations[at].chunk_id!r}, which is that of {first} already")
    return allocations


def _repeated(ids: Sequence[str]) -> tuple[int, int] | None:
    """The positions of the first id that repeats another, and of that one."""
    seen: dict[str, int] = {}
    return next(((at, seen[id]) for at, id in enumerate(ids) if seen.setdefault(id, at) != at), None)


Chunks = Annotated[Many[Chunk], AfterValidator(_unique_chunks)]
Allocations = Annotated[Many[Allocation], AfterValidator(_unique_allocations)]


class ScoringRequest(Shape):
    """What a priority depends on besides the chunk itself."""

    business_context: Metadata = Field(default_factory=dict)
    constraints: ConstraintsOrNull = Constraints()
    now: Timestamp = None
    """Without it, no chunk has an age."""


class ChunkConflict(Shape):
    chunk1: str
    chunk2: str
    conflict_type: Literal["budget_exceeded", "priority_conflict"]
    resolution: Literal["keep_chunk1", "keep_chunk2", "drop_both"]


class Metrics(Shape):
    prioritization_score: float
    business_relevance_boost: float
    recency_boost: float
    optimality_gap: float | None
    """The missing share of the fractional bound; null if the dropped chunks are not known."""
