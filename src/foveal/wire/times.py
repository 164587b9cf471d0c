"""Read timestamps of files and messages as seconds since 1970."""

from __future__ import annotations

from datetime import UTC, datetime

_MILLISECONDS = 1e11
"""A number above this (the year 5138 in seconds) is in milliseconds."""
_DAY = 86_400
EARLIEST = -62_135_596_800 + 2 * _DAY
LATEST = 253_402_300_800 - 2 * _DAY
"""The times that are stored: the years 1 to 9999 in every time zone, where Python's calendar ends."""


def seconds(value: object) -> float | None:
    """Seconds since 1970; None when the value is not a time. A time without a zone is UTC."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        if not EARLIEST <= value <= LATEST * 1000:  # NaN is not
            return None
        found = value / 1000 if value > _MILLISECONDS else float(value)
    elif isinstance(value, str):
        try:
            date = datetime.fromisoformat(value)
        except ValueError:
            return None
        found = (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp()
    else:
        return None
    return found if is_time(found) else None


def is_time(value: float) -> bool:
    """Whether every time zone can show it."""
    return EARLIEST <= value <= LATEST
