"""Decide what is to be compressed or dropped, and why.

A session of the preset and the operation `levels_plan` follow the same rules. The operation applies them to
single entries, a session to turns, whose messages stay together; how much of it goes is up to each of them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from foveal.model import Level
from foveal.pipeline.material.categories import round_down
from foveal.pipeline.values import Item, Scene
from foveal.presets.fifth.levels import PERMANENT, VOLATILE, FifthNumbers, priority_of, slot_of
from foveal.presets.recency_curves import MINUTE
from foveal.window import Score

ORDER: tuple[Level, ...] = (VOLATILE, "working", "session", PERMANENT)
"""The levels in the order in which their entries go."""
FOR_ROOM = frozenset(ORDER[:2])
"""The levels whose entries go to make room."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Due:
    """One entry that should be compressed or dropped, and why."""

    id: str
    index: int
    level: Level
    action: Literal["compress", "drop"]
    because: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidates:
    """What may be compressed among groups of items that stay together, by the groups' positions."""

    aged: Mapping[int, str]
    """Why each is past its age: it goes however much room there is."""
    for_room: tuple[int, ...]
    """What goes if space is needed, whether it is past its age or not."""


def candidates(groups: Sequence[Sequence[Item]], now: float, by: FifthNumbers) -> Candidates:
    """Permanent items, pinned ones and the current prompt stay, and so does what belongs together with them.

    For its age a group goes with its first item that is past it; for room, if all of its items may.
    """
    free = {at: group for at, group in enumerate(groups) if not any(_stays(item, by) for item in group)}
    reasons = {at: [past_its_age(item, now, by) for item in group] for at, group in free.items()}
    return Candidates(
        aged={at: next(filter(None, found)) for at, found in reasons.items() if any(found)},
        for_room=tuple(
            at for at, group in free.items() if all(slot_of(item, numbers=by) in FOR_ROOM for item in group)
        ),
    )


def low_scored(
    groups: Sequence[Sequence[Item]], may_go: Candidates, scores: Mapping[int, Score], by: FifthNumbers
) -> dict[int, float]:
    """Those that go before others while space is needed, with their best scores; `scores` by items' index."""
    best = {
        at: max((scores[item.index].total for item in groups[at] if item.index in scores), default=math.inf)
        for at in may_go.for_room
    }
    return {at: score for at, score in best.items() if score < by.low_score}


def due(
    items: Sequence[Item],
    scores: Sequence[Score],
    scene: Scene,
    *,
    numbers: FifthNumbers | None = None,
) -> tuple[Due, ...]:
    """The entries to drop or compress, in order: volatile ones, the oldest working ones, then others.

    Permanent entries, pinned ones and the current prompt are never among them.
    """
    by = numbers or FifthNumbers()
    groups, used = [(item,) for item in items], sum(item.tokens for item in items)
    to_free = used - round_down(by.full_at * scene.budget)
    crowded = f"{used:,} of {scene.budget:,} tokens are used, more than {by.full_at:.0%}"
    may_go = candidates(groups, scene.now, by)
    found = dict.fromkeys(_first_to_go(items, may_go.for_room, to_free, by), crowded)
    for at, because in may_go.aged.items():
        found.setdefault(at, because)
    if to_free > 0:
        by_index = {item.index: score for item, score in zip(items, scores, strict=True)}
        for at, score in low_scored(groups, may_go, by_index, by).items():
            found.setdefault(at, f"score {score:.2f}, below {by.low_score:g}, while space is needed")
    return tuple(
        Due(
            id=items[at].id,
            index=items[at].index,
            level=(level := slot_of(items[at], numbers=by)),
            action="drop" if level == VOLATILE else "compress",
            because=found[at],
        )
        for at in sorted(found, key=lambda at: _turn_to_go(items[at], by))
    )


def _stays(item: Item, by: FifthNumbers) -> bool:
    current = item.kind == "current_user_prompt"
    return current or item.pinned or slot_of(item, numbers=by) == PERMANENT


def _turn_to_go(item: Item, by: FifthNumbers) -> tuple[int, float, float, int]:
    """By level, the oldest first, of one time the lowest priority; items without a time before others."""
    time = -math.inf if item.timestamp is None else item.timestamp
    return ORDER.index(slot_of(item, numbers=by)), time, priority_of(item, by), item.index


def _first_to_go(
    items: Sequence[Item], for_room: Sequence[int], to_free: int, by: FifthNumbers
) -> Iterator[int]:
    """Volatile entries, then working ones, oldest first, until enough tokens are free."""
    for at in sorted(for_room, key=lambda at: _turn_to_go(items[at], by)):
        if to_free <= 0:
            return
        yield at
        to_free -= items[at].tokens


def past_its_age(item: Item, now: float, by: FifthNumbers) -> str:
    """Why an item is to be compressed for its age; empty if it is young enough for its level."""
    at = past_its_age_at(item, by)
    if at is None or item.timestamp is None or now <= at:
        return ""
    allowed = (at - item.timestamp) / MINUTE
    return f"{(now - item.timestamp) / MINUTE:,.0f} minutes old, its level allows {allowed:g}"


def past_its_age_at(item: Item, by: FifthNumbers) -> float | None:
    """The time after which an item is older than its level allows; None if it never is."""
    most = {"session": by.session_minutes, "working": by.working_minutes}.get(slot_of(item, numbers=by))
    return None if most is None or item.timestamp is None else item.timestamp + MINUTE * most
