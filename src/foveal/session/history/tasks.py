"""Start and complete tasks: a finished task's summary replaces its messages in windows."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from foveal.errors import NotFoundError
from foveal.events import Event, Reported, TaskCompleted, TaskStarted
from foveal.pipeline.history import History
from foveal.pipeline.summarize.extract import extractive_summary
from foveal.pipeline.summarize.notes import neutral
from foveal.pipeline.summarize.tasks import Task, task_label
from foveal.pipeline.summarize.values import Answer
from foveal.presets.fifth.levels import cleared_by_task
from foveal.session.history import stand_ins
from foveal.session.history.items import items_without_text
from foveal.session.history.stand_ins import Note
from foveal.session.state import SessionState
from foveal.store import CompressionRecord, TaskRecord


def start_task(state: SessionState, name: str) -> int:
    """Start a task: summarize the one before, then leave volatile messages out of windows.

    This does not depend on the preset: a preset is chosen for each window, whereas the levels of messages
    belong to the session. `compress` does the same.
    """
    with state.writing() as events:
        record = state.store.start_task(state.id, name, now=time.time())
        events.append(TaskStarted(session=state.name, task=record.number))
    _finish(state)
    with state.writing() as events:
        _clear(state, record, events)
    return record.number


def complete_task(state: SessionState) -> str:
    """End the open task and return its summary."""
    with state.writing():
        ended = state.store.end_task(state.id, now=time.time())
    if ended is None:
        raise NotFoundError(
            f"session `{state.name}` has no open task",
            remedy="`start_task` begins one with the next message",
            see="tasks",
        )
    _finish(state)
    summaries = {task.number: task.summary or "" for task in state.store.tasks(state.id)}
    return summaries.get(ended.number, "")  # an edit of the history may have removed the task meanwhile


def resummarize(state: SessionState) -> None:
    """Write the summaries of tasks again that were dropped because a message they covered was erased."""
    state.log.catch_up()
    target = state.target()
    history = state.log.history(target)
    extract = partial(extractive_summary, count=target.meter.text)
    for task in _unsummarized(state):
        messages = stand_ins.read_turns(state, history, _turns(history, task))
        summary = stand_ins.summarize(state, target, messages, answer=extract)
        state.store.save_task_summary(state.id, task.number, summary)


def as_task(record: TaskRecord) -> Task:
    """The stored task as the pipeline's value."""
    return Task(
        number=record.number,
        name=record.name,
        first=record.first,
        last=record.last,
        summary=record.summary or "",
    )


def title_of(state: SessionState, seqs: Sequence[int], note: str) -> str:
    """The title in the note that covers these messages: its task's; empty if it is not a task's note."""
    for task in map(as_task, state.store.tasks(state.id)):
        inside = task.last is not None and task.first <= seqs[0] and seqs[-1] <= task.last
        if inside and f"\n{neutral(task_label(task))}\n" in note:
            return task_label(task)
    return ""


def _clear(state: SessionState, task: TaskRecord, events: list[Event]) -> None:
    """Leave out the volatile messages from before the task, until they are restored."""
    history = state.log.history(state.target())
    cleared = [history.entries[seq] for seqs in _volatile(state, history, task) for seq in seqs]
    for entry in cleared:
        state.store.mark(state.id, entry.seq, absence="left out")
    if cleared:
        tokens = sum(entry.tokens for entry in cleared)
        payload = {"task": task.number, "removed": len(cleared), "token_reduction": tokens}
        events.append(Reported(name="context:cleared", session=state.name, payload=payload))


def _volatile(state: SessionState, history: History, task: TaskRecord) -> list[range]:
    """The positions of turns before a task that are volatile as a whole, apart from their tool calls."""
    found = [item for item in items_without_text(history) if item.index < task.first]
    dropped = cleared_by_task(found, state.resources.fifth)
    volatile = dropped | {item.index for item in found if item.kind == "tool_input"}
    turns = sorted({history.turn_of(seq) for seq in dropped} - _staying(history))
    spans = [history.span(turn) for turn in turns if not history.absence(turn)]
    whole = [range(first, last + 1) for first, last in spans]
    return [seqs for seqs in whole if volatile.issuperset(seqs)]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Outcome:
    """What a finished task is replaced with."""

    summary: str = ""
    messages: int = 0
    original: int = 0
    """Tokens of the messages."""
    compressed: int = 0
    """Tokens of the note or the summary."""
    note: Note | None = None
    """None if the task is too short for a note; its messages stay."""


def _finish(state: SessionState) -> None:
    """Summarize the ended tasks that have no summary, and show the notes in place of their messages."""
    begun = time.perf_counter()

    def plan(answer: Answer) -> list[tuple[TaskRecord, _Outcome]]:
        return [(task, _outcome(state, task, answer)) for task in _unsummarized(state)]

    def apply(outcomes: list[tuple[TaskRecord, _Outcome]], events: list[Event]) -> None:
        left = _unsummarized(state)  # another process may have finished one meanwhile
        for task, outcome in outcomes:
            if task in left:
                _save(state, task, outcome, events, seconds=time.perf_counter() - begun)

    stand_ins.plan_and_apply(state, state.target(), plan, apply)


def _unsummarized(state: SessionState) -> list[TaskRecord]:
    tasks = state.store.tasks(state.id)
    return [task for task in tasks if task.ended_at is not None and task.summary is None]


def _outcome(state: SessionState, task: TaskRecord, answer: Answer) -> _Outcome:
    target = state.target()
    history = state.log.history(target)
    turns = _turns(history, task)
    if not turns:
        return _Outcome()
    messages = stand_ins.read_turns(state, history, turns)
    note = stand_ins.write_note(state, target, turns, answer=answer, title=task_label(as_task(task)))
    summary = note.summary if note else stand_ins.summarize(state, target, messages, answer=answer)
    return _Outcome(
        summary=summary,
        messages=len(messages),
        original=sum(each.tokens for each in messages),
        compressed=note.tokens if note else target.meter.text(summary),
        note=note,
    )


def _turns(history: History, task: TaskRecord) -> list[int]:
    """The turns of a task that a note can replace: whole, shown, neither pinned nor still to be answered."""
    if task.last is None or task.last < task.first:
        return []
    stay = _staying(history)
    inside = range(history.turn_of(task.first), history.turn_of(task.last) + 1)
    free = [turn for turn in inside if turn not in stay and not history.absence(turn)]
    return [
        turn
        for turn, seqs in zip(free, stand_ins.originals(history, free), strict=True)
        if task.first <= seqs[0] and seqs[-1] <= task.last
    ]


def _staying(history: History) -> set[int]:
    """The pinned turns, and the one that is still to be answered."""
    last = history.entries[-1] if history.entries else None
    answered = last is not None and last.role == "assistant" and not last.calls
    return {*history.pinned, *(() if answered else (stand_ins.last_shown_turn(history),))}


def _save(
    state: SessionState, task: TaskRecord, outcome: _Outcome, events: list[Event], *, seconds: float
) -> None:
    state.store.save_task_summary(state.id, task.number, outcome.summary)
    if outcome.note:
        stand_ins.insert_note(state, outcome.note)
        state.log.catch_up()
    if outcome.original:
        record = CompressionRecord(
            created_at=time.time(),
            original=outcome.original,
            compressed=outcome.compressed,
            seconds=seconds,
            what=f"task {task.number}",
        )
        state.store.save_compression(state.id, record)
    events.append(
        TaskCompleted(
            session=state.name,
            task=task.number,
            messages=outcome.messages,
            original=outcome.original,
            compressed=outcome.compressed,
        )
    )
