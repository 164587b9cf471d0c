"""Scores in → the parts that make up a value, each one small function.

Parts add up. Scores are measured in standard deviations above what is usual in the session: a hit that stands
out does so in the sum as well, and a score that is much the same for all moves nobody.

Values, costs and a budget in → which messages to show: whole, in order, never over.

Best value for its cost first; one that is too large is passed over, not the end. The choice with the highest
sum of values finds less of what was asked for: values say what is likely, they are not amounts.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from foveal.search.values import NUMBERS, Flags, Floats, Ranking, RankNumbers, Whole

_RULE = re.compile(r"\b(?:always|never|prefer|prefers|preferred|from now on)\b", re.IGNORECASE)
_ORDER = re.compile(r"\W{0,4}(?:please )?(?:always|never|from now on)\b", re.IGNORECASE)


def standing_out(scores: Floats) -> Floats:
    """Scores in standard deviations above their mean; all 0 where they are alike.

    >>> standing_out(np.array([0.0, 0.0, 0.0, 4.0])).round(2).tolist()
    [-0.58, -0.58, -0.58, 1.73]
    """
    above = scores - scores.sum() / len(scores)
    spread = float(np.sqrt(above @ above / len(above)))
    return above / spread if spread > 1e-9 else np.zeros(len(scores))


def beside(scores: Floats, joined: Flags) -> Floats:
    """What stands before and after each message; `joined` are those that belong with the one before them.

    >>> beside(np.array([1.0, 0.0, 5.0]), np.array([False, True, False])).tolist()
    [0.0, 1.0, 0.0]
    """
    taken = np.zeros(len(scores))
    taken[1:] = scores[:-1] * joined[1:]
    taken[:-1] += scores[1:] * joined[1:]
    return taken


def of_sittings(scores: Floats, starts: Whole) -> Floats:
    """The best score of each message's sitting, above the mean of all sittings.

    >>> of_sittings(np.array([1.0, 0.0, 5.0]), np.array([0, 2])).tolist()
    [-2.0, -2.0, 2.0]
    """
    best = np.maximum.reduceat(scores, starts)
    sizes = np.diff(starts, append=len(scores))
    above: Floats = np.repeat(best - best.mean(), sizes)
    return above


def within(times: Floats, interval: tuple[float, float]) -> Floats:
    """1 for what was said in that time."""
    start, end = interval
    return ((times >= start) & (times < end)).astype(np.float64)


def rule_strength(text: str, *, rule: float, order: float) -> float:
    """What the user's words weigh as something that holds for good.

    >>> rule_strength("Always answer in French.", rule=1.0, order=0.5)
    1.5
    >>> rule_strength("I prefer tea", rule=1.0, order=0.5)
    1.0
    """
    if not _RULE.search(text):
        return 0.0
    return rule + order if _ORDER.match(text) else rule


def best_first(ranking: Ranking, costs: Whole, most: int, *, numbers: RankNumbers = NUMBERS) -> Whole:
    """The positions that cost no more than `most`, by value for cost; of equals the newest."""
    worth = ranking.values - numbers.cost_power * np.log(np.maximum(costs, 1))
    newest_first = np.flatnonzero(costs <= most)[::-1]
    places: Whole = newest_first[np.argsort(-worth[newest_first], kind="stable")]
    return places


def chosen(
    ranking: Ranking, costs: Sequence[int], budget: int, *, numbers: RankNumbers = NUMBERS
) -> list[int]:
    """The positions to show, ascending. Their costs add up to `budget` at most."""
    prices = np.asarray(costs, dtype=np.int64)
    places = best_first(ranking, prices, budget, numbers=numbers)
    left, cheapest = budget, int(prices.min(initial=budget))
    taken: list[int] = []
    for place, price in zip(places.tolist(), prices[places].tolist(), strict=True):
        if price <= left:
            taken.append(place)
            left -= price
        elif left < cheapest:
            break
    return sorted(taken)
