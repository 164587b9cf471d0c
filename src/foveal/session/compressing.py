"""A session in → notes in place of what is due: the oldest working memory, what is past its age or low."""

from __future__ import annotations

import time
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from foveal.events import Reported
from foveal.pipeline.compact.due import Situation, steps
from foveal.pipeline.compact.envelope import covering
from foveal.pipeline.compact.values import Answer
from foveal.pipeline.history import History
from foveal.pipeline.items import items
from foveal.pipeline.score.fifth import fifth
from foveal.pipeline.scored import asked_of
from foveal.pipeline.values import Item, Scene, Score
from foveal.session import noting
from foveal.session.answers import Answers
from foveal.session.checks import a_count
from foveal.session.core import Core
from foveal.session.noting import Note
from foveal.session.views import Removal
from foveal.store import CompressionRecord

STRETCH = 8_000
"""Tokens of neighbouring turns that one note stands for at most: a model has to read them."""
UNSCORED = Score(total=1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Plan:
    """The notes to put, and the tokens that windows may show before."""

    notes: tuple[Note, ...]
    used: int


def compress(core: Core, max_tokens: int | None) -> Removal:
    asked = None if max_tokens is None else a_count(max_tokens, "max_tokens")
    begun, now = time.perf_counter(), time.time()
    aim = core.aim()
    budget = asked or aim.budget(None)
    noting.written_beforehand(core, aim, lambda answer: _planned(core, budget, now, answer))
    with core.writing() as events:
        answers = Answers(core.desk.library, aim.meter.text, better=False)
        plan = _planned(core, budget, now, answers)
        for note in plan.notes:
            noting.put(core, note)
        answers.save()
        _save(core, plan.notes, seconds=time.perf_counter() - begun)
        removal = _removal(plan)
        if plan.notes:
            told = {"compressed": len(removal.ids), "original": removal.original, "final": removal.final}
            events.append(Reported(name="context:compressed", session=core.name, payload=told))
    return removal


def _planned(core: Core, budget: int, now: float, answer: Answer) -> _Plan:
    aim = core.aim()
    history = core.ledger.history(aim)
    turns = items(history)
    used = sum(item.tokens for found in turns.values() for item in found)
    scene = Scene(now=now, task=asked_of(turns, noting.open_turn(history)), budget=budget)
    due = _due(core, history, turns, scene)
    made = (noting.made(core, aim, run, answer=answer) for run in _stretches(core, history, due))
    return _Plan(notes=tuple(note for note in made if note), used=used)


def _due(core: Core, history: History, turns: Mapping[int, Sequence[Item]], scene: Scene) -> Sequence[int]:
    """The turns that the table names, until what is left with the notes for them is within the mark."""
    numbers = core.desk.fifth
    stay = {*history.pinned, noting.open_turn(history), *filter(history.stand_in, turns)}
    held = {
        turn: [replace(item, pinned=True) for item in found] if turn in stay else found
        for turn, found in turns.items()
    }
    flat = [item for found in held.values() for item in found]
    scores = dict(zip((item.index for item in flat), fifth(flat, scene, numbers=numbers), strict=True))
    due: set[int] = set()
    while True:
        left = [item for turn, found in held.items() if turn not in due for item in found]
        noted = _reserved(sum(item.tokens for turn in due for item in held[turn]))
        situation = Situation(
            items=[*left, noted], scores=[*(scores[item.index] for item in left), UNSCORED], scene=scene
        )
        found = {history.turn_of(step.first) for step in steps(situation, numbers=numbers)}
        if not found:
            return sorted(due)
        due |= found


def _reserved(tokens: int) -> Item:
    """What the notes for so many tokens will take."""
    kept = tokens // noting.SHARE
    return Item(index=-1, id="", role="user", kind="rag_memory_commit", text="", tokens=kept, pinned=True)


def _stretches(core: Core, history: History, due: Sequence[int]) -> Iterator[list[int]]:
    """Runs of neighbours, none across the border of a task and none too long to be read at once."""
    borders = sorted({task.first for task in core.store.tasks(core.id)})
    run: list[int] = []
    tokens = 0
    for turn in due:
        size = history.between(*history.span(turn))
        if run and not (tokens + size <= STRETCH and _neighbours(history, run[-1], turn, borders)):
            yield run
            run, tokens = [], 0
        run.append(turn)
        tokens += size
    if run:
        yield run


def _neighbours(history: History, one: int, other: int, borders: Sequence[int]) -> bool:
    """Does nothing that windows show stand between them, and no beginning of a task?"""
    tasks = {bisect_right(borders, history.span(turn)[0]) for turn in (one, other)}
    return len(tasks) == 1 and all(map(history.absence, range(one + 1, other)))


def _save(core: Core, notes: Sequence[Note], *, seconds: float) -> None:
    for note in notes:
        record = CompressionRecord(
            created_at=time.time(),
            original=note.original,
            compressed=note.tokens,
            seconds=seconds / len(notes),
            what=covering(note.entries[0].seq, note.entries[-1].seq).lower(),
        )
        core.store.save_compression(core.id, record)


def _removal(plan: _Plan) -> Removal:
    saved = sum(note.original - note.tokens for note in plan.notes)
    return Removal(
        ids=tuple(entry.id for note in plan.notes for entry in note.entries),
        original=plan.used,
        final=plan.used - saved,
        summary="\n\n".join(note.text for note in plan.notes),
    )
