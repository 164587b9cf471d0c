"""What the search for a flip promises: a number that flips, next to one that does not."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from foveal.pipeline.sensitivity import crossing

flipping = st.sets(st.integers(1, 200))


@given(flipping, st.integers(1, 200), st.lists(st.integers(-5, 250), max_size=3))
def test_what_is_found_flips_and_one_less_does_not(numbers: set[int], most: int, guesses: list[int]) -> None:
    found = crossing(numbers.__contains__, most, guesses)
    if found is None:
        assert most not in numbers
    else:
        assert found[0] in numbers
        assert found[1] == found[0] - 1
        assert found[1] not in numbers


@given(st.integers(1, 200), st.lists(st.integers(-5, 250), max_size=3))
def test_where_all_above_a_number_flip_it_is_that_number(least: int, guesses: list[int]) -> None:
    assert crossing(lambda number: number >= least, 200, guesses) == (least, least - 1)


@given(flipping, st.integers(0, 200))
def test_nothing_above_the_most_is_tried(numbers: set[int], most: int) -> None:
    tried: list[int] = []
    crossing(lambda number: bool(tried.append(number)) or number in numbers, most, (most + 1, 0, -3))
    assert all(0 < number <= most for number in tried)


def test_a_right_guess_is_checked_by_two_tries() -> None:
    tried: list[int] = []
    crossing(lambda number: bool(tried.append(number)) or number >= 100_000, 10**9, (100_000, 99_999))
    assert tried == [100_000, 99_999]


@given(flipping, st.integers(1, 200), st.lists(st.integers(-5, 250), max_size=3))
def test_within_a_share_it_is_a_higher_number_that_flips_and_a_lower_one_that_does_not(
    numbers: set[int], most: int, guesses: list[int]
) -> None:
    found = crossing(numbers.__contains__, most, guesses, within=0.1)
    if found is None:
        assert most not in numbers
    else:
        high, low = found
        assert high in numbers
        assert low not in numbers
        assert 0 < high - low <= max(1, 0.1 * high)


def test_a_billion_numbers_take_few_tries() -> None:
    tried: list[int] = []
    crossing(lambda number: bool(tried.append(number)) or number >= 123_456_789, 10**9)
    assert len(tried) < 50
