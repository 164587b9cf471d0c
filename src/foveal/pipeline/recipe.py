"""Compose the stages of a preset that scores every turn into a selector: score, plan, pick, compact.

Scorers and plans see messages as items, pickers see turns as units. Each text is read once and each token
counted once. If everything fits, everything is in, whatever its score.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from foveal.events import Reports
from foveal.model import Chunk, Entry, Message
from foveal.pipeline.history import History
from foveal.pipeline.kinds import MESSAGE_HISTORY, kind_of
from foveal.pipeline.material.categories import tokens_by_slot, with_usage
from foveal.pipeline.reasons import Reason
from foveal.pipeline.values import Item, Pick, Scene, Selection, Unit
from foveal.window import Fixed, Score, Slot

Scorer = Callable[[Sequence[Item], Scene], Sequence[Score]]


def items(history: History) -> dict[int, tuple[Item, ...]]:
    """The items of every turn that may be in a window, in order."""
    found = {
        turn: history.cached(turn, _items)
        for turn in range(len(history))
        if not history.absence(turn) and history.chunk(turn).messages
    }
    newest = next((t for t in reversed(found) if any(i.role == "user" for i in found[t])), None)
    if newest is not None:
        found[newest] = tuple(map(_as_prompt, found[newest]))
    return found


def _items(history: History, turn: int) -> tuple[Item, ...]:
    first, last = history.span(turn)
    if text := history.stand_in(turn):
        tokens = history.chunk(turn).tokens
        summary = Item(
            index=last,
            id=history.entries[last].id,
            role="user",
            kind="rag_memory_commit",
            text=text,
            tokens=tokens,
            timestamp=history.entries[last].created_at,
            metadata={"layer": MESSAGE_HISTORY},  # it replaces messages, and is not retrieved material
        )
        return (summary,)
    pairs = zip(history.entries[first : last + 1], history.read(first, last + 1), strict=True)
    return tuple(_item(entry, message) for entry, message in pairs)


def _item(entry: Entry, message: Message) -> Item:
    calls = bool(message.calls)
    return Item(
        index=entry.seq,
        id=entry.id,
        role=entry.role,
        kind=entry.kind or kind_of(entry.role, tool_call=calls, newest_user=False),
        text=message.text,
        tokens=entry.tokens,
        timestamp=entry.created_at,
        pinned=entry.pinned,
        important=entry.important,
        level=entry.level,
        priority=entry.priority,
        tool=calls or bool(message.results),
        metadata=json.loads(entry.metadata) if entry.metadata else {},
    )


def _as_prompt(item: Item) -> Item:
    """The newest user message is the current prompt, unless the caller gave it another kind."""
    return replace(item, kind="current_user_prompt") if item.kind == "chat_history_user" else item


def units(
    history: History,
    forced: Mapping[int, Reason],
    scores: Mapping[int, Score],
    *,
    turns: Mapping[int, tuple[Item, ...]],
    slot_of: Callable[[Item], str],
) -> list[Unit]:
    """Every turn with the score of its best message and its tokens by slot."""
    return [
        Unit(
            turn=turn,
            items=found,
            tokens=_cost(history, history.chunk(turn)),
            score=max((scores[item.index] for item in found), key=lambda score: score.total),
            by_slot=_by_slot(found, history.chunk(turn).tokens, slot_of),
            forced=forced.get(turn),
        )
        for turn, found in turns.items()
    ]


def _cost(history: History, chunk: Chunk) -> int:
    """Its tokens, with those of a note that a turn with tool calls may need before it."""
    noted = history.frame.rules.calls_follow_input and bool(chunk.messages[0].calls)
    return chunk.tokens + history.note_tokens * noted


def _by_slot(found: Sequence[Item], tokens: int, slot_of: Callable[[Item], str]) -> dict[str, int]:
    """Tokens by slot, message by message; the last message gets what a repair added or removed."""
    charged: dict[str, int] = {}
    left = tokens
    for item in found[:-1]:
        part = min(item.tokens, left)
        charged[slot_of(item)] = charged.get(slot_of(item), 0) + part
        left -= part
    last = slot_of(found[-1])
    return charged | {last: charged.get(last, 0) + left}


Plan = Callable[[Sequence[Item], Scene], Sequence[Slot]]
Picker = Callable[[Sequence[Unit], int, Sequence[Slot]], Pick]
Compactor = Callable[[History, Sequence[Unit], Pick, int, Scene], Pick]
MATERIAL = -1
"""The `turn` of the unit that represents attached context."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredChoice:
    """All units, the score of every message by position, and what was picked."""

    units: Sequence[Unit]
    scores: Mapping[int, Score]
    pick: Pick


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """Metrics by name, and the events of the preset's design."""

    metrics: Mapping[str, float]
    events: Reports = ()
    record: Mapping[str, str] = field(default_factory=dict)
    """Ids that the preset's design gives an optimization."""


SILENT = Report(metrics={})
TASK_MOST = 4_000
"""Characters of each message that serve as the task if the caller names none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """One implementation of each stage."""

    score: Scorer
    slot_of: Callable[[Item], str]
    plan: Plan
    pick: Picker
    compact: Compactor | None = None
    """Decides the turns that `pick` leaves undecided."""
    report: Callable[[ScoredChoice, Scene], Report] | None = None
    """Metrics and events about the choice."""
    settle: Callable[[Sequence[Slot], Scene], Sequence[Slot]] | None = None
    """Corrects the plan if fixed turns, or everything that fits, exceed what a slot was allotted."""
    flags: Callable[[Item], tuple[str, ...]] | None = None
    """What the preset's design marks a message as."""
    capped: bool = False
    """A limit applies even if everything would fit."""

    def __call__(self, history: History, fixed: Mapping[int, Chunk], room: int, scene: Scene) -> Selection:
        """Select among all turns; the room excludes the fixed ones."""
        turns = items(history)
        scene = scene if scene.task else replace(scene, task=default_task(turns, max(fixed)))
        flat = [item for found in turns.values() for item in found]
        scored = self.score(flat, scene)
        scores = {item.index: score for item, score in zip(flat, scored, strict=True)}
        why: dict[int, Fixed] = dict.fromkeys(fixed, "standing_request")
        why |= {max(fixed): "open_turn", **history.pinned}
        forced = {turn: Reason(code=code) for turn, code in why.items()}
        found = units(history, forced, scores, turns=turns, slot_of=self.slot_of)
        found = [_as_fixed(unit, fixed.get(unit.turn)) for unit in found]
        slots = scene.slots or tuple(self.plan(flat, scene))
        material = self._material(scene) if slots else []
        if not self.capped and self._all_fit(history, found, room):
            reasons = dict.fromkeys(turns, Reason(code="selected", words="everything fits"))
            pick = Pick(kept=frozenset(turns), because=reasons, slots=with_usage(slots, [*found, *material]))
        else:
            # A note may be needed at the start of the window, and before fixed turns with tool calls.
            before = sum(unit.tokens - history.chunk(unit.turn).tokens for unit in found if unit.forced)
            room = max(0, room - history.note_tokens - before)
            pick = self.pick([*found, *material], room, slots)
            pick = replace(pick, kept=pick.kept - {MATERIAL})
            pick = self.compact(history, found, pick, room, scene) if self.compact else pick
        if self.settle:
            pick = replace(pick, slots=tuple(self.settle(pick.slots, scene)))
        choice = ScoredChoice(units=found, scores=scores, pick=pick)
        report = self.report(choice, scene) if self.report else SILENT
        return Selection(
            turns=tuple(sorted(pick.kept - fixed.keys())),
            because_in="",
            because_out="",
            reasons=pick.because,
            scores={unit.turn: unit.score for unit in found},
            charged={unit.turn: ", ".join(unit.by_slot) for unit in found},
            flags=self._flags(found),
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

    def _flags(self, found: Sequence[Unit]) -> dict[int, tuple[str, ...]]:
        """By turn, the flags of its messages, each once."""
        if self.flags is None:
            return {}
        flagged = {
            unit.turn: tuple(dict.fromkeys(flag for item in unit.items for flag in self.flags(item)))
            for unit in found
        }
        return {turn: flags for turn, flags in flagged.items() if flags}

    def _material(self, scene: Scene) -> list[Unit]:
        """Attached context as a unit that is always in and free, but fills the slots of its pieces."""
        used = tokens_by_slot(scene.material, self.slot_of)
        unit = Unit(
            turn=MATERIAL,
            items=scene.material,
            tokens=0,
            score=Score(total=0.0),
            by_slot=used,
            forced=Reason(code="selected", words="material"),
        )
        return [unit] if scene.material else []

    @staticmethod
    def _all_fit(history: History, found: Sequence[Unit], room: int) -> bool:
        chunks = [history.chunk(unit.turn) for unit in found]
        tokens = sum(history.chunk(unit.turn).tokens for unit in found if not unit.forced)
        return tokens <= room and tokens + history.note_tokens * sum(history.notes_needed(chunks)) <= room


def _as_fixed(unit: Unit, chunk: Chunk | None) -> Unit:
    """An open turn that was cut fills its slots only with what is shown of it."""
    over = sum(unit.by_slot.values()) - chunk.tokens if chunk else 0
    if over <= 0:
        return unit
    used = dict(unit.by_slot)
    for name in sorted(used, key=lambda name: -used[name]):
        less = min(over, used[name])
        used[name] -= less
        over -= less
    return replace(unit, by_slot=used)


def default_task(turns: Mapping[int, Sequence[Item]], opened: int) -> str:
    """The task if the caller names none: the user's latest message and the open turn."""
    flat = [item for found in turns.values() for item in found]
    newest = [item for item in flat if item.kind == "current_user_prompt"][-1:]
    texts = [item.text for item in (*newest, *turns.get(opened, ())) if item.text]
    return "\n".join(dict.fromkeys(text[:TASK_MOST] for text in texts))
