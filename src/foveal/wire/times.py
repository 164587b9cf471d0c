"""Read timestamps of files and messages as seconds since 1970."""

from __future__ import annotations

from datetime import UTC, datetime

_MILLISECONDS = 1e11
"""A number above this (the year 5138 in seconds) is in milliseconds."""
_LIMIT = 1e15
"""Not a time in either unit; NaN is not below it."""


def seconds(value: object) -> float | None:
    """Seconds since 1970; None when the value is not a time. A time without a zone is UTC."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        if not abs(value) < _LIMIT:
            return None
        return value / 1000 if value > _MILLISECONDS else float(value)
    if not isinstance(value, str):
        return None
    try:
        found = datetime.fromisoformat(value)
    except ValueError:
        return None
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()
