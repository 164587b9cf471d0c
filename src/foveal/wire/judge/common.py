"""What the rules of several providers share: pairing of calls and results, names, JSON, blocks."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

JSON = dict[str, Any]
Rule = Callable[[JSON], bool]
"""Returns whether the request breaks it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One message of a request: the ids of the calls it makes and of those it answers."""

    calls: tuple[str, ...] = ()
    answers: tuple[str, ...] = ()


def orphaned(steps: Sequence[Step]) -> bool:
    """Whether a result answers no call of the message before it; other results may be in between."""
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
    """Whether a call is followed by anything but its result."""
    waiting: list[str] = []
    for step in steps:
        waiting = [key for key in waiting if key not in step.answers]
        if waiting and not step.answers:
            return True
        waiting += step.calls
    return bool(waiting)


def has_duplicates(keys: Sequence[str]) -> bool:
    return len(set(keys)) < len(keys)


def is_name(name: Any, pattern: re.Pattern[str]) -> bool:
    return isinstance(name, str) and pattern.fullmatch(name) is not None


def is_id(value: Any) -> bool:
    return isinstance(value, str) and bool(value)


def is_json(text: Any) -> bool:
    try:
        json.loads(text)
    except (TypeError, ValueError):
        return False
    return True


def blank(text: Any) -> bool:
    return not (isinstance(text, str) and text.strip())


def blocks(content: Any) -> list[JSON]:
    """A message's content as blocks; a text is one block."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []


def bad_content(content: Any, *, null: bool = True) -> bool:
    """Whether a content is neither text nor blocks, or has a block of text without one."""
    if content is None:
        return not null
    if not isinstance(content, list):
        return not isinstance(content, str)
    return any(not isinstance(block, dict) or _lacks_text(block) for block in content)


def _lacks_text(block: JSON) -> bool:
    kind = block.get("type")
    key = "refusal" if kind == "refusal" else "text"
    return kind in _TEXTS and not isinstance(block.get(key), str)


_TEXTS = ("text", "input_text", "output_text", "refusal")
