"""Allocations in → which of them a budget holds, how two compare, and the chunks behind them."""

from __future__ import annotations

from typing import Literal

from foveal.errors import NotFoundError
from foveal.operations.allocating import Spent, allocation_of, conflicts_of, relaid, reweighed, spend, weighed
from foveal.operations.chunks import (
    Allocation,
    Allocations,
    Asked,
    Chunk,
    Chunks,
    Conflicting,
    Constraints,
    Tokens,
    Weighing,
)
from foveal.operations.registry import Operation, Shape
from foveal.pipeline.select.terms import Terms, ranked
from foveal.pipeline.values import Unit


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


OPERATIONS: tuple[Operation, ...] = (
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
