"""Describe what the `omar` preset and its operations did, as the events of its design.

The session and the operations emit them, or `context.optimization.failed` if an optimization failed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import TypeVar

from foveal.events import Reports
from foveal.pipeline.values import Item, Pick, Unit
from foveal.presets.omar.score import OmarNumbers, business_fields, business_parts

T = TypeVar("T")
Payload = Mapping[str, object]
Scored = Sequence[tuple[Item, Mapping[str, float]]]
"""Items, with the parts of their priorities."""
SUCCESS = "context.optimization.success"
"""The record of an optimization."""
FAILED = "context.optimization.failed"
BOOSTS = ("recency", "business", "rag")
LISTED = 20
"""Entries that an event lists at most; it counts them all."""
ENTRY_MOST = 1_000
"""Characters of an entry that is listed: ids are the caller's own and may be as long as texts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a budget was spent on, and what it had no room for."""

    allocated: int
    dropped: Sequence[str]
    """Ids."""
    conflicts: Sequence[Payload]
    used: int
    remaining: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Optimization:
    """One successful optimization."""

    id: str
    scores: Scored
    outcome: Outcome
    available: int
    estimated: Mapping[str, int] = field(default_factory=dict)
    """By id, the tokens of items that were estimated instead of counted."""
    user: str | None = None


def optimization_events(done: Optimization, numbers: OmarNumbers) -> Reports:
    """All events of an optimization; the last one is its record."""
    chunks, outcome = len(done.scores), done.outcome
    started = {"optimization_id": done.id, "chunks_count": chunks, "tokens_available": done.available}
    record = {
        "optimization_id": done.id,
        "tokens_used": outcome.used,
        "chunks_optimized": outcome.allocated,
        "chunks_count": chunks,
        "chunks_dropped": len(outcome.dropped),
        "tokens_available": done.available,
        "user_id": done.user,
    }
    return [
        ("context.optimization.started", started),
        *scoring_events(done.scores, numbers, done.estimated),
        *budget_events(outcome),
        (SUCCESS, record),
    ]


def scoring_events(scores: Scored, numbers: OmarNumbers, estimated: Mapping[str, int]) -> Reports:
    """Chunks became allocations: their tokens, where those were estimated, and their boosts."""
    tokens = [{"chunk_id": id, "tokens": count} for id, count in islice(estimated.items(), LISTED)]
    boosted = ((boost, [each for each in scores if each[1].get(boost)]) for boost in BOOSTS)
    return [
        *(tokens_estimated(tokens, len(estimated)) if tokens else []),
        ("context.allocations_created", {"count": len(scores)}),
        *(event for boost, found in boosted if found for event in boost_applied(boost, found, numbers)),
    ]


def tokens_estimated(entries: Sequence[Payload], count: int) -> Reports:
    """`entries`: the first of `count`."""
    return [("context.tokens_estimated", {"count": count, "chunks": _listed(entries)})]


def boost_applied(boost: str, scores: Scored, numbers: OmarNumbers) -> Reports:
    """One event for these items."""
    details: Mapping[str, Callable[[Item], Payload]] = {
        "recency": lambda item: {"timestamp": item.timestamp},
        "business": lambda item: _business(item, numbers),
        "rag": lambda _: {},
    }
    entries = [
        {"chunk_id": item.id, "total_boost": parts[boost], **details[boost](item)}
        for item, parts in scores[:LISTED]
    ]
    payload = {"count": len(scores), "chunks": _listed(entries)}
    return [(f"context.{boost}_boost_applied", payload)]


def _business(item: Item, numbers: OmarNumbers) -> Payload:
    parts = business_parts(business_fields(item.metadata), numbers)
    return {
        "revenue_boost": parts["revenue_impact"],
        "urgency_boost": parts["urgency"],
        "client_tier_boost": parts["client_tier"],
    }


def budget_events(outcome: Outcome) -> Reports:
    """A budget was spent: on how many chunks, and what it had no room for."""
    resolved = {
        "allocated_count": outcome.allocated,
        "dropped_count": len(outcome.dropped),
        "tokens_used": outcome.used,
        "tokens_remaining": outcome.remaining,
    }
    return [
        ("context.budget.resolved", resolved),
        *chunks_dropped(outcome.dropped),
        *conflicts_detected(outcome.conflicts),
    ]


def chunks_dropped(ids: Sequence[str]) -> Reports:
    return [("context.chunks_dropped", {"count": len(ids), "chunk_ids": _listed(ids)})] if ids else []


def conflicts_detected(conflicts: Sequence[Payload]) -> Reports:
    payload = {"count": len(conflicts), "conflicts": _listed(conflicts)}
    return [("context.conflict_detected", payload)] if conflicts else []


def _listed(entries: Sequence[T]) -> list[T]:
    """The first entries, without those that are too long."""
    return [entry for entry in entries[:LISTED] if len(str(entry)) <= ENTRY_MOST]


def outcome_of(units: Iterable[Unit], pick: Pick, *, used: int, remaining: int) -> Outcome:
    """The outcome of a pick; a conflict names the first message of each turn."""
    units = tuple(units)
    ids = {unit.turn: unit.items[0].id for unit in units}
    return Outcome(
        allocated=sum(len(unit.items) for unit in units if unit.turn in pick.kept),
        dropped=[item.id for unit in units if unit.turn not in pick.kept for item in unit.items],
        conflicts=[
            {
                "chunk1": ids[each.chunk1],
                "chunk2": ids[each.chunk2],
                "conflict_type": each.type,
                "resolution": each.resolution,
            }
            for each in pick.conflicts
        ],
        used=used,
        remaining=remaining,
    )
