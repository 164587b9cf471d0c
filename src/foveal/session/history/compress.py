"""A session in → notes in place of its oldest working memory, and of what is past its age.

No more than is needed: where windows are small enough, what is left stays as it was said.
"""

from __future__ import annotations

import time
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from foveal.events import Event, Reported
from foveal.pipeline.history import History
from foveal.pipeline.scoring import items
from foveal.pipeline.summarize.notes import message_range
from foveal.pipeline.summarize.values import Answer
from foveal.pipeline.values import Item, Scene
from foveal.presets.fifth.levels import due, slot_of
from foveal.session.arguments import a_count
from foveal.session.history import stand_ins
from foveal.session.history.stand_ins import Note
from foveal.session.state import SessionState
from foveal.session.target import Target
from foveal.session.values import Removal
from foveal.store import CompressionRecord

STRETCH = 8 * stand_ins.MOST
"""Tokens of neighbouring turns that one note stands for at most."""
SHORTEST = 300
"""Tokens of neighbouring turns that are worth a note, where there are as many."""

Turns = Mapping[int, Sequence[Item]]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Plan:
    """The notes to put, and the tokens that windows may show before."""

    notes: tuple[Note, ...]
    used: int
    stays: Mapping[str, int]
    """Tokens of what is never compressed, by what it is."""

    @property
    def final(self) -> int:
        return self.used - sum(note.original - note.tokens for note in self.notes)


def compress_history(state: SessionState, max_tokens: int | None) -> Removal:
    asked = None if max_tokens is None else a_count(max_tokens, "max_tokens")
    begun = time.perf_counter()
    target = state.target()
    budget = asked or target.budget(None)
    # Who gives a number wants that much left: then age alone is no reason.
    now = None if asked else time.time()

    def act(plan: _Plan, events: list[Event]) -> Removal:
        for note in plan.notes:
            stand_ins.put(state, note)
        _save(state, plan.notes, seconds=time.perf_counter() - begun)
        removal = _removal(plan, budget)
        if plan.notes:
            told = {"compressed": len(removal.ids), "original": removal.original, "final": removal.final}
            events.append(Reported(name="context:compressed", session=state.name, payload=told))
        return removal

    return stand_ins.acted_on(state, target, partial(_planned, state, budget, now), act)


def _planned(state: SessionState, budget: int, now: float | None, answer: Answer) -> _Plan:
    """Notes for what is past its age, then for the oldest until what is left is within the mark."""
    target = state.target()
    history = state.log.history(target)
    turns = items(history)
    stays = _stays(history, turns)
    used = sum(item.tokens for found in turns.values() for item in found)
    free = {turn: found for turn, found in turns.items() if turn not in stays}
    aged = [] if now is None else _aged(state, history, free, now)
    notes = list(_of_the_aged(state, target, aged, answer))
    mark = int(state.resources.fifth.full_at * budget)
    left = [turn for turn, found in free.items() if turn not in aged and _working(state, found)]
    while left and (needed := _needed(notes, used, mark)) > 0:
        run = _stretch(state, history, left, needed)
        left = left[len(run) :]
        notes += _noted(state, target, run, answer)
    held: dict[str, int] = {}
    for turn, what in stays.items():
        held[what] = held.get(what, 0) + sum(item.tokens for item in turns[turn])
    return _Plan(notes=tuple(notes), used=used, stays=held)


def _stays(history: History, turns: Turns) -> dict[int, str]:
    """The turns that are not compressed, and what they are."""
    asked = (turn for turn, found in turns.items() if any(i.kind == "current_user_prompt" for i in found))
    newest = {*asked, stand_ins.open_turn(history)} & turns.keys()
    return {
        **dict.fromkeys(newest, "the newest exchange"),
        **dict.fromkeys(history.pinned.keys() & turns.keys(), "pins and system prompts"),
        **dict.fromkeys(filter(history.stand_in, turns), "notes"),
    }


def _aged(state: SessionState, history: History, free: Turns, now: float) -> list[int]:
    """The turns of which something is older than its level allows."""
    flat = [item for found in free.values() for item in found]
    room = Scene(now=now, budget=2 * sum(item.tokens for item in flat) + 1)  # for want of it nothing is due
    return sorted(
        {history.turn_of(each.index) for each in due(flat, (), room, numbers=state.resources.fifth)}
    )


def _working(state: SessionState, found: Sequence[Item]) -> bool:
    """Is it all of a level that is compressed for want of room?"""
    return all(slot_of(item, numbers=state.resources.fifth) in ("working", "volatile") for item in found)


def _needed(notes: Sequence[Note], used: int, mark: int) -> int:
    """How many tokens are still to be saved; none where what the notes really take is little enough.

    What notes will take is reckoned, so that a model can be asked for the same ones beforehand.
    """
    final = used - sum(note.original - note.tokens for note in notes)
    reckoned = used - sum(_saved(note.original) for note in notes)
    return (reckoned if reckoned > mark else final) - mark if final > mark else 0


def _saved(tokens: int) -> int:
    return tokens - min(stand_ins.MOST, tokens // stand_ins.SHARE)


def _of_the_aged(state: SessionState, target: Target, aged: Sequence[int], answer: Answer) -> Iterator[Note]:
    while aged:
        run = _stretch(state, state.log.history(target), aged, STRETCH)
        aged = aged[len(run) :]
        yield from _noted(state, target, run, answer)


def _noted(state: SessionState, target: Target, run: Sequence[int], answer: Answer) -> list[Note]:
    """One note for the stretch; where its records make that too long, one for each half."""
    note = stand_ins.made(state, target, run, answer=answer)
    history = state.log.history(target)
    tokens = sum(history.between(*history.span(turn)) for turn in run)
    too_long = note.tokens > stand_ins.MOST if note else tokens >= 2 * SHORTEST
    if too_long and len(run) > 1:
        middle = len(run) // 2
        return [note for half in (run[:middle], run[middle:]) for note in _noted(state, target, half, answer)]
    return [note] if note else []


def _stretch(state: SessionState, history: History, left: Sequence[int], needed: int) -> list[int]:
    """The first run of neighbours within a task: as long as is needed, and as a note allows."""
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
    """Does nothing that windows show stand between them, and no beginning of a task?"""
    tasks = {bisect_right(borders, history.span(turn)[0]) for turn in (one, other)}
    return len(tasks) == 1 and all(map(history.absence, range(one + 1, other)))


def _save(state: SessionState, notes: Sequence[Note], *, seconds: float) -> None:
    for note in notes:
        record = CompressionRecord(
            created_at=time.time(),
            original=note.original,
            compressed=note.tokens,
            seconds=seconds / len(notes),
            what=message_range(note.entries[0].seq, note.entries[-1].seq).lower(),
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
    rest = {"notes": 0, **plan.stays}
    rest["notes"] += sum(note.tokens for note in plan.notes)
    rest["what a note would not make shorter"] = plan.final - sum(rest.values())
    told = ", ".join(f"{what} ({tokens:,})" for what, tokens in rest.items() if tokens)
    return f"{plan.final:,} tokens are left, {budget:,} were asked for: the rest is {told}"
