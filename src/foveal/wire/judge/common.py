"""What the judges of several providers share: a rule's shape, names, arguments, and pairing by adjacency."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

JSON = dict[str, Any]
Rule = Callable[[JSON], bool]
"""True when the request breaks it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One message of a request: the calls it makes and the calls it answers, by key."""

    calls: tuple[str, ...] = ()
    answers: tuple[str, ...] = ()


def orphaned(steps: Sequence[Step]) -> bool:
    """An answer to no call of the message before it, answers in between aside."""
    waiting: list[str] = []
    for step in steps:
        for answer in step.answers:
            if answer not in waiting:
                return True
            waiting.remove(answer)
        if not step.answers or step.calls:
            waiting = list(step.calls)
    return False


def unanswered(steps: Sequence[Step]) -> bool:
    """A call that something other than its answer follows."""
    waiting: list[str] = []
    for step in steps:
        waiting = [key for key in waiting if key not in step.answers]
        if waiting and not step.answers:
            return True
        waiting += step.calls
    return bool(waiting)


def doubled(keys: Sequence[str]) -> bool:
    return len(set(keys)) < len(keys)


def is_name(name: Any, pattern: re.Pattern[str]) -> bool:
    return isinstance(name, str) and pattern.fullmatch(name) is not None


def is_json(text: Any) -> bool:
    try:
        json.loads(text)
    except (TypeError, ValueError):
        return False
    return True


def blank(text: Any) -> bool:
    return not (isinstance(text, str) and text.strip())


def blocks(content: Any) -> list[JSON]:
    """A message's content as blocks, whichever way it was written."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [block for block in content or () if isinstance(block, dict)]
