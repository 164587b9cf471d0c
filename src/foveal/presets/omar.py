"""Typed chunks with priorities: base, recency, relevance and business; greedy, or the exact optimum."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Sequence
from functools import partial

from foveal.pipeline.optimization import Optimization, optimization_events
from foveal.pipeline.plan.flat import slot_of
from foveal.pipeline.score.omar import OmarNumbers
from foveal.pipeline.score.priority import priorities
from foveal.pipeline.scored import Recipe, Report
from foveal.pipeline.select.bound import fractional_bound, optimality_gap
from foveal.pipeline.select.omar import omar as pick
from foveal.pipeline.select.omar import terms_of
from foveal.pipeline.values import Pick, Scene, Unit
from foveal.presets.base import Preset


def omar(numbers: OmarNumbers) -> Preset:
    return Preset(
        name="omar",
        about="typed chunks by priority, greedy, with conflicts",
        select=Recipe(
            score=partial(priorities, numbers=numbers),
            slot_of=slot_of,
            plan=lambda _items, _scene: (),
            pick=lambda units, room, _slots: pick(units, room, numbers),
            report=partial(_report, numbers),
        ),
        looks_at_all=True,
    )


def _report(numbers: OmarNumbers, units: Sequence[Unit], pick: Pick, scene: Scene) -> Report:
    """The metrics and the events of an optimization."""
    kept = [unit for unit in units if unit.turn in pick.kept]
    chosen = [unit for unit in kept if not unit.forced]
    used = sum(unit.tokens for unit in kept)
    room = scene.budget - sum(unit.tokens for unit in kept if unit.forced)
    gap = optimality_gap(
        math.fsum(unit.score.total for unit in chosen), fractional_bound(units, room, terms_of(numbers))
    )
    metrics = {
        "prioritization_score": _mean(unit.score.total for unit in kept),
        "business_relevance_boost": _mean(unit.score.parts.get("business", 0.0) for unit in kept),
        "recency_boost": _mean(unit.score.parts.get("recency", 0.0) for unit in kept),
        "optimality_gap": gap or 0.0,
        "chunks_optimized": len(kept),
        "chunks_dropped": len(units) - len(kept),
        "conflicts": len(pick.conflicts),
        "tokens_used": used,
        "tokens_available": scene.budget,
    }
    done = Optimization(
        id=_id(units, scene),
        units=units,
        scores=[(unit.items[0], unit.score.parts) for unit in units],
        pick=pick,
        available=scene.budget,
        used=used,
        remaining=scene.budget - used,
        estimated={},
    )
    return Report(metrics=metrics, events=tuple(optimization_events(done, numbers)))


def _mean(values: Iterable[float]) -> float:
    found = list(values)
    return math.fsum(found) / len(found) if found else 0.0


def _id(units: Sequence[Unit], scene: Scene) -> str:
    """The same units at the same moment for the same budget: the same id."""
    told = [f"{scene.now!r} {scene.budget}", *(f"{unit.turn} {unit.tokens}" for unit in units)]
    return hashlib.sha256("\n".join(told).encode()).hexdigest()[:32]
