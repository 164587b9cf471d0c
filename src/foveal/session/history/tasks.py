"""A task's beginning and end in → its summary, standing in for its messages at session level."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from foveal.errors import NotFoundError
from foveal.events import Event, Reported, TaskCompleted, TaskStarted
from foveal.pipeline.history import History
from foveal.pipeline.summarize.extract import extractive
from foveal.pipeline.summarize.notes import neutral
from foveal.pipeline.summarize.tasks import Task, shown
from foveal.pipeline.summarize.values import Answer
from foveal.pipeline.values import Scene
from foveal.presets.fifth.triggers import Situation, new_task
from foveal.session.history import stand_ins
from foveal.session.history.stand_ins import Note
from foveal.session.inspect.stats import unread
from foveal.session.state import SessionState
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


def start_task(state: SessionState, name: str) -> int:
    """Begin a task: the one before is summarized, then volatile memory is cleared.

    Whatever the session's preset: that is chosen for each window, while what a session remembers, and at
    which level, is the session's own. So `compress` treats it, and so do tasks.
    """
    with state.writing() as events:
        record = state.store.start_task(state.id, name, now=time.time())
        events.append(TaskStarted(session=state.name, task=record.number))
    _finish(state)
    with state.writing() as events:
        _clear(state, record, events)
    return record.number


def complete_task(state: SessionState) -> str:
    with state.writing():
        ended = state.store.end_task(state.id, now=time.time())
    if ended is None:
        raise NotFoundError(
            f"session `{state.name}` has no open task",
            remedy="`start_task` begins one with the next message",
            see="tasks",
        )
    _finish(state)
    told = {task.number: task.summary or "" for task in state.store.tasks(state.id)}
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


def title(state: SessionState, seqs: Sequence[int], note: str) -> str:
    """The task that a note over these messages is about; empty where it is about none."""
    for task in map(as_task, state.store.tasks(state.id)):
        inside = task.last is not None and task.first <= seqs[0] and seqs[-1] <= task.last
        if inside and f"\n{neutral(shown(task))}\n" in note:
            return shown(task)
    return ""


def _clear(state: SessionState, task: TaskRecord, events: list[Event]) -> None:
    """Leave out what was volatile before the task, until it is restored."""
    history = state.log.history(state.target())
    gone = [history.entries[seq] for seqs in _volatile(state, history, task) for seq in seqs]
    for entry in gone:
        state.store.mark(state.id, entry.seq, absence="left out")
    if gone:
        tokens = sum(entry.tokens for entry in gone)
        told = {"task": task.number, "removed": len(gone), "token_reduction": tokens}
        events.append(Reported(name="context:cleared", session=state.name, payload=told))


def _volatile(state: SessionState, history: History, task: TaskRecord) -> list[range]:
    """The turns before a task of which nothing is to last, the calls that brought it aside."""
    found = [item for item in unread(history) if item.index < task.first]
    now = Situation(items=found, scores=(), scene=Scene(now=0.0), starting=as_task(task))
    gone = {step.first for step in new_task(now, state.resources.fifth) if step.action == "drop"}
    idle = gone | {item.index for item in found if item.kind == "tool_input"}
    turns = sorted({history.turn_of(seq) for seq in gone} - _staying(history))
    spans = [history.span(turn) for turn in turns if not history.absence(turn)]
    whole = [range(first, last + 1) for first, last in spans]
    return [seqs for seqs in whole if idle.issuperset(seqs)]


def _finish(state: SessionState) -> None:
    """Summarise the tasks that are over and have no summary, and let these stand for their messages."""
    begun = time.perf_counter()

    def plan(answer: Answer) -> list[tuple[TaskRecord, _Outcome]]:
        return [(task, _made(state, task, answer)) for task in _over(state)]

    def act(made: list[tuple[TaskRecord, _Outcome]], events: list[Event]) -> None:
        over = _over(state)  # somebody else may have finished one meanwhile
        for task, outcome in made:
            if task in over:
                _keep(state, task, outcome, events, seconds=time.perf_counter() - begun)

    stand_ins.acted_on(state, state.target(), plan, act)


def _over(state: SessionState) -> list[TaskRecord]:
    tasks = state.store.tasks(state.id)
    return [task for task in tasks if task.ended_at is not None and task.summary is None]


def _made(state: SessionState, task: TaskRecord, answer: Answer) -> _Outcome:
    target = state.target()
    history = state.log.history(target)
    turns = _turns(history, task)
    if not turns:
        return _Outcome()
    heard = stand_ins.said(state, history, turns)
    original = sum(each.tokens for each in heard)
    note = stand_ins.made(state, target, turns, answer=answer, title=shown(as_task(task)))
    summary = note.summary if note else stand_ins.told(state, target, heard, answer=answer)
    compressed = note.tokens if note else target.meter.text(summary)
    return _Outcome(summary=summary, messages=len(heard), original=original, compressed=compressed, note=note)


def _turns(history: History, task: TaskRecord) -> list[int]:
    """The turns of a task that can leave: whole, shown, neither fixed nor still to be answered."""
    if task.last is None or task.last < task.first:
        return []
    stay = _staying(history)
    inside = range(history.turn_of(task.first), history.turn_of(task.last) + 1)
    free = [turn for turn in inside if turn not in stay and not history.absence(turn)]
    return [
        turn
        for turn, seqs in zip(free, stand_ins.behind(history, free), strict=True)
        if task.first <= seqs[0] and seqs[-1] <= task.last
    ]


def _staying(history: History) -> set[int]:
    """The turns that are fixed, and the one that is still to be answered."""
    newest = history.entries[-1] if history.entries else None
    answered = newest is not None and newest.role == "assistant" and not newest.calls
    return {*history.pinned, *(() if answered else (stand_ins.open_turn(history),))}


def _keep(
    state: SessionState, task: TaskRecord, made: _Outcome, events: list[Event], *, seconds: float
) -> None:
    _save(state, task, made.summary)
    if made.note:
        stand_ins.put(state, made.note)
        state.log.catch_up()
    if made.original:
        record = CompressionRecord(
            created_at=time.time(),
            original=made.original,
            compressed=made.compressed,
            seconds=seconds,
            what=f"task {task.number}",
        )
        state.store.save_compression(state.id, record)
    events.append(
        TaskCompleted(
            session=state.name,
            task=task.number,
            messages=made.messages,
            original=made.original,
            compressed=made.compressed,
        )
    )


def _save(state: SessionState, task: TaskRecord, summary: str) -> None:
    state.store.save_task_summary(state.id, task.number, summary)


def summarized_again(state: SessionState) -> None:
    """Summaries that were taken away because something in them was erased are made of what is left."""
    state.log.catch_up()
    target = state.target()
    history = state.log.history(target)
    answer = partial(extractive, count=target.meter.text)
    for task in _over(state):
        heard = stand_ins.said(state, history, _turns(history, task))
        _save(state, task, stand_ins.told(state, target, heard, answer=answer))
