"""Find the time a question mentions: dates, months, years, "last week".

Times are UTC. The result is a hint for ranking, not a filter: people also mention a day before and after it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import TypeAlias

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_COUNTS = ("a", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_UNITS = {"day": 1, "week": 7, "month": 30, "year": 365}
_MONTH = (
    "jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?"
    "|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?"
)
_DAY = r"(\d{1,2})(?:st|nd|rd|th)?"
_COUNT = r"(\d{1,3}|one|an|" + "|".join(_COUNTS) + ")"
_UNIT = "(day|week|month|year)"

Interval: TypeAlias = tuple[float, float]
"""Start (included) and end (excluded) in seconds since 1970."""
_Span: TypeAlias = tuple[datetime, datetime]
_Parse: TypeAlias = Callable[[list[str], datetime], _Span]


def mentioned_time(question: str, now: float) -> Interval | None:
    """The first time a question mentions; None without one.

    >>> mentioned_time("what did we decide yesterday?", 86_400 * 10 + 3_600)
    (777600.0, 864000.0)
    >>> mentioned_time("which port is it?", 0) is None
    True
    """
    for pattern, parse in _RULES:
        if found := pattern.search(question):
            try:
                start, end = parse([(part or "").lower() for part in found.groups()], _present(now))
                return start.timestamp(), end.timestamp()
            except (ValueError, OverflowError):  # the 31st of June, the year 0
                continue
    return None


def _present(now: float) -> datetime:
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=now)


def _dated(found: list[str], _present: datetime) -> _Span:
    """2023-05-07."""
    year, month, day = map(int, found)
    return _day(datetime(year, month, day, tzinfo=UTC))


def _day_first(found: list[str], present: datetime) -> _Span:
    """7 May 2023, 7 May."""
    day, month, year = found
    return _day(_latest(present, month, int(day), year))


def _month_first(found: list[str], present: datetime) -> _Span:
    """May 7, 2023; May 7."""
    month, day, year = found
    return _day(_latest(present, month, int(day), year))


def _month(found: list[str], present: datetime) -> _Span:
    """May 2023; in May."""
    first = _latest(present, found[0], 1, found[1] if len(found) > 1 else "")
    return first, (first + timedelta(days=31)).replace(day=1)


def _year(found: list[str], _present: datetime) -> _Span:
    first = datetime(int(found[0]), 1, 1, tzinfo=UTC)
    return first, first.replace(year=first.year + 1)


def _ago(found: list[str], present: datetime) -> _Span:
    """Three weeks ago: days are exact, longer units are approximate."""
    days = _UNITS[found[1]]
    start = _midnight(present) - timedelta(days=_count(found[0]) * days + days // 2)
    return start, start + timedelta(days=days)


def _lately(found: list[str], present: datetime) -> _Span:
    """In the last three weeks: up to now."""
    return present - timedelta(days=_count(found[0]) * _UNITS[found[1]]), present + timedelta(seconds=1)


def _named_day(found: list[str], present: datetime) -> _Span:
    return _day(present - timedelta(days=found[0] in ("yesterday", "last night")))


def _weekday(found: list[str], present: datetime) -> _Span:
    """Last Friday: the latest one before today."""
    return _day(present - timedelta(days=(present.weekday() - _DAYS.index(found[0]) - 1) % 7 + 1))


def _calendar(found: list[str], present: datetime) -> _Span:
    """This week, last month: calendar units."""
    which, unit = found
    first = _first(unit, _midnight(present))
    if which != "this":
        first = _first(unit, first - timedelta(days=1))
    return first, _first(unit, first + timedelta(days=_UNITS[unit] + 1 + (unit == "year")))


def _first(unit: str, date: datetime) -> datetime:
    """The first day of the week, month or year that contains a day."""
    if unit == "week":
        return date - timedelta(days=date.weekday())
    return date.replace(day=1) if unit == "month" else date.replace(month=1, day=1)


def _latest(present: datetime, month: str, day: int, year: str) -> datetime:
    """That date; without a year, the latest one that is not in the future."""
    number = _MONTHS.index(month[:3]) + 1
    if year:
        return datetime(int(year), number, day, tzinfo=UTC)
    return datetime(present.year - ((number, day) > (present.month, present.day)), number, day, tzinfo=UTC)


def _day(date: datetime) -> _Span:
    start = _midnight(date)
    return start, start + timedelta(days=1)


def _midnight(date: datetime) -> datetime:
    return date.replace(hour=0, minute=0, second=0, microsecond=0)


def _count(word: str) -> int:
    return int(word) if word.isdecimal() else _COUNTS.index({"an": "a", "one": "a"}.get(word, word)) + 1


def _rule(text: str, parse: _Parse) -> tuple[re.Pattern[str], _Parse]:
    return re.compile(rf"\b{text}\b", re.IGNORECASE | re.ASCII), parse


_RULES = (
    _rule(r"(\d{4})-(\d\d)-(\d\d)", _dated),
    _rule(rf"{_DAY} (?:of )?({_MONTH})(?:,? (\d{{4}}))?", _day_first),
    _rule(rf"({_MONTH}) {_DAY}(?:,? (\d{{4}}))?", _month_first),
    _rule(rf"({_MONTH}),? (\d{{4}})", _month),
    _rule(rf"(?:in|during|since|last) ({_MONTH})", _month),
    _rule(rf"{_COUNT} {_UNIT}s? ago", _ago),
    _rule(rf"(?:last|past|previous) {_COUNT} {_UNIT}s?", _lately),
    _rule(r"(yesterday|today|tonight|this (?:morning|afternoon|evening)|last night)", _named_day),
    _rule(rf"(?:last|on) ({'|'.join(_DAYS)})", _weekday),
    _rule(r"(this|last|previous|past) (week|month|year)", _calendar),
    _rule(r"(?:in|during|since) (\d{4})", _year),
)
"""The first match wins, so exact dates come first."""
