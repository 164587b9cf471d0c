"""A task's messages in → the summary that stands for it at session level.

Decisions, constraints and corrections come first, word for word and all of them; errors with what resolved
them follow, and a summarizer tells the rest. Never more tokens than were asked for, unless the records alone
need more. The result is text alone: a window puts it into an envelope.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from foveal.pipeline.summarize.extract import chosen, counts, extractive, of_summaries
from foveal.pipeline.summarize.facts import directs
from foveal.pipeline.summarize.failures import Resolved
from foveal.pipeline.summarize.notes import recorded
from foveal.pipeline.summarize.records import distinct
from foveal.pipeline.summarize.values import Answer, Ask
from foveal.pipeline.summarize.voices import Said

CARRIED = 0.5
"""Share of what records leave of a summary's tokens that resolutions may take, the newest first."""
LEAST = 4
"""Tokens in which something can be told."""
NAME = 120
"""Characters of a task's name that are shown."""

Count = Callable[[str], int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A stretch of a session that belongs together."""

    number: int
    name: str
    first: int
    last: int | None
    """Positions of its messages, both included; None while it is open."""
    summary: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a summary of a task consists of: what is carried as it is, and what is to be asked for."""

    records: tuple[str, ...]
    resolved: tuple[str, ...]
    ask: Ask
    known: frozenset[str]
    """Sentences that the records hold already."""


def outcome(said: Sequence[Said], resolved: Sequence[Resolved], *, tokens: int, count: Count) -> Outcome:
    """Take the task apart: its records, the resolutions that fit their share, and a summary to ask for."""
    records = distinct(each for one in said for each in one.records)
    lines = tuple(map(recorded, records))
    left = tokens - _cost(lines, count)
    carried = _newest(list(_resolutions(resolved)), int(left * CARRIED), count)
    passages = tuple(passage for each in said for passage in each.passages)
    return Outcome(
        records=lines,
        resolved=carried,
        ask=Ask(passages=passages, tokens=left - _cost(carried, count), level=1),
        known=frozenset(record.text for record in records),
    )


def task_summary(
    said: Sequence[Said], resolved: Sequence[Resolved], *, tokens: int, count: Count, answer: Answer
) -> str:
    """The text to keep for a task that is complete; empty for a task without messages."""
    if not said:
        return ""
    found = outcome(said, resolved, tokens=tokens, count=count)
    lines = [*found.records, *_told(found, count, answer), *found.resolved]
    # Parts may cost a token more together than apart.
    while len(lines) > len(found.records) and count("\n".join(lines)) > tokens:
        del lines[-1]
    return "\n".join(lines)


def _told(found: Outcome, count: Count, answer: Answer) -> list[str]:
    """The rest in the room that is left, without the sentences that are carried."""
    if found.ask.tokens < LEAST:
        return []
    made = answer(found.ask)
    if made.by != "extractive" or not found.known:
        return [made.text] if made.text else []
    # An extract begins with what was decided: without it there is room for other lines.
    longer = replace(found.ask, tokens=found.ask.tokens + _cost(found.records, count))
    lines = list(of_summaries([extractive(longer, count).text]))
    overview = next((line.text for line in lines[:1] if counts(line.text)), "")
    rest = [line for line in lines if line.said not in found.known and line.text != overview]
    return chosen(rest, found.ask.tokens, count, overview=overview).splitlines()


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


def shown(task: Task) -> str:
    """A task by its number and name, on one line.

    >>> shown(Task(number=2, name="fix the login", first=0, last=8))
    'task 2, “fix the login”'
    """
    name = " ".join(task.name.split())[:NAME]
    return f"task {task.number}, “{name}”" if name else f"task {task.number}"


def _resolutions(resolved: Sequence[Resolved]) -> Iterator[str]:
    for each in resolved:
        # The words of the error are a tool's: they are repeated only where they speak to nobody.
        what = "an error" if directs(each.line) else f"“{each.line}”"
        yield f"- resolved: {what}, message {each.error_seq + 1:,} → message {each.resolution_seq + 1:,}"
