"""What a session is at, and what was just said, in → what to compress and what to bring back, and why.

The compress-or-retrieve table: one small function for each row, its reason in a sentence. Nothing here acts;
whoever does takes the steps in their order.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Literal

from foveal.pipeline.signals import identifier_counts, word_counts
from foveal.pipeline.summarize.failures import ResolvedError, error_lines
from foveal.pipeline.summarize.tasks import Task, task_label
from foveal.pipeline.values import Item, Scene
from foveal.presets.fifth.levels import FifthNumbers, due, slot_of
from foveal.window import Score

Action = Literal["compress", "drop", "summarize", "retrieve"]
MOST = 3
"""Tasks, errors and stretches of the past that are brought back at a time."""
AROUND = 1
"""Messages on each side of a mentioned one that are brought back with it."""
FEWEST_WORDS = 2
"""Shared words that make a mention, where no identifier is shared and there are as many to share."""
SHOWN = 5
"""Shared words that a reason names."""
_DOING = frozenset(
    {"fix", "add", "make", "implement", "update", "create", "change", "write", "build", "check", "task"}
)
"""Words that say what to do, not with what."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """What the table looks at."""

    items: Sequence[Item]
    """What the window holds now."""
    scores: Sequence[Score]
    """One for each item."""
    scene: Scene
    asked: str = ""
    """The newest message of the user."""
    brought: Sequence[str] = ()
    """What tools brought since then."""
    tasks: Sequence[Task] = ()
    """Oldest first."""
    starting: Task | None = None
    """The task that begins with the newest message, if one does."""
    resolved: Sequence[ResolvedError] = ()
    """Errors of before, with what resolved them."""
    past: Sequence[Item] = ()
    """From outside the window: what a search for `asked` found, the best first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One thing to do with a stretch of the history, and why."""

    action: Action
    first: int
    last: int
    """Positions of its messages, both included."""
    because: str
    task: int | None = None
    """The number of the task that is summarized, or whose summary is retrieved in place of its messages."""


def steps(now: Situation, *, numbers: FifthNumbers | None = None) -> tuple[Step, ...]:
    """Every row of the table that applies: what makes room first, then what is brought back."""
    by = numbers or FifthNumbers()
    begun = tuple(new_task(now, by))
    cleared = {step.first for step in begun if step.action == "drop"}
    crowded = (step for step in out_of_room(now, by) if step.first not in cleared)
    return (*begun, *crowded, *old_task(now), *repeated_error(now), *past_topic(now))


def out_of_room(now: Situation, by: FifthNumbers) -> Iterator[Step]:
    """Over the mark: the oldest working memory; past its age; of low score while space is needed."""
    for each in due(now.items, now.scores, now.scene, numbers=by):
        yield Step(action=each.action, first=each.index, last=each.index, because=each.because)


def new_task(now: Situation, by: FifthNumbers) -> Iterator[Step]:
    """A task begins: the one before is summarized into session level, and volatile memory is cleared."""
    if now.starting is None:
        return
    begins = f"{task_label(now.starting)} begins"
    before = [task for task in now.tasks if task.number < now.starting.number]
    if before and not before[-1].summary and before[-1].first < now.starting.first:
        last = now.starting.first - 1 if before[-1].last is None else before[-1].last
        yield Step(
            action="summarize",
            first=before[-1].first,
            last=last,
            because=f"{begins}: {task_label(before[-1])} is over and goes to the session level",
            task=before[-1].number,
        )
    for item in now.items:
        if slot_of(item, numbers=by) == "volatile" and not item.pinned:
            because = f"{begins}: volatile memory is cleared"
            yield Step(action="drop", first=item.index, last=item.index, because=because)


def old_task(now: Situation) -> Iterator[Step]:
    """A task that is over is referred to, by its number, its name or what it was about: its summary comes."""
    over = [task for task in now.tasks if task.last is not None and task.summary]
    found = [(task, why) for task in reversed(over) if (why := _refers(now.asked, task))]
    for task, why in found[:MOST]:
        assert task.last is not None
        yield Step(
            action="retrieve",
            first=task.first,
            last=task.last,
            because=f"{task_label(task)} is referred to: {why}",
            task=task.number,
        )


def repeated_error(now: Situation) -> Iterator[Step]:
    """An error occurs again: where it occurred before, and what resolved it then."""
    lines = {line for text in (now.asked, *now.brought) for line in error_lines(text)}
    held = {item.index for item in now.items}
    again = [each for each in now.resolved if each.line in lines]
    for each in again[-MOST:]:
        places = (
            f"message {each.error_seq + 1:,} reported it, message {each.resolution_seq + 1:,} resolved it"
        )
        for seq in sorted({each.error_seq, each.resolution_seq} - held):
            yield Step(action="retrieve", first=seq, last=seq, because=f"an error occurs again: {places}")


def past_topic(now: Situation) -> Iterator[Step]:
    """Something of the past is mentioned: the messages about it, and those around them."""
    taken = {item.index for item in now.items}
    end = max((item.index for item in (*now.items, *now.past)), default=0)
    mentioned = ((item.index, _shared(now.asked, item.text, of=now.asked)) for item in now.past)
    fresh = ((at, why) for at, why in mentioned if why and at not in taken)
    for at, why in islice(fresh, MOST):
        around = range(max(0, at - AROUND), min(end, at + AROUND) + 1)
        first = next(seq for seq in around if taken.isdisjoint(range(seq, at + 1)))
        last = next(seq for seq in reversed(around) if taken.isdisjoint(range(at, seq + 1)))
        taken.update(range(first, last + 1))
        yield Step(action="retrieve", first=first, last=last, because=f"a past topic is mentioned: {why}")


def _refers(asked: str, task: Task) -> str:
    """By what a task is referred to; empty if it is not."""
    if re.search(rf"\btask[ #-]{{0,2}}{task.number}\b", asked, re.IGNORECASE):
        return f"task {task.number} is named"
    # A summary has many words: one of them alone is no reference to it.
    return _shared(asked, task.name, of=task.name) or _shared(
        asked, task.summary, of=asked, least=FEWEST_WORDS
    )


def _shared(asked: str, text: str, *, of: str, least: int = 1) -> str:
    """What was asked and a text have in common: an identifier, or enough of the words of one of them."""
    names = identifier_counts(asked).keys() & identifier_counts(text).keys()
    if names:
        return f"“{min(names)}” is in both"
    needed = word_counts(of).keys() - _DOING or word_counts(of).keys()
    both = needed & word_counts(asked).keys() & word_counts(text).keys()
    enough = max(least, min(len(needed), FEWEST_WORDS), -(-len(needed) // 2))
    return f"{', '.join(sorted(both)[:SHOWN])} in both" if len(both) >= enough else ""
