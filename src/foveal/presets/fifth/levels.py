"""Entries and a total in → tokens for each of four memory levels, and what is due for compression.

Permanent entries take what they need first; the other levels share what is left in their proportions.

Units and room in → the newest user message, permanent ones, then the best of each level in its budget.

What a level leaves unused flows on; volatile units get only what nobody else can use, so they go first.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from foveal.model import Level
from foveal.pipeline.kinds import KINDS
from foveal.pipeline.material.categories import charge, even_out, fill, whole
from foveal.pipeline.values import Item, Pick, Scene, Unit
from foveal.window import Score, Slot

LEVELS: tuple[Level, ...] = ("permanent", "session", "working", "volatile")
MINUTE = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class FifthNumbers:
    """The levels at the usual total, when they are compressed, and what a score is made of."""

    total: int = 16_000
    permanent: int = 2_000
    session: int = 4_000
    working: int = 8_000
    session_minutes: float = 30.0
    working_minutes: float = 5.0
    full_at: float = 0.8
    """Space is needed once more than this share of the total is used."""
    low_score: float = 0.2
    verbose_tokens: int = 500
    """Tool output above this is volatile."""
    priority: float = 50.0
    """Of an entry that was given none; it breaks ties."""
    recency_weight: float = 0.3
    references_weight: float = 0.2
    relevance_weight: float = 0.4
    explicit_weight: float = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class Due:
    """One entry that should be compressed or dropped, and why."""

    id: str
    index: int
    level: Level
    action: Literal["compress", "drop"]
    because: str


def slot_of(item: Item, *, numbers: FifthNumbers | None = None) -> Level:
    """The level an item lives at: what its metadata or its author says, else by its kind.

    >>> slot_of(Item(index=0, id="m1", role="tool", kind="tool_output", text="…", tokens=501))
    'volatile'
    """
    said = item.metadata.get("level")
    for level in LEVELS:
        if said == level:
            return level
    if item.level is not None:
        return item.level
    if item.kind == "tool_output" and item.tokens > (numbers or FifthNumbers()).verbose_tokens:
        return "volatile"
    return KINDS[item.kind].level


def levels(items: Sequence[Item], scene: Scene, *, numbers: FifthNumbers | None = None) -> tuple[Slot, ...]:
    """The plan: the levels scaled to the budget.

    >>> [(slot.name, slot.allotted) for slot in levels([], Scene(now=0, budget=16_000))]
    [('permanent', 2000), ('session', 4000), ('working', 8000), ('volatile', 2000)]
    """
    by, total = numbers or FifthNumbers(), scene.budget
    need = charge(items, lambda item: slot_of(item, numbers=by)).get("permanent", 0)
    ideal = _scaled(total, by)
    permanent = min(total, max(need, ideal["permanent"]))
    rest, others = total - permanent, total - ideal["permanent"]
    got = {name: whole(rest * ideal[name] / others) if others else 0 for name in ("session", "working")}
    allotted = {"permanent": permanent, **got, "volatile": rest - sum(got.values())}
    return tuple(
        Slot(
            name=name,
            floor=min(need, total) if name == "permanent" else 0,
            ideal=ideal[name],
            ceiling=total if name == "permanent" else total - min(need, total),
            allotted=allotted[name],
        )
        for name in LEVELS
    )


def _scaled(total: int, by: FifthNumbers) -> dict[str, int]:
    named = {"permanent": by.permanent, "session": by.session, "working": by.working}
    whole_plan = max(by.total, sum(named.values()))
    scaled = {name: whole(total * tokens / whole_plan) for name, tokens in named.items()}
    return {**scaled, "volatile": total - sum(scaled.values())}


def due(
    items: Sequence[Item],
    scores: Sequence[Score],
    scene: Scene,
    *,
    numbers: FifthNumbers | None = None,
) -> tuple[Due, ...]:
    """What to drop and compress, in that order: volatile entries, the oldest working ones, then the others.

    Permanent, pinned and current entries stay as they are.
    """
    by = numbers or FifthNumbers()
    used = sum(item.tokens for item in items)
    free = [item for item in items if not _lasting(item, by)]
    to_free = used - whole(by.full_at * scene.budget)
    crowded = f"{used:,} of {scene.budget:,} tokens are used, more than {by.full_at:.0%}"
    found = {item.index: crowded for item in _first_to_go(free, to_free, by)}
    low = {item.index: score.total for item, score in zip(items, scores, strict=True)} if to_free > 0 else {}
    for item in free:
        why = _aged(item, scene, by)
        if not why and low.get(item.index, 1.0) < by.low_score and to_free > 0:
            why = f"score {low[item.index]:.2f}, below {by.low_score:g}, while space is needed"
        if why:
            found.setdefault(item.index, why)
    return tuple(
        Due(
            id=item.id,
            index=item.index,
            level=slot_of(item, numbers=by),
            action="drop" if slot_of(item, numbers=by) == "volatile" else "compress",
            because=found[item.index],
        )
        for item in sorted(free, key=lambda item: _turn_to_go(item, by))
        if item.index in found
    )


def _lasting(item: Item, by: FifthNumbers) -> bool:
    current = item.kind == "current_user_prompt"
    return current or item.pinned or slot_of(item, numbers=by) == "permanent"


def _turn_to_go(item: Item, by: FifthNumbers) -> tuple[int, float, int]:
    """By level, the oldest first; what has no time is not recent and goes before what has one."""
    level = ("volatile", "working", "session", "permanent").index(slot_of(item, numbers=by))
    return level, -math.inf if item.timestamp is None else item.timestamp, item.index


def _first_to_go(free: Sequence[Item], to_free: int, by: FifthNumbers) -> Iterator[Item]:
    """Volatile entries, then working ones, oldest first, until what stays is within the mark."""
    for item in sorted(free, key=lambda item: _turn_to_go(item, by)):
        if to_free <= 0 or slot_of(item, numbers=by) == "session":
            return
        yield item
        to_free -= item.tokens


def _aged(item: Item, scene: Scene, by: FifthNumbers) -> str:
    most = {"session": by.session_minutes, "working": by.working_minutes}.get(slot_of(item, numbers=by))
    if most is None or item.timestamp is None:
        return ""
    minutes = (scene.now - item.timestamp) / MINUTE
    return f"{minutes:,.0f} minutes old, its level allows {most:g}" if minutes > most else ""


VOLATILE = LEVELS[-1]


def by_level(
    units: Sequence[Unit], room: int, *, slots: Sequence[Slot], numbers: FifthNumbers | None = None
) -> Pick:
    """Spend the room level by level, the best score first; a stored priority breaks ties, then the newest."""
    by = numbers or FifthNumbers()
    forced = [unit for unit in units if unit.forced]
    taken = _Taken(room, fill(slots, forced), because={unit.turn: unit.forced for unit in forced})
    ranked = sorted((unit for unit in units if not unit.forced), key=lambda unit: _rank(unit, by))
    lasting = [unit for unit in ranked if _home(unit) != VOLATILE]
    for unit in lasting:
        taken.within_levels(unit)
    # Second round: what the levels left unused, volatile's share included, flows on.
    for unit in [*lasting, *(unit for unit in ranked if _home(unit) == VOLATILE)]:
        taken.anywhere(unit)
    kept = [unit for unit in units if unit.turn in taken.kept]
    return Pick(
        kept=frozenset(taken.kept),
        because=taken.because,
        slots=even_out(fill(slots, kept))[0],
    )


class _Taken:
    """What was taken so far, and the room that is left."""

    def __init__(self, room: int, slots: Iterable[Slot], because: dict[int, str]) -> None:
        self.kept = set(because)
        self.because = because
        self._room = room
        self._left = Counter({slot.name: slot.allotted - slot.used for slot in slots})

    def within_levels(self, unit: Unit) -> None:
        home = _home(unit)
        always = home == LEVELS[0] or _asked(unit)
        fits = always or all(need <= self._left[name] for name, need in unit.by_slot.items())
        if fits and unit.tokens <= self._room:
            self._take(unit, f"{home}, {_worth(unit)}, {unit.tokens:,} tokens")

    def anywhere(self, unit: Unit) -> None:
        if unit.turn in self.kept:
            return
        home = _home(unit)
        if unit.tokens <= self._room:
            self._take(unit, f"{home}, {_worth(unit)}, {unit.tokens:,} tokens that other levels left unused")
        else:
            why = f"{home}, {_worth(unit)}, needed {unit.tokens:,} tokens, {self._room:,} were left"
            self.because[unit.turn] = why

    def _take(self, unit: Unit, because: str) -> None:
        self.kept.add(unit.turn)
        self.because[unit.turn] = because
        self._room -= unit.tokens
        self._left.subtract(unit.by_slot)


def _rank(unit: Unit, by: FifthNumbers) -> tuple[int, float, float, int]:
    priority = max(by.priority if item.priority is None else item.priority for item in unit.items)
    return -1 if _asked(unit) else LEVELS.index(_home(unit)), -unit.score.total, -priority, -unit.turn


def _asked(unit: Unit) -> bool:
    return any(item.kind == "current_user_prompt" for item in unit.items)


def _home(unit: Unit) -> str:
    """The level that has most of a unit's tokens; of equals the more lasting one."""
    return max(LEVELS, key=lambda level: unit.by_slot.get(level, -1))


def _worth(unit: Unit) -> str:
    return f"score {unit.score.total:.2f}"
