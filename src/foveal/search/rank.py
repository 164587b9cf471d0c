"""Score messages for a question, and choose those that fit into a budget.

A score is the sum of its parts, one small function each. Keyword and vector scores are in standard deviations
above the session's mean: an outstanding hit also stands out in the sum, and a score that is much the same for
all messages changes no order.

Messages are chosen by score for their cost, best first; one that is too large is skipped. Maximizing the sum
of scores instead finds less of what was asked for: scores are likelihoods, not amounts.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from foveal.search.values import NUMBERS, Floats, Integers, Mask, Ranking, RankNumbers

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


def best_first(ranking: Ranking, costs: Integers, most: int, *, numbers: RankNumbers = NUMBERS) -> Integers:
    """The positions that cost no more than `most`, by score for cost; ties go to the newest."""
    density = ranking.values - numbers.cost_power * np.log(np.maximum(costs, 1))
    newest_first = np.flatnonzero(costs <= most)[::-1]
    ordered: Integers = newest_first[np.argsort(-density[newest_first], kind="stable")]
    return ordered


def chosen(
    ranking: Ranking, costs: Sequence[int], budget: int, *, numbers: RankNumbers = NUMBERS
) -> list[int]:
    """The positions to show, ascending; their costs add up to at most `budget`."""
    prices = np.asarray(costs, dtype=np.int64)
    ordered = best_first(ranking, prices, budget, numbers=numbers)
    left, cheapest = budget, int(prices.min(initial=budget))
    taken: list[int] = []
    for position, price in zip(ordered.tolist(), prices[ordered].tolist(), strict=True):
        if price <= left:
            taken.append(position)
            left -= price
        elif left < cheapest:
            break
    return sorted(taken)
