"""Importance follows how often, how recently and how widely a thing is mentioned."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from foveal.knowledge.importance import importance, local, peak_hour, streak, thing_of
from foveal.store import Engagement, ThingRecord

NOW = 1_700_000_000.0
DAY = 86_400.0


def thing(*hours: tuple[int, int, int], sessions: int = 1, last: float = NOW) -> ThingRecord:
    shown = tuple(
        Engagement(hour=hour, mentions=mentions, by_user=by_user) for hour, mentions, by_user in hours
    )
    return ThingRecord(
        number=7,
        kind="topic",
        slug="login",
        name="login",
        type="",
        edited=False,
        version=1,
        mentions=sum(each.mentions for each in shown),
        sessions=sessions,
        last_mentioned=last,
        last_engaged=last,
        hours=shown,
    )


def test_the_formula_is_the_documented_one() -> None:
    record = thing((0, 4, 2), sessions=2, last=NOW - 14 * DAY)
    assert round(importance(record, now=NOW), 6) == round(0.4 / 2 + 0.3 / 2 + 0.2 / 2 + 0.1 / 2, 6)


def test_more_mentions_matter_more() -> None:
    assert importance(thing((0, 9, 0)), now=NOW) > importance(thing((0, 2, 0)), now=NOW)


def test_what_was_not_mentioned_for_long_matters_less() -> None:
    assert importance(thing((0, 2, 0)), now=NOW) > importance(thing((0, 2, 0), last=NOW - 30 * DAY), now=NOW)


def test_what_comes_up_in_several_conversations_matters_more() -> None:
    assert importance(thing((0, 2, 0), sessions=2), now=NOW) > importance(thing((0, 2, 0)), now=NOW)


def test_what_the_user_mentions_matters_more() -> None:
    assert importance(thing((0, 2, 2)), now=NOW) > importance(thing((0, 2, 0)), now=NOW)


def test_a_mention_in_the_future_counts_as_one_of_today() -> None:
    assert importance(thing((0, 2, 0), last=NOW + DAY), now=NOW) == importance(thing((0, 2, 0)), now=NOW)


def test_a_streak_counts_consecutive_days_on_which_the_user_mentioned_it() -> None:
    days = thing((0, 1, 1), (24, 1, 1), (72, 1, 1), (96, 2, 1), (120, 1, 0))
    assert streak(days.hours) == 2


def test_what_only_the_model_mentions_has_no_streak() -> None:
    assert streak(thing((0, 3, 0)).hours) == 0


def test_the_peak_hour_is_that_of_most_mentions_and_of_equals_the_earliest() -> None:
    hours = thing((9, 1, 1), (24 + 21, 2, 0), (48 + 8, 2, 0)).hours
    assert peak_hour(hours) == 8


def test_days_and_hours_are_those_of_the_given_clock() -> None:
    hours = thing((23, 1, 1), (24, 1, 1)).hours
    assert (streak(hours), streak(local(hours, 3600.0))) == (2, 1)
    assert [peak_hour(local(hours[:1], offset)) for offset in (0.0, 3600.0, -3600.0)] == [23, 0, 22]


def test_a_thing_has_its_own_id() -> None:
    shown = thing_of(thing((9, 1, 1)), now=NOW)
    assert (shown.id, shown.slug, shown.mentions, shown.peak_hour) == ("thing-7", "login", 1, 9)


@given(
    st.lists(st.tuples(st.integers(0, 10**6), st.integers(1, 99), st.just(0)), max_size=9),
    st.integers(1, 99),
    st.floats(0, 1e10),
)
def test_importance_is_always_within_0_and_1(
    hours: list[tuple[int, int, int]], sessions: int, last: float
) -> None:
    record = replace(thing(*hours), sessions=sessions, last_mentioned=last)
    assert 0.0 <= importance(record, now=NOW) <= 1.0
