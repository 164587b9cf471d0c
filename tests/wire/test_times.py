"""Which values are times."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest

from foveal.wire.times import EARLIEST, LATEST, seconds


@pytest.mark.parametrize(
    ("given", "expected"),
    [(1_700_000_000, 1.7e9), (1_700_000_000_000, 1.7e9), ("2023-11-14T22:13:20Z", 1.7e9), ("soon", None)],
)
def test_seconds_milliseconds_and_dates_are_times(given: object, expected: float | None) -> None:
    assert seconds(given) == expected


@pytest.mark.parametrize(
    "given",
    [-9e14, 5e14, -1e11, -6.3e10, "9999-12-31T23:59:59-14:00", "0001-01-01T00:00:00+14:00"],
)
def test_a_date_that_no_calendar_shows_everywhere_is_not_a_time(given: object) -> None:
    assert seconds(given) is None


@pytest.mark.parametrize("given", [EARLIEST, LATEST])
def test_every_zone_can_show_the_first_and_the_last_time(given: float) -> None:
    assert seconds(given * 1000 if given > 0 else given) == given
    for hours in (-14, 14):
        datetime.fromtimestamp(given, timezone(timedelta(hours=hours)))


@pytest.mark.parametrize("given", [10**400, float("inf"), float("nan"), True, None, []])
def test_other_values_are_not_times(given: object) -> None:
    assert seconds(given) is None
