"""A task's messages in → the summary that stands for it at session level.

What was decided is carried word for word and errors with what resolved them; a summarizer tells the rest.
Never more tokens than were asked for. The result is text alone: a window puts it into an envelope.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from foveal.pipeline.compact.envelope import recorded
from foveal.pipeline.compact.facts import directs
from foveal.pipeline.compact.failures import Resolved
from foveal.pipeline.compact.records import distinct
from foveal.pipeline.compact.values import Answer, Ask
from foveal.pipeline.compact.voices import Said

CARRIED = 0.5
"""Share of a summary's tokens that decisions and resolutions may take, the newest before the oldest."""
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

    carried: tuple[str, ...]
    ask: Ask


def outcome(said: Sequence[Said], resolved: Sequence[Resolved], *, tokens: int, count: Count) -> Outcome:
    """Take the task apart: records and resolutions that fit their share, and a summary to ask for."""
    carried: list[str] = []
    left = int(tokens * CARRIED)
    for line in reversed(list(_carried(said, resolved))):
        if (cost := count(f"{line}\n")) <= left:
            carried.append(line)
            left -= cost
    spent = count("\n".join(carried)) + 1 if carried else 0
    passages = tuple(passage for each in said for passage in each.passages)
    return Outcome(
        carried=tuple(reversed(carried)), ask=Ask(passages=passages, tokens=max(1, tokens - spent), level=1)
    )


def task_summary(
    said: Sequence[Said], resolved: Sequence[Resolved], *, tokens: int, count: Count, answer: Answer
) -> str:
    """The text to keep for a task that is complete; empty for a task without messages."""
    if not said:
        return ""
    found = outcome(said, resolved, tokens=tokens, count=count)
    told, carried = answer(found.ask).text, list(found.carried)
    # Parts may cost a token more together than apart.
    while carried and count("\n".join((told, *carried))) > tokens:
        del carried[0]
    return "\n".join(filter(None, (told, *carried)))


def shown(task: Task) -> str:
    """A task by its number and name, on one line.

    >>> shown(Task(number=2, name="fix the login", first=0, last=8))
    'task 2, “fix the login”'
    """
    name = " ".join(task.name.split())[:NAME]
    return f"task {task.number}, “{name}”" if name else f"task {task.number}"


def _carried(said: Sequence[Said], resolved: Sequence[Resolved]) -> Iterator[str]:
    yield from (recorded(record) for record in distinct(each for one in said for each in one.records))
    for each in resolved:
        # The words of the error are a tool's: they are repeated only where they speak to nobody.
        what = "an error" if directs(each.line) else f"“{each.line}”"
        yield f"- resolved: {what}, message {each.error_seq + 1:,} → message {each.resolution_seq + 1:,}"
