"""Score, plan, pick: the stages of a preset that weighs every turn, composed into one selector.

When everything fits, everything is in, whatever its score.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from foveal.model import Chunk
from foveal.pipeline.history import History
from foveal.pipeline.items import Scorer, items, units
from foveal.pipeline.select.selection import Selection
from foveal.pipeline.values import Item, Pick, Scene, Unit
from foveal.window import Slot

Plan = Callable[[Sequence[Item], Scene], Sequence[Slot]]
Picker = Callable[[Sequence[Unit], int, Sequence[Slot]], Pick]


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """Metrics by name, and events as name and payload."""

    metrics: Mapping[str, float]
    events: tuple[tuple[str, Mapping[str, object]], ...] = ()


SILENT = Report(metrics={})


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """One choice of each stage."""

    score: Scorer
    slot_of: Callable[[Item], str]
    plan: Plan
    pick: Picker
    report: Callable[[Sequence[Unit], Pick, Scene], Report] | None = None
    """What the preset measures of its choice and tells about it."""

    def __call__(self, history: History, fixed: Mapping[int, Chunk], room: int, scene: Scene) -> Selection:
        """Choose among all turns; the fixed ones are paid for already."""
        turns = items(history)
        flat = [item for found in turns.values() for item in found]
        scored = self.score(flat, scene)
        scores = {item.index: score for item, score in zip(flat, scored, strict=True)}
        forced = {turn: history.pinned.get(turn, "open turn") for turn in fixed}
        found = units(history, forced, scores, turns=turns, slot_of=self.slot_of)
        if self._all_fit(history, found, room):
            pick = Pick(kept=frozenset(turns), because=dict.fromkeys(turns, "everything fits"))
        else:
            # Wherever the window opens, a note may have to stand before it.
            pick = self.pick(found, max(0, room - history.note_tokens), self.plan(flat, scene))
        report = self.report(found, pick, scene) if self.report else SILENT
        return Selection(
            turns=tuple(sorted(pick.kept - fixed.keys())),
            because_in="",
            because_out="",
            reasons=pick.because,
            scores={unit.turn: unit.score for unit in found},
            charged={unit.turn: ", ".join(unit.by_slot) for unit in found},
            slots=tuple(pick.slots),
            conflicts=pick.conflicts,
            metrics=report.metrics,
            reports=report.events,
        )

    @staticmethod
    def _all_fit(history: History, found: Sequence[Unit], room: int) -> bool:
        chunks = [history.chunk(unit.turn) for unit in found]
        tokens = sum(history.chunk(unit.turn).tokens for unit in found if not unit.forced)
        return tokens <= room and tokens + history.note_tokens * sum(history.joints(chunks)) <= room
