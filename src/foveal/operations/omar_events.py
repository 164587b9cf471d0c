"""The events that the `context_*` operations imply, from their requests and results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from foveal.events import Reports
from foveal.operations.omar_units import business_units, constrained, score_chunks
from foveal.operations.registry import Done
from foveal.pipeline.values import Unit
from foveal.presets.omar.events import (
    Optimization,
    Outcome,
    Scored,
    boost_applied,
    budget_events,
    chunks_dropped,
    conflicts_detected,
    optimization_events,
    scoring_events,
    tokens_estimated,
)


def of_optimization(done: Done) -> Reports:
    """All events of optimizing the chunks of the request."""
    return _optimization(done, score_chunks(done.request.chunks, done.request, done.numbers))


def of_business(done: Done) -> Reports:
    """The same for the prompts and the chunks with business fields."""
    return _optimization(done, business_units(done.request.chunks, done.request, done.numbers))


def _optimization(done: Done, units: Sequence[Unit]) -> Reports:
    request, result = done.request, done.result
    optimization = Optimization(
        id=result.optimization_id,
        scores=_scores(units),
        outcome=Outcome(
            allocated=len(result.allocations),
            dropped=result.dropped,
            conflicts=_plain(result.conflicts),
            used=result.total_tokens_used,
            remaining=result.tokens_remaining,
        ),
        available=request.available_tokens,
        estimated=_estimated(units, request.chunks),
        user=request.user_id,
    )
    return optimization_events(optimization, constrained(done.numbers, request.constraints))


def of_scoring(done: Done) -> Reports:
    """Chunks became allocations."""
    request = done.request
    chunks = [request.chunk] if hasattr(request, "chunk") else request.chunks
    units = score_chunks(chunks, request, done.numbers)
    numbers = constrained(done.numbers, request.constraints)
    return scoring_events(_scores(units), numbers, _estimated(units, chunks))


def of_boost(boost: str, done: Done) -> Reports:
    """One boost was calculated for one chunk, be it 0."""
    units = score_chunks([done.request.chunk], done.request, done.numbers)
    return boost_applied(boost, _scores(units), constrained(done.numbers, done.request.constraints))


def of_budget(done: Done) -> Reports:
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


def of_conflicts(done: Done) -> Reports:
    return conflicts_detected(_plain(done.result.conflicts))


def of_dropped(done: Done) -> Reports:
    return chunks_dropped([each.chunk_id for each in done.result.allocations])


def of_estimate(done: Done) -> Reports:
    return tokens_estimated([done.result.model_dump()])


def _scores(units: Sequence[Unit]) -> Scored:
    return [(unit.items[0], unit.score.parts) for unit in units]


def _estimated(units: Sequence[Unit], chunks: Sequence[Any]) -> dict[str, int]:
    return {unit.items[0].id: unit.tokens for unit in units if chunks[unit.turn].tokens is None}


def _plain(conflicts: Sequence[Any]) -> list[dict[str, Any]]:
    return [each.model_dump() for each in conflicts]
