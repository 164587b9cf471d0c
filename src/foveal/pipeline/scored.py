"""Score, plan, pick: the stages of a preset that weighs every turn, composed into one selector.

When everything fits, everything is in, whatever its score.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from foveal.model import Chunk
from foveal.pipeline.history import History
from foveal.pipeline.items import Scorer, items, units
from foveal.pipeline.plan.slots import charge, fill
from foveal.pipeline.select.selection import Selection
from foveal.pipeline.values import Item, Pick, Scene, Unit
from foveal.window import Score, Slot

Plan = Callable[[Sequence[Item], Scene], Sequence[Slot]]
Picker = Callable[[Sequence[Unit], int, Sequence[Slot]], Pick]
Compactor = Callable[[History, Sequence[Unit], Pick, int, Scene], Pick]
BESIDE = -1
"""The place of what is in the window beside the conversation: no turn's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """All units, the score of every message by its place, and what was picked."""

    units: Sequence[Unit]
    scores: Mapping[int, Score]
    pick: Pick


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """Metrics by name, and events as name and payload."""

    metrics: Mapping[str, float]
    events: tuple[tuple[str, Mapping[str, object]], ...] = ()
    record: Mapping[str, str] = field(default_factory=dict)
    """Ids under which the preset's design files an optimization."""


SILENT = Report(metrics={})
TASK_MOST = 4_000
"""Characters of each message that make up a task nobody named: what comes first says what it is about."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """One choice of each stage."""

    score: Scorer
    slot_of: Callable[[Item], str]
    plan: Plan
    pick: Picker
    compact: Compactor | None = None
    """What becomes of the turns that `pick` leaves undecided."""
    report: Callable[[Choice, Scene], Report] | None = None
    """What the preset measures of its choice and tells about it."""
    settle: Callable[[Sequence[Slot], Scene], Sequence[Slot]] | None = None
    """How the plan is put right where what must be in, or all that fits, is more than a slot was allotted."""
    capped: bool = False
    """Some limit holds even where everything would fit."""

    def __call__(self, history: History, fixed: Mapping[int, Chunk], room: int, scene: Scene) -> Selection:
        """Choose among all turns; the fixed ones are paid for already."""
        turns = items(history)
        scene = scene if scene.task else replace(scene, task=asked_of(turns, max(fixed)))
        flat = [item for found in turns.values() for item in found]
        scored = self.score(flat, scene)
        scores = {item.index: score for item, score in zip(flat, scored, strict=True)}
        forced = {turn: history.pinned.get(turn, "open turn") for turn in fixed}
        found = units(history, forced, scores, turns=turns, slot_of=self.slot_of)
        found = [_as_fixed(unit, fixed.get(unit.turn)) for unit in found]
        slots = scene.slots or tuple(self.plan(flat, scene))
        beside = self._beside(scene) if slots else []
        if not self.capped and self._all_fit(history, found, room):
            reasons = dict.fromkeys(turns, "everything fits")
            pick = Pick(kept=frozenset(turns), because=reasons, slots=fill(slots, [*found, *beside]))
        else:
            # A note may have to stand where the window opens, and before fixed turns that call tools.
            before = sum(unit.tokens - history.chunk(unit.turn).tokens for unit in found if unit.forced)
            room = max(0, room - history.note_tokens - before)
            pick = self.pick([*found, *beside], room, slots)
            pick = replace(pick, kept=pick.kept - {BESIDE})
            pick = self.compact(history, found, pick, room, scene) if self.compact else pick
        if self.settle:
            pick = replace(pick, slots=tuple(self.settle(pick.slots, scene)))
        choice = Choice(units=found, scores=scores, pick=pick)
        report = self.report(choice, scene) if self.report else SILENT
        return Selection(
            turns=tuple(sorted(pick.kept - fixed.keys())),
            because_in="",
            because_out="",
            reasons=pick.because,
            scores={unit.turn: unit.score for unit in found},
            charged={unit.turn: ", ".join(unit.by_slot) for unit in found},
            slots=tuple(pick.slots),
            forms=pick.forms,
            folded=pick.folded,
            markers=pick.markers,
            arcs=pick.arcs,
            conflicts=pick.conflicts,
            metrics=report.metrics,
            reports=report.events,
            record=report.record,
        )

    def _beside(self, scene: Scene) -> list[Unit]:
        """The material as a unit that is in and paid for: it uses the slots of its pieces."""
        used = charge(scene.material, self.slot_of)
        unit = Unit(
            turn=BESIDE,
            items=scene.material,
            tokens=0,
            score=Score(total=0.0),
            by_slot=used,
            forced="material",
        )
        return [unit] if scene.material else []

    @staticmethod
    def _all_fit(history: History, found: Sequence[Unit], room: int) -> bool:
        chunks = [history.chunk(unit.turn) for unit in found]
        tokens = sum(history.chunk(unit.turn).tokens for unit in found if not unit.forced)
        return tokens <= room and tokens + history.note_tokens * sum(history.joints(chunks)) <= room


def _as_fixed(unit: Unit, chunk: Chunk | None) -> Unit:
    """An open turn that was cut to fit uses no more of the slots than is shown of it."""
    over = sum(unit.by_slot.values()) - chunk.tokens if chunk else 0
    used = dict(unit.by_slot)
    for name in sorted(used, key=lambda name: -used[name]) if over > 0 else ():
        less = min(over, used[name])
        used[name] -= less
        over -= less
    return replace(unit, by_slot=used)


def asked_of(turns: Mapping[int, Sequence[Item]], opened: int) -> str:
    """The task nobody named: what the user said last, and the open turn."""
    flat = [item for found in turns.values() for item in found]
    newest = [item for item in flat if item.kind == "current_user_prompt"][-1:]
    texts = [item.text for item in (*newest, *turns.get(opened, ())) if item.text]
    return "\n".join(dict.fromkeys(text[:TASK_MOST] for text in texts))
