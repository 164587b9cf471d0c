"""Summarize a completed task for the session: its records, resolved errors, and a summary of the rest.

Decisions, constraints and corrections come first, word for word and all of them. The text never exceeds the
tokens asked for, unless the records alone need more. It is plain text; a window shows it in a note.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from foveal.pipeline.summarize.extract import (
    Count,
    choose_lines,
    extractive_summary,
    is_overview,
    lines_of_summaries,
)
from foveal.pipeline.summarize.facts import directs
from foveal.pipeline.summarize.failures import ResolvedError
from foveal.pipeline.summarize.notes import record_line
from foveal.pipeline.summarize.records import distinct_records
from foveal.pipeline.summarize.values import Answer, Ask
from foveal.pipeline.summarize.voices import Utterance

RESOLUTION_SHARE = 0.5
"""Of the tokens that records leave, the share that resolutions may take, the newest first."""
SHORTEST_ASK = 4
"""Fewer tokens are not worth a summary."""
MAX_NAME = 120
"""Characters of a task's name that are shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A range of messages that belong to one task."""

    number: int
    name: str
    first: int
    last: int | None
    """Positions of its messages, both included; None while it is open."""
    summary: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskParts:
    """What a task's summary consists of: lines kept word for word, and a summary to ask for."""

    records: tuple[str, ...]
    resolved: tuple[str, ...]
    ask: Ask
    known: frozenset[str]
    """Sentences that the records already contain."""


def task_parts(
    utterances: Sequence[Utterance], resolved: Sequence[ResolvedError], *, tokens: int, count: Count
) -> TaskParts:
    """A task's records, the resolutions that fit their share, and the summary to ask for."""
    records = distinct_records(each for one in utterances for each in one.records)
    lines = tuple(map(record_line, records))
    left = tokens - _cost(lines, count)
    resolutions = _newest(list(_resolutions(resolved)), int(left * RESOLUTION_SHARE), count)
    passages = tuple(passage for each in utterances for passage in each.passages)
    return TaskParts(
        records=lines,
        resolved=resolutions,
        ask=Ask(passages=passages, tokens=left - _cost(resolutions, count), level=1),
        known=frozenset(record.text for record in records),
    )


def task_summary(
    utterances: Sequence[Utterance],
    resolved: Sequence[ResolvedError],
    *,
    tokens: int,
    count: Count,
    answer: Answer,
) -> str:
    """The text to keep for a completed task; empty for a task without messages."""
    if not utterances:
        return ""
    parts = task_parts(utterances, resolved, tokens=tokens, count=count)
    lines = [*parts.records, *_rest(parts, count, answer), *parts.resolved]
    # Lines may cost a token more together than apart.
    while len(lines) > len(parts.records) and count("\n".join(lines)) > tokens:
        del lines[-1]
    return "\n".join(lines)


def _rest(parts: TaskParts, count: Count, answer: Answer) -> list[str]:
    """A summary of the rest in the room that is left, without the sentences of the records."""
    if parts.ask.tokens < SHORTEST_ASK:
        return []
    summary = answer(parts.ask)
    if summary.by != "extractive" or not parts.known:
        return [summary.text] if summary.text else []
    # An extract contains the decisions again: without them there is room for other lines.
    longer = replace(parts.ask, tokens=parts.ask.tokens + _cost(parts.records, count))
    lines = list(lines_of_summaries([extractive_summary(longer, count).text]))
    overview = next((line.text for line in lines[:1] if is_overview(line.text)), "")
    rest = [line for line in lines if line.sentence not in parts.known and line.text != overview]
    return choose_lines(rest, parts.ask.tokens, count, overview=overview).splitlines()


def _cost(lines: Sequence[str], count: Count) -> int:
    return count("\n".join(lines)) + 1 if lines else 0


def _newest(lines: Sequence[str], room: int, count: Count) -> tuple[str, ...]:
    """The newest lines that fit."""
    kept: list[str] = []
    for line in reversed(lines):
        if (cost := count(f"{line}\n")) <= room:
            kept.append(line)
            room -= cost
    return tuple(reversed(kept))


def task_label(task: Task) -> str:
    """A task's number and name, on one line.

    >>> task_label(Task(number=2, name="fix the login", first=0, last=8))
    'task 2, “fix the login”'
    """
    name = " ".join(task.name.split())[:MAX_NAME]
    return f"task {task.number}, “{name}”" if name else f"task {task.number}"


def _resolutions(resolved: Sequence[ResolvedError]) -> Iterator[str]:
    for each in resolved:
        # The error is tool output: it is quoted only where it directs no reader.
        what = "an error" if directs(each.line) else f"“{each.line}”"
        yield f"- resolved: {what}, message {each.error_seq + 1:,} → message {each.resolution_seq + 1:,}"
