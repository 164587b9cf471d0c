"""What the water marks promise: a refocus where the next kept token costs more than it is worth."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from foveal.pipeline.values import Rates
from foveal.presets.foveal.watermarks import Course, Marks, high_mark, marks

ANTHROPIC = Rates(input=3.0, read=0.3, write=3.75)
OPENAI = Rates(input=1.25, read=0.125)
PRICE = st.floats(0.0, 100.0)
RATES = st.builds(Rates, input=PRICE | st.none(), read=PRICE | st.none(), write=PRICE | st.none())
COURSES = st.builds(
    Course, room=st.integers(1, 2_000_000), growth=st.floats(0, 1e5), turns=st.integers(0, 10_000)
)


def course(room: int = 32_000, *, growth: float = 290, turns: int = 500) -> Course:
    return Course(room=room, growth=growth, turns=turns)


def share(found: Marks, room: int) -> float:
    return round(found.low / room, 2)


@pytest.mark.parametrize("room", [16_000, 32_000])
def test_where_a_read_costs_a_tenth_more_than_half_is_kept_and_the_window_is_filled(room: int) -> None:
    found = marks(course(room), ANTHROPIC)
    assert found.high == room
    assert 0.55 <= share(found, room) <= 0.58


@pytest.mark.parametrize("rates", [OPENAI, Rates(input=2.0, read=0.5)])
def test_the_marks_are_the_same_where_a_write_costs_less_as_long_as_a_read_is_cheaper(rates: Rates) -> None:
    assert marks(course(), rates) == marks(course(), ANTHROPIC)


def test_without_prices_the_marks_are_nine_and_six_tenths() -> None:
    assert marks(course(), Rates()) == Marks(high=28_800, low=19_200)


@pytest.mark.parametrize("rates", [Rates(input=1, read=1), Rates(input=1, read=1.5, write=1.25)])
def test_without_a_discount_for_reads_the_window_is_kept_full(rates: Rates) -> None:
    assert marks(course(), rates) == Marks(high=32_000, low=32_000)


@pytest.mark.parametrize("rates", [ANTHROPIC, Rates()])
def test_a_window_of_a_few_turns_is_filled_to_the_top(rates: Rates) -> None:
    assert marks(course(2_000), rates) == Marks(high=2_000, low=2_000)


@pytest.mark.parametrize("rates", [ANTHROPIC, Rates()])
def test_a_window_of_seven_turns_leaves_room_for_nearly_one_and_of_twenty_for_five(rates: Rates) -> None:
    slack = {turns: marks(course(turns * 290), rates) for turns in (6, 7, 20)}
    spare = {turns: round((each.high - each.low) / 290, 1) for turns, each in slack.items()}
    assert spare == {6: 0.0, 7: 0.9, 20: 5.0}


def test_the_more_turns_fit_the_more_slack_there_is() -> None:
    found = [marks(course(room), ANTHROPIC) for room in range(1_000, 20_000, 250)]
    slack = [each.high - each.low for each in found]
    assert slack == sorted(slack)


def test_the_slack_is_at_most_what_as_many_turns_again_will_fill() -> None:
    assert marks(course(turns=20), ANTHROPIC).low == 32_000 - 20 * 290


@given(COURSES, RATES)
def test_the_marks_are_always_in_order(how: Course, rates: Rates) -> None:
    found = marks(how, rates)
    assert 0 < found.low <= found.high <= how.room


@given(st.floats(0.01, 1), st.floats(0.01, 1), st.integers(1_000, 500_000))
def test_the_cheaper_a_read_the_lower_the_mark(one: float, other: float, room: int) -> None:
    cheap, dear = sorted((one, other))
    found = [marks(course(room), Rates(input=1, read=read)) for read in (cheap, dear)]
    assert found[0].low <= found[1].low


@given(st.floats(1, 3), st.floats(1, 3), st.integers(1_000, 500_000))
def test_the_dearer_a_write_the_lower_the_mark(one: float, other: float, room: int) -> None:
    cheap, dear = sorted((one, other))
    found = [marks(course(room), Rates(input=1, read=0.1, write=write)) for write in (cheap, dear)]
    assert found[1].low <= found[0].low


@given(st.floats(0.01, 1), st.floats(1, 3), st.floats(1, 1_000), st.integers(1_000, 500_000))
def test_only_the_ratio_of_the_prices_counts(read: float, write: float, unit: float, room: int) -> None:
    assume(write / read > 1.001)
    one = marks(course(room), Rates(input=1, read=read, write=write))
    other = marks(course(room), Rates(input=unit, read=unit * read, write=unit * write))
    assert abs(one.low - other.low) <= 1


@given(COURSES, RATES)
def test_the_high_mark_alone_is_the_one_of_both(how: Course, rates: Rates) -> None:
    assert high_mark(how, rates) == marks(how, rates).high


def test_after_the_cache_expired_a_window_half_way_up_is_refocused() -> None:
    found = marks(course(), ANTHROPIC)
    assert high_mark(course(), ANTHROPIC, cold=True) == (found.low + found.high) // 2
