"""Compress a session: put notes in place of its oldest working memory and of what has exceeded its age.

Only as much as needed is compressed; everything else stays as it was written. `compress` waits for the model
that writes summaries, if there is one; a build never does.
"""

from __future__ import annotations

import time
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from foveal.events import Event, Reported
from foveal.pipeline.history import History
from foveal.pipeline.recipe import items
from foveal.pipeline.summarize.notes import message_range
from foveal.pipeline.summarize.values import Answer
from foveal.pipeline.values import Item
from foveal.presets.fifth.levels import excess, past_its_age, slot_of
from foveal.session.arguments import a_count, a_yes_or_no
from foveal.session.budget import budget_for
from foveal.session.history import stand_ins
from foveal.session.history.items import items_without_text
from foveal.session.history.stand_ins import Note
from foveal.session.state import SessionState
from foveal.session.target import Target
from foveal.session.values import Removal
from foveal.store import CompressionRecord

if TYPE_CHECKING:
    from foveal.pipeline.fit import Order

STRETCH = 8 * stand_ins.MOST
"""Tokens of neighbouring turns that one note covers at most."""
SHORTEST = 300
"""Tokens of neighbouring turns that a note should cover at least, if there are as many."""
FREED = 0.1
"""Of the budget: what a build frees beyond the threshold, so that the next builds need not compress again."""
NOTES_MOST = 16
"""Notes that one build writes at most. The next builds go on, so that none takes long."""

Turns = Mapping[int, Sequence[Item]]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Goal:
    """How far to compress."""

    used: int | None = None
    """Tokens that windows may show afterwards, at most."""
    freed: int = 0
    """If that is not given: the tokens to free."""
    aged_at: float | None = None
    """The time by which messages may be past their age; None: none is compressed for its age alone."""
    notes: int | None = None
    """How many notes may be written for lack of space; None: as many as needed."""


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
    # A caller who gives a number wants to keep that much: then nothing is compressed for its age alone.
    goal = _Goal(used=_limit(state, budget), aged_at=None if given else time.time())
    plan = partial(_plan, state, target, goal)
    if dry_run:
        with state.reading():
            return _removal(stand_ins.planned(state, target, plan), budget)
    made = stand_ins.plan_and_apply(state, target, plan, partial(_apply, state, begun=begun))
    return _removal(made, budget)


def compress_for_window(state: SessionState, target: Target, order: Order) -> bool:
    """Compress the oldest working memory if more than `full_at` of a window is full; returns whether any was.

    No model is waited for: it writes its summaries later, in the background.
    """
    begun, scene = time.perf_counter(), replace(order.scene, overhead=order.overhead)
    with state.reading():
        found = list(items_without_text(state.log.history(target)))
    over = excess(found, scene, numbers=state.resources.fifth)
    if over <= 0:
        return False
    goal = _Goal(freed=over + int(FREED * scene.budget), notes=NOTES_MOST)
    plan = partial(_plan, state, target, goal)
    apply = partial(_apply, state, begun=begun)
    return bool(stand_ins.plan_and_apply(state, target, plan, apply, waits=False).notes)


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


def _limit(state: SessionState, budget: int) -> int:
    return int(state.resources.fifth.full_at * budget)


def _plan(state: SessionState, target: Target, goal: _Goal, answer: Answer) -> _Plan:
    """Notes for turns that exceeded their age, then for the oldest ones until the rest is small enough."""
    history = state.log.history(target)
    turns = items(history)
    fixed = _fixed(history, turns)
    used = sum(item.tokens for found in turns.values() for item in found)
    free = {turn: found for turn, found in turns.items() if turn not in fixed}
    aged = [] if goal.aged_at is None else _aged(state, history, free, goal.aged_at)
    notes = list(_notes_for_aged(state, target, aged, answer))
    limit = used - goal.freed if goal.used is None else goal.used
    left = [turn for turn, found in free.items() if turn not in aged and _working(state, found)]
    while left and (needed := _needed(notes, used, limit)) > 0 and len(notes) != goal.notes:
        run = _stretch(state, history, left, needed)
        left = left[len(run) :]
        notes += _notes(state, target, run, answer)
    tokens: dict[str, int] = {}
    for turn, what in fixed.items():
        tokens[what] = tokens.get(what, 0) + sum(item.tokens for item in turns[turn])
    return _Plan(notes=tuple(notes), used=used, fixed=tokens)


def _fixed(history: History, turns: Turns) -> dict[int, str]:
    """The turns that are not compressed, and what they are."""
    prompts = (turn for turn, found in turns.items() if any(i.kind == "current_user_prompt" for i in found))
    latest = {*prompts, stand_ins.open_turn(history)} & turns.keys()
    return {
        **dict.fromkeys(latest, "the newest exchange"),
        **dict.fromkeys(history.pinned.keys() & turns.keys(), "pins and system prompts"),
        **dict.fromkeys(filter(history.stand_in, turns), "notes"),
    }


def _aged(state: SessionState, history: History, free: Turns, now: float) -> list[int]:
    """The turns with a message that is older than its level allows."""
    numbers = state.resources.fifth
    old = (item.index for found in free.values() for item in found if past_its_age(item, now, numbers))
    return sorted({history.turn_of(index) for index in old})


def _working(state: SessionState, found: Sequence[Item]) -> bool:
    """Whether all of a turn is on a level that is compressed to make room."""
    return all(slot_of(item, numbers=state.resources.fifth) in ("working", "volatile") for item in found)


def _needed(notes: Sequence[Note], used: int, limit: int) -> int:
    """How many tokens are still to be saved; 0 if the notes already save enough.

    The size of notes is estimated, so that the plan is the same before and after a model has written them.
    """
    final = used - sum(note.original - note.tokens for note in notes)
    estimated = used - sum(_saved(note.original) for note in notes)
    return (estimated if estimated > limit else final) - limit if final > limit else 0


def _saved(tokens: int) -> int:
    """What a note in place of so many tokens is expected to save."""
    return tokens - min(stand_ins.MOST, tokens // stand_ins.SHARE)


def _notes_for_aged(
    state: SessionState, target: Target, aged: Sequence[int], answer: Answer
) -> Iterator[Note]:
    while aged:
        run = _stretch(state, state.log.history(target), aged, STRETCH)
        aged = aged[len(run) :]
        yield from _notes(state, target, run, answer)


def _notes(state: SessionState, target: Target, run: Sequence[int], answer: Answer) -> list[Note]:
    """One note for a run of turns, or one for each half if its records make that too long."""
    note = stand_ins.write_note(state, target, run, answer=answer)
    history = state.log.history(target)
    tokens = sum(history.between(*history.span(turn)) for turn in run)
    too_long = note.tokens > stand_ins.MOST if note else tokens >= 2 * SHORTEST
    if too_long and len(run) > 1:
        middle = len(run) // 2
        return [note for half in (run[:middle], run[middle:]) for note in _notes(state, target, half, answer)]
    return [note] if note else []


def _stretch(state: SessionState, history: History, left: Sequence[int], needed: int) -> list[int]:
    """The first run of neighbouring turns within one task: as long as needed, and as a note may cover."""
    borders = sorted({task.first for task in state.store.tasks(state.id)})
    run, tokens = [left[0]], history.between(*history.span(left[0]))
    for turn in left[1:]:
        size = history.between(*history.span(turn))
        enough = tokens >= SHORTEST and _saved(tokens) >= needed
        if enough or tokens + size > STRETCH or not _neighbours(history, run[-1], turn, borders):
            break
        run.append(turn)
        tokens += size
    return run


def _neighbours(history: History, one: int, other: int, borders: Sequence[int]) -> bool:
    """Whether the turns are of one task, and windows show nothing between them."""
    tasks = {bisect_right(borders, history.span(turn)[0]) for turn in (one, other)}
    return len(tasks) == 1 and all(map(history.absence, range(one + 1, other)))


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
