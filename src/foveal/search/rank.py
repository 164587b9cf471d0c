"""Score messages for a question.

A score is the sum of its parts, one small function each. Keyword and vector scores are in standard deviations
above the session's mean: an outstanding hit also stands out in the sum, and a score that is much the same for
all messages changes no order.
"""

from __future__ import annotations

import re

import numpy as np

from foveal.search.values import Floats, Integers, Mask

_RULE = re.compile(r"\b(?:always|never|prefer|prefers|preferred|from now on)\b", re.IGNORECASE)
_ORDER = re.compile(r"\W{0,4}(?:please )?(?:always|never|from now on)\b", re.IGNORECASE)


def standardized(scores: Floats) -> Floats:
    """Scores in standard deviations above their mean; all 0 where they are equal.

    >>> standardized(np.array([0.0, 0.0, 0.0, 4.0])).round(2).tolist()
    [-0.58, -0.58, -0.58, 1.73]
    """
    above = scores - scores.sum() / len(scores)
    spread = float(np.sqrt(above @ above / len(above)))
    return above / spread if spread > 1e-9 else np.zeros(len(scores))


def neighbours(scores: Floats, joined: Mask) -> Floats:
    """The scores of the messages before and after each; `joined` marks those connected to the one before.

    >>> neighbours(np.array([1.0, 0.0, 5.0]), np.array([False, True, False])).tolist()
    [0.0, 1.0, 0.0]
    """
    taken = np.zeros(len(scores))
    taken[1:] = scores[:-1] * joined[1:]
    taken[:-1] += scores[1:] * joined[1:]
    return taken


def best_in_sitting(scores: Floats, starts: Integers) -> Floats:
    """The best score in each message's sitting, relative to the mean over all sittings.

    >>> best_in_sitting(np.array([1.0, 0.0, 5.0]), np.array([0, 2])).tolist()
    [-2.0, -2.0, 2.0]
    """
    best = np.maximum.reduceat(scores, starts)
    sizes = np.diff(starts, append=len(scores))
    above: Floats = np.repeat(best - best.mean(), sizes)
    return above


def within(times: Floats, interval: tuple[float, float]) -> Floats:
    """1 for messages of that time, else 0."""
    start, end = interval
    return ((times >= start) & (times < end)).astype(np.float64)


def rule_strength(text: str, *, rule: float, order: float) -> float:
    """The weight of a user's text as a standing rule.

    >>> rule_strength("Always answer in French.", rule=1.0, order=0.5)
    1.5
    >>> rule_strength("I prefer tea", rule=1.0, order=0.5)
    1.0
    """
    if not _RULE.search(text):
        return 0.0
    return rule + order if _ORDER.match(text) else rule
