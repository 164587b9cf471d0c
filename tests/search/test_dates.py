"""Which dates a question mentions."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foveal.search.dates import mentioned_time

WEDNESDAY = datetime(2023, 7, 12, 15, tzinfo=UTC).timestamp()


def days(question: str, now: float = WEDNESDAY) -> tuple[str, str] | None:
    found = mentioned_time(question, now)
    if found is None:
        return None
    start, end = (datetime.fromtimestamp(at, UTC).date().isoformat() for at in found)
    return start, end


@pytest.mark.parametrize("spelled", ["2023-05-07", "7 May 2023", "May 7, 2023", "the 7th of may", "on May 7"])
def test_a_date_is_its_day_however_it_is_spelled(spelled: str) -> None:
    assert days(f"What happened {spelled}?") == ("2023-05-07", "2023-05-08")


def test_a_date_without_a_year_is_the_last_one_there_was() -> None:
    assert days("and on Dec 24?") == ("2022-12-24", "2022-12-25")


@pytest.mark.parametrize(
    ("question", "start", "end"),
    [
        ("in May 2023", "2023-05-01", "2023-06-01"),
        ("in May", "2023-05-01", "2023-06-01"),
        ("in December", "2022-12-01", "2023-01-01"),
        ("in 2022", "2022-01-01", "2023-01-01"),
        ("yesterday", "2023-07-11", "2023-07-12"),
        ("this morning", "2023-07-12", "2023-07-13"),
        ("last Friday", "2023-07-07", "2023-07-08"),
        ("last Wednesday", "2023-07-05", "2023-07-06"),
        ("this week", "2023-07-10", "2023-07-17"),
        ("last week", "2023-07-03", "2023-07-10"),
        ("last month", "2023-06-01", "2023-07-01"),
        ("last year", "2022-01-01", "2023-01-01"),
        ("2 days ago", "2023-07-10", "2023-07-11"),
        ("three weeks ago", "2023-06-18", "2023-06-25"),
        ("the past two weeks", "2023-06-28", "2023-07-12"),
    ],
)
def test_time_words_are_measured_from_now(question: str, start: str, end: str) -> None:
    assert days(f"What did we do {question}?") == (start, end)


@pytest.mark.parametrize("question", ["May I ask?", "the 31 June", "in 0000", "version 2023", "march on", ""])
def test_what_only_looks_like_a_time_is_none(question: str) -> None:
    assert days(question) is None


@given(st.text(), st.floats(-1e14, 1e14))
def test_no_question_raises(question: str, now: float) -> None:
    found = mentioned_time(f"{question} 999 years ago, last month", now)
    assert found is None or found[0] < found[1]
