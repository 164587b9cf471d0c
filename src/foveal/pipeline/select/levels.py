"""Units and room in → the newest user message, permanent ones, then the best of each level in its budget.

What a level leaves unused flows on; volatile units get only what nobody else can use, so they go first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from foveal.pipeline.plan.levels import LEVELS, FifthNumbers
from foveal.pipeline.plan.slots import even_out, fill
from foveal.pipeline.values import Pick, Slot, Unit

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
