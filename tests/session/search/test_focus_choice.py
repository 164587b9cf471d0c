"""Which messages a budget shows."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from foveal.search.values import Floats, RankNumbers
from foveal.session.search.focus import best_that_fit, relevant_turns

items = st.lists(st.tuples(st.floats(-20, 20), st.integers(0, 60)), max_size=30)


def ranking(*values: float) -> Floats:
    return np.array(values, dtype=np.float64)


def test_everything_is_shown_when_everything_fits() -> None:
    assert best_that_fit(ranking(0, 5, -5), [1, 2, 3], 6) == [0, 1, 2]


def test_the_order_is_the_conversation_not_the_value() -> None:
    assert best_that_fit(ranking(1, 9, 5), [5, 5, 5], 10) == [1, 2]


def test_of_two_worth_the_same_the_cheaper_comes_first() -> None:
    assert best_that_fit(ranking(1, 1), [9, 3], 9) == [1]


def test_of_equals_the_newer_comes_first() -> None:
    assert best_that_fit(ranking(1, 1), [5, 5], 5) == [1]


def test_cost_weighs_less_than_in_full() -> None:
    assert best_that_fit(ranking(1.0, 0.0), [6, 3], 6) == [0]
    assert best_that_fit(ranking(1.0, 0.0), [6, 3], 6, numbers=RankNumbers(cost_power=2)) == [1]


def test_one_too_large_is_passed_over_not_the_end() -> None:
    assert best_that_fit(ranking(9, 8, 1), [7, 50, 3], 10) == [0, 2]


def test_nothing_fits_nothing() -> None:
    assert best_that_fit(ranking(1, 2), [5, 5], 4) == []
    assert best_that_fit(ranking(), [], 100) == []


@given(items, st.integers(0, 200))
def test_no_choice_is_over_budget_and_none_leaves_room_for_another(
    found: list[tuple[float, int]], budget: int
) -> None:
    costs = [cost for _, cost in found]
    taken = best_that_fit(ranking(*(value for value, _ in found)), costs, budget)
    left = budget - sum(costs[at] for at in taken)
    assert taken == sorted(set(taken))
    assert left >= 0
    assert all(cost > left for at, cost in enumerate(costs) if at not in taken)


def test_a_turn_no_better_than_the_session_s_mean_is_not_relevant() -> None:
    assert relevant_turns(ranking(0, 9, 0, 0, 8, 0)) == [False, True, True, False, True, True]
    assert relevant_turns(ranking(5, -1, -1, 1, -1, -1)) == [True, True, False, True, False, False]


def test_where_nothing_stands_out_everything_is_equally_relevant() -> None:
    assert relevant_turns(ranking(0.1, 0.1, 0.1)) == [True, True, True]
    assert relevant_turns(ranking()) == []


@given(st.lists(st.floats(-20, 20), min_size=1, max_size=30))
def test_the_best_turn_and_the_one_after_it_are_always_relevant(values: list[float]) -> None:
    relevant, best = relevant_turns(ranking(*values)), values.index(max(values))
    assert relevant[best]
    assert all(relevant[best : best + 2])
