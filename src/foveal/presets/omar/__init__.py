"""The `omar` preset: typed chunks selected by priority, greedily or exactly, with a report of the choice."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from functools import partial

from foveal.pipeline.recipe import Recipe, Report, ScoredChoice
from foveal.pipeline.values import Scene, Unit
from foveal.presets.base import Preset
from foveal.presets.omar.events import FAILED, SUCCESS, Optimization, optimization_events, outcome_of
from foveal.presets.omar.greedy import fractional_bound, optimality_gap, slot_of
from foveal.presets.omar.score import OmarNumbers, flags, mean_scores, priorities
from foveal.presets.omar.solve import select, terms_of


def omar(numbers: OmarNumbers = OmarNumbers()) -> Preset:
    return Preset(
        name="omar",
        about="typed chunks by priority, greedy, with conflicts",
        select=Recipe(
            score=partial(priorities, numbers=numbers),
            slot_of=slot_of,
            plan=lambda _items, _scene: (),
            pick=lambda units, room, _slots: select(units, room, numbers),
            report=partial(_report, numbers),
            flags=lambda item: flags(item.tokens, item.metadata, numbers),
            capped=bool(numbers.group_caps),
        ),
        looks_at_all=True,
        record=SUCCESS,
        on_failure=FAILED,
    )


def _report(numbers: OmarNumbers, choice: ScoredChoice, scene: Scene) -> Report:
    """The metrics, the events and the record of one optimization."""
    kept = [unit for unit in choice.units if unit.turn in choice.pick.kept]
    used = sum(unit.tokens for unit in kept)
    optimization = Optimization(
        id=_id(choice.units, scene),
        scores=[(item, choice.scores[item.index].parts) for unit in choice.units for item in unit.items],
        outcome=outcome_of(choice.units, choice.pick, used=used, remaining=scene.budget - used),
        available=scene.budget,
    )
    metrics = {
        **mean_scores([choice.scores[item.index] for unit in kept for item in unit.items]),
        "optimality_gap": _gap(numbers, choice, kept, scene),
        "chunks_optimized": sum(len(unit.items) for unit in kept),
        "chunks_dropped": sum(len(unit.items) for unit in choice.units) - sum(len(u.items) for u in kept),
        "conflicts": len(choice.pick.conflicts),
        "tokens_used": used,
        "tokens_available": scene.budget,
    }
    events = tuple(optimization_events(optimization, numbers))
    return Report(metrics=metrics, events=events, record={"optimization_id": optimization.id})


def _gap(numbers: OmarNumbers, choice: ScoredChoice, kept: Sequence[Unit], scene: Scene) -> float:
    room = scene.budget - sum(unit.tokens for unit in kept if unit.forced)
    total = math.fsum(unit.score.total for unit in kept if not unit.forced)
    return optimality_gap(total, fractional_bound(choice.units, room, terms_of(numbers)))


def _id(units: Sequence[Unit], scene: Scene) -> str:
    """A hash of the units, the time and the budget: the same optimization has the same id."""
    lines = [f"{scene.now!r} {scene.budget}", *(f"{unit.turn} {unit.tokens}" for unit in units)]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:32]
