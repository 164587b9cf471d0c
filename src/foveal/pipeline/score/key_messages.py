"""Messages in → how much each tells of a conversation: its place, substance, code, questions, decisions.

Decisions count without a cap, problems and questions up to one: a message full of errors is no better than
one with three, a message that settles four things is.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from foveal.pipeline.values import Item, Scene, Score

FENCE = "```"


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyMessageNumbers:
    """What makes a message a key message; phrases are separated by `|`."""

    recency: float = 20.0
    substance: float = 5.0
    """Times the binary logarithm of the words and one."""
    substance_most: float = 25.0
    code_block: float = 15.0
    question: float = 5.0
    question_most: float = 15.0
    decision: float = 10.0
    decisions: str = (
        "decided|decision|let's go with|we'll use|agreed|final|conclusion|solution|answer|resolved"
    )
    problem: float = 5.0
    problem_most: float = 15.0
    problems: str = "error|bug|issue|problem|failed|broken|fix|crash|exception|TypeError|undefined"
    user: float = 5.0
    edge: float = 15.0
    """For the first and the last message."""


def key_messages(
    items: Sequence[Item], _scene: Scene, *, numbers: KeyMessageNumbers | None = None
) -> Sequence[Score]:
    """Score every item by its place among these and by what it says."""
    by = numbers or KeyMessageNumbers()
    return [_score(item, place, len(items), by) for place, item in enumerate(items)]


def _score(item: Item, place: int, total: int, by: KeyMessageNumbers) -> Score:
    text = item.text.replace("’", "'")
    parts = {
        "recency": by.recency * place / total,
        "substance": min(by.substance_most, by.substance * math.log2(len(text.split()) + 1)),
        "code": by.code_block * (text.count(FENCE) // 2),
        "questions": min(by.question_most, by.question * text.count("?")),
        "decisions": by.decision * _counter(by.decisions)(text),
        "problems": min(by.problem_most, by.problem * _counter(by.problems)(text)),
        "user": by.user if item.role == "user" else 0.0,
        "edge": by.edge if place in (0, total - 1) else 0.0,
    }
    return Score(total=sum(parts.values()), parts=parts)


@lru_cache(maxsize=16)
def _counter(phrases: str) -> Callable[[str], int]:
    """How often a text has one of the phrases, as whole words in any case."""
    listed = [re.escape(phrase) for phrase in phrases.split("|") if phrase]
    pattern = re.compile(rf"\b(?:{'|'.join(listed)})\b", re.IGNORECASE)
    return lambda text: len(pattern.findall(text)) if listed else 0
