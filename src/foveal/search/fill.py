"""Values, costs and a budget in → which messages to show: whole, in order, never over.

Best value for its cost first; one that is too large is passed over, not the end. The choice with the highest
sum of values finds less of what was asked for: values say what is likely, they are not amounts.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from foveal.search.values import NUMBERS, Ranking, RankNumbers, Whole


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
