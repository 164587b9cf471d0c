"""Compress a session: put notes in place of its oldest working memory and of what has exceeded its age.

Only as much as needed is compressed; everything else stays as it was written. `compress` waits for the model
that writes summaries, if there is one; a build never does.
"""

from __future__ import annotations

import time
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

from foveal.events import Event, Reported
from foveal.pipeline.fixed import open_turn
from foveal.pipeline.history import History
from foveal.pipeline.recipe import default_task, items
from foveal.pipeline.summarize.notes import message_range
from foveal.pipeline.summarize.values import Answer
from foveal.pipeline.values import Item, Scene
from foveal.presets.fifth.due import candidates, low_scored, past_its_age_at
from foveal.presets.fifth.levels import excess
from foveal.presets.fifth.score import fifth as score_items
from foveal.presets.recency_curves import MINUTE
from foveal.session.arguments import a_count, a_yes_or_no
from foveal.session.budget import budget_for
from foveal.session.history import stand_ins
from foveal.session.history.items import items_without_text
from foveal.session.history.stand_ins import Note
from foveal.session.search.similarity import Similarity
from foveal.session.state import SessionState
from foveal.session.target import Target
from foveal.session.values import Removal
from foveal.store import CompressionRecord
from foveal.window import Score

if TYPE_CHECKING:
    from foveal.pipeline.fit import Order

STRETCH = 8 * stand_ins.MOST
"""Tokens of neighbouring turns that one note covers at most."""
SHORTEST = 300
"""Tokens of neighbouring turns that a note should cover at least, if there are as many."""
FREED = 0.05
"""Of the budget: what a build frees beyond the threshold, so that the next builds need not compress again."""
TOGETHER = 0.2
"""Of the shortest age: how long the background waits between two looks, so that notes cover more messages."""
NOTES_MOST = 16
"""Notes that one build writes at most. The next builds go on, so that none takes long."""
BATCH = 8
"""Notes that the background writes at a time: each time costs a look at the whole session."""

Turns = Mapping[int, Sequence[Item]]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Plan:
    """The notes to insert, and how many tokens windows may show without them."""

    notes: tuple[Note, ...]
    used: int
    fixed: Mapping[str, int]
    """Tokens of what is never compressed, by description."""

    @property
    def final(self) -> int:
        return self.used - sum(note.original - note.tokens for note in self.notes)


def compress_history(state: SessionState, max_tokens: int | None, *, dry_run: bool = False) -> Removal:
    """Compress a session until windows may show less than 80% of `max_tokens`, or of the model's limit.

    `dry_run`: report it only, with the summaries that are stored already or extracts.
    """
    a_yes_or_no(dry_run, "dry_run")
    given = None if max_tokens is None else a_count(max_tokens, "max_tokens")
    begun, target = time.perf_counter(), state.target()
    budget = given or budget_for(target.card, None)
    scene = Scene(now=time.time())

    def plan(answer: Answer) -> _Plan:
        planner = _Planner(state, target, answer)
        if given is None:  # who gives a number wants to keep that much: nothing goes for its age alone
            planner.for_age(scene.now)
        return planner.for_room(scene, limit=int(state.resources.fifth.full_at * budget)).plan

    if dry_run:
        with state.reading():
            return _removal(stand_ins.planned(state, target, plan), budget)
    made = stand_ins.plan_and_apply(state, target, plan, partial(_apply, state, begun=begun))
    return _removal(made, budget)


def compress_for_window(state: SessionState, target: Target, order: Order) -> bool:
    """Compress the oldest working memory if its level or the window is too full; returns whether any was.

    No model is waited for: it writes its summaries later, in the background.
    """
    begun, scene = time.perf_counter(), replace(order.scene, overhead=order.overhead)
    with state.reading():
        found = list(items_without_text(state.log.history(target)))
    over = excess(found, scene, numbers=state.resources.fifth)
    if max(over.window, over.working) <= 0:
        return False
    more = int(FREED * scene.budget)
    saved = over.window + more if over.window > 0 else 0
    replaced = over.working + more if over.working > 0 else 0

    def plan(answer: Answer) -> _Plan:
        planner = _Planner(state, target, answer)
        limit = planner.used - saved
        return planner.for_room(scene, limit=limit, replaced=replaced, most=NOTES_MOST).plan

    apply = partial(_apply, state, begun=begun)
    return bool(stand_ins.plan_and_apply(state, target, plan, apply, waits=False).notes)


def compress_aged(state: SessionState) -> tuple[bool, float | None]:
    """Write a few notes for what is past its age: whether some were written, and when more will be due.

    A caller that compresses in the background calls this again as long as something was written.
    """
    begun, now, target = time.perf_counter(), time.time(), state.target()
    numbers = state.resources.fifth
    with state.reading():
        free = _Planner(state, target, state.answers(target, queues=False)).free
        items = [item for found in free.values() for item in found]
    due = [at for item in items if (at := past_its_age_at(item, numbers)) is not None]
    more = min((at for at in due if at >= now), default=None)
    # Messages that follow each other soon are compressed together.
    soonest = now + TOGETHER * MINUTE * min(numbers.working_minutes, numbers.session_minutes)
    later = None if more is None else max(more, soonest)
    if not any(at < now for at in due):
        return False, later

    def plan(answer: Answer) -> _Plan:
        return _Planner(state, target, answer).for_age(now, most=BATCH).plan

    apply = partial(_apply, state, begun=begun)
    return bool(stand_ins.plan_and_apply(state, target, plan, apply, waits=False).notes), later


def _apply(state: SessionState, plan: _Plan, events: list[Event], *, begun: float) -> _Plan:
    """Insert the notes, and record and report them."""
    for note in plan.notes:
        stand_ins.insert_note(state, note)
    _save(state, plan.notes, seconds=time.perf_counter() - begun)
    if plan.notes:
        compressed = sum(len(note.entries) for note in plan.notes)
        payload = {"compressed": compressed, "original": plan.used, "final": plan.final}
        events.append(Reported(name="context:compressed", session=state.name, payload=payload))
    return plan


class _Planner:
    """Plans notes for one state of a session's history."""

    def __init__(self, state: SessionState, target: Target, answer: Answer) -> None:
        self._state = state
        self._target = target
        self._answer = answer
        self._numbers = state.resources.fifth
        self._history = state.log.history(target)
        self._borders = sorted({task.first for task in state.store.tasks(state.id)})
        turns = _turns(self._history)
        self._fixed = _fixed(self._history, turns)
        self._tokens = {turn: sum(item.tokens for item in found) for turn, found in turns.items()}
        self.free = {turn: found for turn, found in turns.items() if turn not in self._fixed}
        """The messages of the turns that may be compressed."""
        self.used = sum(self._tokens.values())
        """Tokens that windows may show without the notes."""
        self._notes: list[Note] = []
        self._tried: set[int] = set()
        """Turns that have a note, or are not worth one."""

    @property
    def plan(self) -> _Plan:
        tokens: dict[str, int] = {}
        for turn, what in self._fixed.items():
            tokens[what] = tokens.get(what, 0) + self._tokens[turn]
        return _Plan(notes=tuple(self._notes), used=self.used, fixed=tokens)

    def for_age(self, now: float, *, most: int | None = None) -> _Planner:
        """Put notes in place of what is older than its level allows, oldest first; at most so many."""
        turns, unworthy = list(self.free), self._state.part(_UnworthyRuns)
        may_go = candidates(list(self.free.values()), now, self._numbers)
        aged = [turns[at] for at in may_go.aged]
        self._tried.update(aged)
        while aged and (most is None or len(self._notes) < most):
            run = self._stretch(aged, STRETCH, 0)
            del aged[: len(run)]
            key = (self._target.history_key, *(self._history.span(turn)[0] for turn in run))
            if unworthy.has(key):
                continue
            notes = self._write(run)
            self._notes += notes
            if not notes:
                unworthy.add(key)
        return self

    def for_room(self, scene: Scene, *, limit: int, replaced: int = 0, most: int | None = None) -> _Planner:
        """Put notes in place of more, the least worth first and then the oldest, until enough is freed.

        Windows may show `limit` tokens then, notes included. `replaced`: tokens of working memory that are to
        have notes, which belong to session memory, instead. At most `most` notes are written.
        """
        needed = partial(_needed, self._notes, used=self.used, limit=limit, replaced=replaced)
        if not any(needed()):
            return self
        groups, turns = list(self.free.values()), list(self.free)
        may_go = candidates(groups, scene.now, self._numbers)
        low = low_scored(groups, may_go, self._scores(scene), self._numbers)
        others = [at for at in may_go.for_room if at not in low]
        for some in (low, others):
            left = [turns[at] for at in some if turns[at] not in self._tried]
            while left and any(needed()) and (most is None or len(self._notes) < most):
                run = self._stretch(left, *needed())
                del left[: len(run)]
                self._notes += self._write(run)
        if most is not None:
            del self._notes[most:]  # a run may need several
        return self

    def _scores(self, scene: Scene) -> Mapping[int, Score]:
        """By position, the scores of what windows may show."""
        history, turns = self._history, items(self._history)
        task = scene.task or default_task(turns, open_turn(history))
        likeness = scene.similarities or self._state.part(Similarity).of(history, task)
        flat = [item for found in turns.values() for item in found]
        scores = score_items(flat, replace(scene, task=task, similarities=likeness), numbers=self._numbers)
        return {item.index: score for item, score in zip(flat, scores, strict=True)}

    def _write(self, run: Sequence[int]) -> list[Note]:
        """One note for a run of turns, or one for each half if its records make that too long."""
        note = stand_ins.write_note(self._state, self._target, run, answer=self._answer)
        too_long = note.tokens > stand_ins.MOST if note else self._stored(*run) >= 2 * SHORTEST
        if too_long and len(run) > 1:
            middle = len(run) // 2
            return [note for half in (run[:middle], run[middle:]) for note in self._write(half)]
        return [note] if note else []

    def _stretch(self, left: Sequence[int], save: int, replaced: int) -> list[int]:
        """The first run of neighbouring turns within one task: as long as needed, and as a note may cover."""
        run, tokens = [left[0]], self._stored(left[0])
        for turn in islice(left, 1, None):
            size = self._stored(turn)
            enough = tokens >= max(SHORTEST, replaced) and _saved(tokens) >= save
            if enough or tokens + size > STRETCH or not self._neighbours(run[-1], turn):
                break
            run.append(turn)
            tokens += size
        return run

    def _stored(self, *turns: int) -> int:
        """The tokens of turns as they are stored."""
        return sum(self._history.between(*self._history.span(turn)) for turn in turns)

    def _neighbours(self, one: int, other: int) -> bool:
        """Whether the turns are of one task, and windows show nothing between them."""
        tasks = {bisect_right(self._borders, self._history.span(turn)[0]) for turn in (one, other)}
        return len(tasks) == 1 and all(map(self._history.absence, range(one + 1, other)))


class _UnworthyRuns:
    """Runs of turns for which no note is worth its tokens, so that they are not read at every look."""

    def __init__(self, state: SessionState) -> None:
        self._state = state
        self._runs: set[tuple[object, ...]] = set()
        self._since: tuple[int, int] | None = None
        """The branch that the runs are of, and how many of its messages were erased at that time."""

    def has(self, run: tuple[object, ...]) -> bool:
        log = self._state.log
        if self._since != (log.head.branch, log.erased):
            self._since, self._runs = (log.head.branch, log.erased), set()
        return run in self._runs

    def add(self, run: tuple[object, ...]) -> None:
        self._runs.add(run)


def _turns(history: History) -> dict[int, list[Item]]:
    """What windows may show of every turn, without its text."""
    found: dict[int, list[Item]] = {}
    for item in items_without_text(history):
        found.setdefault(history.turn_of(item.index), []).append(item)
    return found


def _fixed(history: History, turns: Turns) -> dict[int, str]:
    """The turns that are not compressed, and what they are."""
    end = len(history) - 1
    standing = {*history.requests(end)} & turns.keys()
    newest = (history.newest_words(end), stand_ins.last_shown_turn(history))
    latest = [turn for turn in newest if turn is not None and turn in turns]
    return {
        **dict.fromkeys(standing, "standing requests"),
        **dict.fromkeys(latest, "the newest exchange"),
        **dict.fromkeys(history.pinned.keys() & turns.keys(), "pins and system prompts"),
        **dict.fromkeys(filter(history.stand_in, turns), "notes"),
    }


def _needed(notes: Sequence[Note], *, used: int, limit: int, replaced: int) -> tuple[int, int]:
    """How many tokens are still to be saved, and how many replaced; 0 if the notes already do that.

    The size of notes is estimated, so that the plan is the same before and after a model has written them.
    """
    final = used - sum(note.original - note.tokens for note in notes)
    estimated = used - sum(_saved(note.original) for note in notes)
    save = (estimated if estimated > limit else final) - limit if final > limit else 0
    return save, max(0, replaced - sum(note.original for note in notes))


def _saved(tokens: int) -> int:
    """What a note in place of so many tokens is expected to save."""
    return tokens - min(stand_ins.MOST, tokens // stand_ins.SHARE)


def _save(state: SessionState, notes: Sequence[Note], *, seconds: float) -> None:
    for note in notes:
        record = CompressionRecord(
            created_at=time.time(),
            original=note.original,
            compressed=note.tokens,
            seconds=seconds / len(notes),
            what=message_range(note.entries[0].seq, note.entries[-1].seq),
        )
        state.store.save_compression(state.id, record)


def _removal(plan: _Plan, budget: int) -> Removal:
    return Removal(
        ids=tuple(entry.id for note in plan.notes for entry in note.entries),
        original=plan.used,
        final=plan.final,
        summary="\n\n".join(note.text for note in plan.notes),
        unreached=_unreached(plan, budget) if plan.final > budget else "",
    )


def _unreached(plan: _Plan, budget: int) -> str:
    rest = {"notes": 0, **plan.fixed}
    rest["notes"] += sum(note.tokens for note in plan.notes)
    rest["what a note would not make shorter"] = plan.final - sum(rest.values())
    parts = ", ".join(f"{what} ({tokens:,})" for what, tokens in rest.items() if tokens)
    return f"{plan.final:,} tokens are left, {budget:,} were asked for: the rest is {parts}"
