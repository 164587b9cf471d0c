"""Compute how important a thing is from its mentions, and its streak and peak hour. Pure.

    importance = 0.4 · mentions / (mentions + 4)
               + 0.3 · 0.5 ^ (days since the last mention / 14)
               + 0.2 · (sessions − 1) / sessions
               + 0.1 · the user's share of the mentions

Days and hours are local to `offset`, in seconds east of Greenwich.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Literal, cast

from foveal.knowledge.values import Thing
from foveal.store import Engagement, ThingRecord

FREQUENT, RECENT, SPREAD, OWN = 0.4, 0.3, 0.2, 0.1
MANY = 4
"""The number of mentions at which frequency reaches half its weight."""
HALF_LIFE = 14.0
"""Days."""
_DAY = 24


def thing_of(record: ThingRecord, *, now: float, offset: float = 0.0) -> Thing:
    """A thing as its user sees it."""
    hours = local(record.hours, offset)
    return Thing(
        id=thing_id(record.number),
        kind=cast('Literal["topic", "entity"]', record.kind),
        slug=record.slug,
        name=record.name,
        type=record.type,
        importance=importance(record, now=now),
        mentions=record.mentions,
        sessions=record.sessions,
        streak=streak(hours),
        peak_hour=peak_hour(hours),
        last_engaged=record.last_engaged,
        last_mentioned=record.last_mentioned,
        edited=record.edited,
    )


def thing_id(number: int) -> str:
    return f"thing-{number}"


def importance(record: ThingRecord, *, now: float) -> float:
    """The formula above, 0..1; a mention in the future counts as one of today."""
    if not record.mentions:
        return 0.0
    days = max(0.0, now - record.last_mentioned) / 86_400
    own = sum(each.by_user for each in record.hours) / record.mentions
    parts = (
        FREQUENT * record.mentions / (record.mentions + MANY),
        RECENT * 0.5 ** (days / HALF_LIFE),
        SPREAD * (record.sessions - 1) / max(1, record.sessions),
        OWN * own,
    )
    return min(1.0, sum(parts))


def local(hours: Sequence[Engagement], offset: float) -> tuple[Engagement, ...]:
    """The same hours on the clock of the offset, rounded to whole hours."""
    shift = round(offset / 3600)
    return tuple(
        Engagement(hour=each.hour + shift, mentions=each.mentions, by_user=each.by_user) for each in hours
    )


def streak(hours: Sequence[Engagement]) -> int:
    """Consecutive days on which the user mentioned it, up to the last one.

    >>> days = [Engagement(hour=24 * day, mentions=2, by_user=1) for day in (1, 4, 5, 6)]
    >>> streak(days), streak([])
    (3, 0)
    """
    days = {each.hour // _DAY for each in hours if each.by_user}
    last = max(days, default=0)
    length = 0
    while last - length in days:
        length += 1
    return length


def peak_hour(hours: Sequence[Engagement]) -> int:
    """The hour of the day with most mentions, 0..23; the earliest of equals.

    >>> peak_hour([Engagement(hour=each, mentions=1, by_user=0) for each in (9, 14, 24 + 14)])
    14
    """
    mentions: Counter[int] = Counter()
    for each in hours:
        mentions[each.hour % _DAY] += each.mentions
    return min(mentions, key=lambda hour: (-mentions[hour], hour), default=0)
