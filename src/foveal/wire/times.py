"""Timestamps as files and messages spell them → seconds since 1970."""

from __future__ import annotations

from datetime import UTC, datetime

_MILLISECONDS = 1e11
"""A number above this (the year 5138 in seconds) can only be milliseconds."""
_END = 1e15
"""No clock shows this in either; not-a-number is not below it."""


def seconds(value: object) -> float | None:
    """Seconds since 1970, or None when it is not a time. A time without a zone is UTC."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        if not abs(value) < _END:
            return None
        return value / 1000 if value > _MILLISECONDS else float(value)
    if not isinstance(value, str):
        return None
    try:
        found = datetime.fromisoformat(value)
    except ValueError:
        return None
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()
