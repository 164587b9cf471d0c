"""A task's beginning and end in → its summary, standing in for its messages at session level."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from foveal.errors import NotFoundError
from foveal.events import Event, TaskCompleted, TaskStarted
from foveal.pipeline.compact.envelope import neutral
from foveal.pipeline.compact.extract import extractive
from foveal.pipeline.compact.tasks import Task, shown
from foveal.pipeline.compact.values import Answer
from foveal.pipeline.history import History
from foveal.session import noting
from foveal.session.answers import Answers
from foveal.session.core import Core
from foveal.session.noting import Note
from foveal.store import CompressionRecord, TaskRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class _Outcome:
    """What a task comes to."""

    summary: str = ""
    messages: int = 0
    original: int = 0
    """Tokens of the messages."""
    compressed: int = 0
    """Tokens of what stands for them."""
    note: Note | None = None
    """None: it is too short for a note, and its messages stay."""


def start(core: Core, name: str) -> int:
    with core.writing() as events:
        record = core.store.start_task(core.id, name, now=time.time())
        events.append(TaskStarted(session=core.name, task=record.number))
    _finish(core)
    return record.number


def complete(core: Core) -> str:
    with core.writing():
        ended = core.store.end_task(core.id, now=time.time())
    if ended is None:
        raise NotFoundError(
            f"session `{core.name}` has no open task", remedy="`start_task` begins one with the next message"
        )
    _finish(core)
    told = {task.number: task.summary or "" for task in core.store.tasks(core.id)}
    return told.get(ended.number, "")  # the history may have been edited meanwhile


def as_task(record: TaskRecord) -> Task:
    """The record as the pipeline knows it."""
    return Task(
        number=record.number,
        name=record.name,
        first=record.first,
        last=record.last,
        summary=record.summary or "",
    )


def title(core: Core, seqs: Sequence[int], note: str) -> str:
    """The task that a note over these messages is about; empty where it is about none."""
    for task in map(as_task, core.store.tasks(core.id)):
        inside = task.last is not None and task.first <= seqs[0] and seqs[-1] <= task.last
        if inside and f"\n{neutral(shown(task))}\n" in note:
            return shown(task)
    return ""


def _finish(core: Core) -> None:
    """Summarise the tasks that are over and have no summary, and let these stand for their messages."""
    begun = time.perf_counter()
    aim = core.aim()
    noting.written_beforehand(core, aim, lambda answer: [_made(core, t, answer) for t in _over(core)])
    with core.writing() as events:
        answers = Answers(core.desk.library, aim.meter.text, better=False)
        for task in _over(core):
            made = _made(core, task, answers)
            _keep(core, task, made, events, seconds=time.perf_counter() - begun)
        answers.save()


def _over(core: Core) -> list[TaskRecord]:
    tasks = core.store.tasks(core.id)
    return [task for task in tasks if task.ended_at is not None and task.summary is None]


def _made(core: Core, task: TaskRecord, answer: Answer) -> _Outcome:
    aim = core.aim()
    history = core.ledger.history(aim)
    turns = _turns(history, task)
    if not turns:
        return _Outcome()
    heard = noting.said(core, history, turns)
    original = sum(each.tokens for each in heard)
    note = noting.made(core, aim, turns, answer=answer, title=shown(as_task(task)))
    summary = note.summary if note else noting.told(core, aim, heard, answer=answer)
    compressed = note.tokens if note else aim.meter.text(summary)
    return _Outcome(summary=summary, messages=len(heard), original=original, compressed=compressed, note=note)


def _turns(history: History, task: TaskRecord) -> list[int]:
    """The turns of a task that can leave: whole, shown, neither fixed nor still to be answered."""
    if task.last is None or task.last < task.first:
        return []
    newest = history.entries[-1]
    answered = newest.role == "assistant" and not newest.calls
    stay = {*history.pinned, *(() if answered else (noting.open_turn(history),))}
    inside = range(history.turn_of(task.first), history.turn_of(task.last) + 1)
    return [
        turn
        for turn in inside
        if turn not in stay
        and not history.absence(turn)
        and task.first <= min(noting.behind(history, turn))
        and history.span(turn)[1] <= task.last
    ]


def _keep(core: Core, task: TaskRecord, made: _Outcome, events: list[Event], *, seconds: float) -> None:
    _save(core, task, made.summary)
    if made.note:
        noting.put(core, made.note)
        core.ledger.catch_up()
    if made.original:
        record = CompressionRecord(
            created_at=time.time(),
            original=made.original,
            compressed=made.compressed,
            seconds=seconds,
            what=f"task {task.number}",
        )
        core.store.save_compression(core.id, record)
    events.append(
        TaskCompleted(
            session=core.name,
            task=task.number,
            messages=made.messages,
            original=made.original,
            compressed=made.compressed,
        )
    )


def _save(core: Core, task: TaskRecord, summary: str) -> None:
    core.store.save_task_summary(core.id, task.number, summary)


def summarized_again(core: Core) -> None:
    """Summaries that were taken away because something in them was erased are made of what is left."""
    core.ledger.catch_up()
    aim = core.aim()
    history = core.ledger.history(aim)
    answer = partial(extractive, count=aim.meter.text)
    for task in _over(core):
        heard = noting.said(core, history, _turns(history, task))
        _save(core, task, noting.told(core, aim, heard, answer=answer))
