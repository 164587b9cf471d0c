"""What each part of a score promises."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from foveal.search.rank import best_in_sitting, neighbours, rule_strength, standardized, within

many = st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=30)


def flags(*values: int) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    return np.array(values, dtype=np.bool_)


@given(many)
def test_standardized_is_measured_in_standard_deviations(scores: list[float]) -> None:
    found = standardized(np.array(scores))
    assert abs(found.mean()) < 1e-6
    assert found.std() == pytest.approx(1, abs=1e-6) or not found.any()


def test_equal_scores_are_all_0() -> None:
    assert standardized(np.array([0.3, 0.3, 0.3])).tolist() == [0, 0, 0]


def test_one_strong_hit_stands_out_more_than_many_weak_ones() -> None:
    one, many_ = standardized(np.array([1.0] + [0.0] * 99)), standardized(np.array([1.0] * 50 + [0.0] * 50))
    assert one[0] > 5 * many_[0]


def test_a_message_takes_from_the_one_before_and_the_one_after() -> None:
    assert neighbours(np.array([1.0, 0.0, 4.0]), flags(0, 1, 1)).tolist() == [0, 5, 0]


def test_nothing_passes_from_one_sitting_to_the_next() -> None:
    assert neighbours(np.array([1.0, 0.0, 4.0]), flags(0, 0, 1)).tolist() == [0, 4, 0]


def test_one_message_has_no_neighbours() -> None:
    assert neighbours(np.array([1.0]), flags(0)).tolist() == [0]


def test_all_of_a_sitting_rise_with_its_best() -> None:
    assert best_in_sitting(np.array([0.0, 6.0, 1.0]), np.array([0, 2])).tolist() == [2.5, 2.5, -2.5]


def test_a_single_sitting_changes_nothing() -> None:
    assert not best_in_sitting(np.array([1.0, 2.0, 3.0]), np.array([0])).any()


def test_what_has_no_time_is_in_no_time() -> None:
    assert within(np.array([np.nan, 5.0, 9.0]), (5, 9)).tolist() == [0, 1, 0]


@pytest.mark.parametrize("text", ["Always use tabs", "please never push", "From now on, speak French"])
def test_a_message_that_is_an_order_is_a_strong_rule(text: str) -> None:
    assert rule_strength(text, rule=1, order=2) == 3


def test_a_preference_inside_a_message_is_a_rule() -> None:
    assert rule_strength("For tests I prefer pytest", rule=1, order=2) == 1


def test_other_words_are_no_rule() -> None:
    assert rule_strength("The preference pane crashed", rule=1, order=2) == 0
