"""Describe an optimization as the events of the `omar` preset.

The session emits them, or `context.optimization.failed` if the optimization failed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from foveal.pipeline.values import Item, Pick, Unit
from foveal.presets.omar.score import OmarNumbers, business_fields, business_parts

Payload = Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Optimization:
    """One successful optimization."""

    id: str
    units: Sequence[Unit]
    scores: Sequence[tuple[Item, Mapping[str, float]]]
    """Every item, with the parts of its priority."""
    pick: Pick
    available: int
    used: int
    remaining: int
    estimated: Mapping[str, int]
    """By id, the tokens of items that were estimated instead of counted."""


def optimization_events(done: Optimization, numbers: OmarNumbers) -> list[tuple[str, Payload]]:
    """Names and payloads, in the order in which things happened."""
    kept = [item for unit in done.units if unit.turn in done.pick.kept for item in unit.items]
    dropped = [item for unit in done.units if unit.turn not in done.pick.kept for item in unit.items]
    chunks = len(kept) + len(dropped)
    return [
        (
            "context.optimization.started",
            {
                "optimization_id": done.id,
                "chunks_count": chunks,
                "tokens_available": done.available,
            },
        ),
        *_estimated(done.estimated),
        ("context.allocations_created", {"count": chunks}),
        *_boosts(done, numbers),
        (
            "context.budget.resolved",
            {
                "allocated_count": len(kept),
                "dropped_count": len(dropped),
                "tokens_used": done.used,
                "tokens_remaining": done.remaining,
            },
        ),
        *_losses(done, dropped),
        (
            "context.optimization.success",
            {"optimization_id": done.id, "tokens_used": done.used, "chunks_optimized": len(kept)},
        ),
    ]


def _estimated(tokens: Mapping[str, int]) -> list[tuple[str, Payload]]:
    entries = [{"chunk_id": id, "tokens": count} for id, count in tokens.items()]
    return [("context.tokens_estimated", {"chunks": entries})] if entries else []


def _boosts(done: Optimization, numbers: OmarNumbers) -> list[tuple[str, Payload]]:
    """One event per boost, with one entry per boosted chunk."""
    boosts: Mapping[str, Callable[[Item], Payload]] = {
        "recency": lambda item: {"timestamp": item.timestamp},
        "business": lambda item: _business(item, numbers),
        "rag": lambda _: {},
    }
    found: list[tuple[str, Payload]] = []
    for boost, details in boosts.items():
        entries = [
            {"chunk_id": item.id, "total_boost": parts[boost], **details(item)}
            for item, parts in done.scores
            if parts.get(boost)
        ]
        if entries:
            found.append((f"context.{boost}_boost_applied", {"chunks": entries}))
    return found


def _business(item: Item, numbers: OmarNumbers) -> Payload:
    parts = business_parts(business_fields(item.metadata), numbers)
    return {
        "revenue_boost": parts["revenue_impact"],
        "urgency_boost": parts["urgency"],
        "client_tier_boost": parts["client_tier"],
    }


def _losses(done: Optimization, dropped: Sequence[Item]) -> list[tuple[str, Payload]]:
    ids = {unit.turn: unit.items[0].id for unit in done.units}
    found: list[tuple[str, Payload]] = []
    if dropped:
        entries = [item.id for item in dropped]
        found.append(("context.chunks_dropped", {"count": len(entries), "chunk_ids": entries}))
    if done.pick.conflicts:
        conflicts = [
            {
                "chunk1": ids[each.chunk1],
                "chunk2": ids[each.chunk2],
                "conflict_type": each.type,
                "resolution": each.resolution,
            }
            for each in done.pick.conflicts
        ]
        found.append(("context.conflict_detected", {"conflicts": conflicts}))
    return found
