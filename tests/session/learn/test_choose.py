"""How numbers are chosen, and when a gain counts."""

from __future__ import annotations

import pytest

from foveal.presets.tunable import Flat, Moved, Tried
from foveal.session.learn.choose import LEAST_GAIN, choose, compared, trials

A = Tried(key="a", values=(0.0, 1.0, 2.0))
B = Tried(key="b", values=(0.0, 1.0))
NOW: Flat = {"a": 1.0, "b": 0.0}


def test_the_value_that_keeps_most_is_chosen() -> None:
    flat, steps = choose([A, B], NOW, lambda found: found.get("a", 1.0) / 4)
    assert flat == {"a": 2.0}
    assert [(step.changed, step.gain) for step in steps] == [({"a": (1.0, 2.0)}, 0.25)]


def test_a_gain_too_small_to_matter_changes_nothing() -> None:
    assert choose([A], NOW, lambda found: found.get("a", 1.0) * LEAST_GAIN / 2) == ({}, ())


def test_a_number_that_returns_to_its_value_is_no_change() -> None:
    worth = {(1.0, 0.0): 0.1, (0.0, 0.0): 0.2, (0.0, 1.0): 0.3, (1.0, 1.0): 0.5}
    flat, steps = choose(
        [A, B], NOW, lambda found: worth.get((found.get("a", 1.0), found.get("b", 0.0)), 0.0)
    )
    assert flat == {"b": 1.0}
    assert len(steps) == 3


def test_of_equal_values_the_first_is_chosen() -> None:
    assert choose([A], NOW, lambda found: float(bool(found)))[0] == {"a": 0.0}


def test_numbers_that_share_a_sum_keep_it() -> None:
    shares = Moved(keys=("x", "y"), steps=(0.1, 0.5))
    assert list(shares.options({"x": 0.3, "y": 0.4})) == [{"x": 0.2, "y": 0.5}, {"y": 0.3, "x": 0.4}]


def test_the_number_of_trials_is_known_before() -> None:
    tried: list[Flat] = []
    choose([A, B], NOW, lambda found: (tried.append(found), 0.0)[1])
    assert len(tried) <= trials([A, B], NOW) == 7


@pytest.mark.parametrize(
    ("after", "holds"),
    [
        ([1.0, 1.0, 1.0, 1.0], True),
        ([0.5, 0.5, 0.5, 0.5], False),
        ([0.0, 0.5, 0.5, 0.5], False),
        ([1.0, 0.5, 0.5, 0.5], False),
    ],
    ids=["all better", "the same", "worse", "one better, which may be chance"],
)
def test_a_gain_counts_if_chance_would_not_explain_it(after: list[float], holds: bool) -> None:
    assert compared([0.5] * 4, after).holds == holds
