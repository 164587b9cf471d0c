"""Decide which stretches of the past the newest message refers to, and why.

Three triggers retrieve something: a finished task, an error that was resolved before, and a past topic.
Nothing here acts; the caller retrieves the steps in their order.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from itertools import islice

from foveal.pipeline.signals import identifier_counts, word_counts
from foveal.pipeline.summarize.failures import ResolvedError, error_lines
from foveal.pipeline.summarize.tasks import Task, task_label
from foveal.pipeline.values import Item
from foveal.search.terms import terms

MOST = 3
"""Tasks, errors or stretches that one trigger retrieves at a time."""
AROUND = 1
"""Messages of the same exchange, on each side of a mentioned one, that are retrieved with it."""
FEWEST_WORDS = 2
"""Shared words that count as a mention if no identifier is shared, unless there are fewer to share."""
SHOWN = 5
"""Shared words that a reason names."""
_INSTRUCTIONS = frozenset(
    {
        "add", "build", "change", "check", "create", "debug", "finish", "fix", "implement", "improve", "make",
        "refactor", "remove", "repair", "review", "task", "test", "update", "write",
    }
)  # fmt: skip
"""Words that say what to do, not with what."""
_RECALLING = frozenset(
    {
        "back", "discuss", "discussed", "go", "know", "mention", "mentioned", "recall", "remember", "remind",
        "return", "said", "say", "talk", "talked", "tell", "think", "told", "us",
    }
)  # fmt: skip
"""Words that say that something is past, not what."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """What the triggers look at."""

    items: Sequence[Item]
    """The items in the window."""
    prompt: str = ""
    """The newest message of the user."""
    tool_results: Sequence[str] = ()
    """Results of tools since then."""
    tasks: Sequence[Task] = ()
    """Oldest first."""
    resolved: Sequence[ResolvedError] = ()
    """Earlier errors, with what resolved them."""
    past: Sequence[Item] = ()
    """What a search for `prompt` found outside the window, the best first."""
    requests: Sequence[int] = ()
    """Positions of the user's messages in the history, in order: each begins an exchange."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One stretch of the history to retrieve, and why."""

    first: int
    last: int
    """Positions of its messages, both included."""
    because: str
    task: int | None = None
    """The number of the task whose summary is retrieved instead of its messages."""


def old_task(now: Situation) -> Iterator[Step]:
    """Finished tasks that the prompt refers to by number, by name or by content, newest first."""
    over = [task for task in now.tasks if task.last is not None and task.summary]
    found = [(task, why) for task in reversed(over) if (why := _reference(now.prompt, task))]
    for task, why in found[:MOST]:
        assert task.last is not None
        yield Step(
            first=task.first,
            last=task.last,
            because=f"{task_label(task)} is referred to: {why}",
            task=task.number,
        )


def repeated_error(now: Situation) -> Iterator[Step]:
    """For an error that occurs again, the message that reported it before and the one that resolved it."""
    lines = {line for text in (now.prompt, *now.tool_results) for line in error_lines(text)}
    in_window = {item.index for item in now.items}
    again = [each for each in now.resolved if each.line in lines]
    for each in again[-MOST:]:
        places = (
            f"message {each.error_seq + 1:,} reported it, message {each.resolution_seq + 1:,} resolved it"
        )
        for seq in sorted({each.error_seq, each.resolution_seq} - in_window):
            yield Step(first=seq, last=seq, because=f"an error occurs again: {places}")


def past_topic(now: Situation) -> Iterator[Step]:
    """Past messages about something that the prompt mentions, with their neighbours in the same exchange.

    The message before a request and the one after the answers to it may be about another topic.
    """
    taken = {item.index for item in now.items}
    end = max((item.index for item in (*now.items, *now.past)), default=0)
    mentioned = ((item.index, _mention(now.prompt, item.text)) for item in now.past)
    fresh = ((at, why) for at, why in mentioned if why and at not in taken)
    for at, why in islice(fresh, MOST):
        next_request = bisect_right(now.requests, at)
        begin = now.requests[next_request - 1] if next_request else 0
        stop = now.requests[next_request] if next_request < len(now.requests) else end + 1
        around = range(max(begin, at - AROUND), min(stop, at + AROUND + 1))
        first = next(seq for seq in around if taken.isdisjoint(range(seq, at + 1)))
        last = next(seq for seq in reversed(around) if taken.isdisjoint(range(at, seq + 1)))
        taken.update(range(first, last + 1))
        yield Step(first=first, last=last, because=f"a past topic is mentioned: {why}")


def _mention(prompt: str, text: str) -> str:
    """What of a text the prompt mentions: an identifier, or enough of its words in any form."""
    asked = {word for word in word_counts(prompt) if word not in _INSTRUCTIONS | _RECALLING}
    return _name_in_both(prompt, text) or _words_in_both(asked, _in_any_form(asked, text))


def _reference(prompt: str, task: Task) -> str:
    """How the prompt refers to a task; empty if it does not."""
    if re.search(rf"\btask[ #-]{{0,2}}{task.number}\b", prompt, re.IGNORECASE):
        return f"task {task.number} is named"
    # A summary has many words: sharing one of them is not yet a reference.
    return _shared(prompt, task.name, of=task.name) or _shared(
        prompt, task.summary, of=prompt, least=FEWEST_WORDS
    )


def _shared(prompt: str, text: str, *, of: str, least: int = 1) -> str:
    """What the prompt and a text have in common: an identifier, or enough of the words of `of`."""
    needed = word_counts(of).keys() - _INSTRUCTIONS or word_counts(of).keys()
    both = needed & word_counts(prompt).keys() & word_counts(text).keys()
    return _name_in_both(prompt, text) or _words_in_both(needed, both, least=least)


def _name_in_both(prompt: str, text: str) -> str:
    names = identifier_counts(prompt).keys() & identifier_counts(text).keys()
    return f"“{min(names)}” is in both" if names else ""


def _in_any_form(words: Set[str], text: str) -> set[str]:
    known = set(terms(text).all)
    return {word for word in words if known.issuperset(terms(word).all)}


def _words_in_both(needed: Set[str], both: Set[str], *, least: int = 1) -> str:
    """The words in both, if they are enough of the needed ones."""
    enough = max(least, min(len(needed), FEWEST_WORDS), -(-len(needed) // 2))
    return f"{', '.join(sorted(both)[:SHOWN])} in both" if len(both) >= enough else ""
