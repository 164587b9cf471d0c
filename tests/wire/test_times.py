"""Which values are times."""

from __future__ import annotations

import pytest

from foveal.wire.times import seconds


@pytest.mark.parametrize(
    ("given", "expected"),
    [(1_700_000_000, 1.7e9), (1_700_000_000_000, 1.7e9), ("2023-11-14T22:13:20Z", 1.7e9), ("soon", None)],
)
def test_seconds_milliseconds_and_dates_are_times(given: object, expected: float | None) -> None:
    assert seconds(given) == expected


@pytest.mark.parametrize("given", [10**400, float("inf"), float("nan"), True, None, []])
def test_other_values_are_not_times(given: object) -> None:
    assert seconds(given) is None
