"""Plan four memory levels, and select the turns of each.

Permanent entries get what they need first; the other levels share the rest in fixed proportions. Within a
level the best score wins. Other levels may use what a level leaves unused; volatile turns come last.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from foveal.model import Level
from foveal.pipeline.kinds import KINDS
from foveal.pipeline.material.categories import lend_spare, round_down, tokens_by_slot, with_usage
from foveal.pipeline.reasons import Reason, no_room
from foveal.pipeline.values import Item, Pick, Scene, Unit
from foveal.window import Slot

LEVELS: tuple[Level, ...] = ("permanent", "session", "working", "volatile")
PERMANENT, VOLATILE = LEVELS[0], LEVELS[-1]


@dataclass(frozen=True, slots=True, kw_only=True)
class FifthNumbers:
    """The size of the levels, when entries are compressed, and the weights of a score."""

    total: int = 16_000
    """Tokens that the sizes of the levels are given for; windows of other sizes scale them."""
    permanent: int = 2_000
    """Tokens of permanent memory: system prompts, rules and constraints. It takes more if it needs more."""
    session: int = 4_000
    """Tokens of session memory: summaries of tasks, decisions, errors and their resolutions."""
    working: int = 8_000
    """Tokens of working memory: the recent conversation and tool output."""
    session_minutes: float = 30.0
    """Age above which session memory is compressed."""
    working_minutes: float = 5.0
    """Age above which working memory is compressed."""
    full_at: float = 0.8
    """Space is needed when more than this share of the total is used."""
    low_score: float = 0.2
    """What scores less is compressed first, while space is needed."""
    verbose_tokens: int = 500
    """Tool output above this is volatile."""
    priority: float = 50.0
    """The priority of an entry without one; it breaks ties."""
    recency_weight: float = 0.3
    """Weight of recency: 1 when new, 1/2 after a minute, 1/3 after two."""
    references_weight: float = 0.2
    """Weight of references: the share of mentions of what an entry introduced that came later."""
    relevance_weight: float = 0.4
    """Weight of the similarity to the task."""
    explicit_weight: float = 0.1
    """Added for an entry that is marked important."""


def slot_of(item: Item, *, numbers: FifthNumbers | None = None) -> Level:
    """The level of an item: the one in its metadata, its own, or the one of its kind.

    >>> slot_of(Item(index=0, id="m1", role="tool", kind="tool_output", text="…", tokens=501))
    'volatile'
    """
    given = item.metadata.get("level")
    for level in LEVELS:
        if given == level:
            return level
    if item.level is not None:
        return item.level
    if item.kind == "tool_output" and item.tokens > (numbers or FifthNumbers()).verbose_tokens:
        return VOLATILE
    return KINDS[item.kind].level


def cleared_by_task(items: Sequence[Item], numbers: FifthNumbers) -> set[int]:
    """Positions of the items that a new task clears: volatile ones that are not pinned."""
    return {item.index for item in items if slot_of(item, numbers=numbers) == VOLATILE and not item.pinned}


def levels(items: Sequence[Item], scene: Scene, *, numbers: FifthNumbers | None = None) -> tuple[Slot, ...]:
    """The levels, scaled to the budget.

    >>> [(slot.name, slot.allotted) for slot in levels([], Scene(now=0, budget=16_000))]
    [('permanent', 2000), ('session', 4000), ('working', 8000), ('volatile', 2000)]
    """
    by, total = numbers or FifthNumbers(), scene.budget
    need = tokens_by_slot(items, lambda item: slot_of(item, numbers=by)).get("permanent", 0)
    ideal = _scaled(total, by)
    permanent = min(total, max(need, ideal["permanent"]))
    rest, others = total - permanent, total - ideal["permanent"]
    got = {name: round_down(rest * ideal[name] / others) if others else 0 for name in ("session", "working")}
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
    sizes = {"permanent": by.permanent, "session": by.session, "working": by.working}
    planned = max(by.total, sum(sizes.values()))
    scaled = {name: round_down(total * tokens / planned) for name, tokens in sizes.items()}
    return {**scaled, "volatile": total - sum(scaled.values())}


@dataclass(frozen=True, slots=True, kw_only=True)
class Excess:
    """Tokens by which a window and its working memory are more than `full_at` full; below 0: still free."""

    window: int
    working: int


def excess(items: Sequence[Item], scene: Scene, *, numbers: FifthNumbers | None = None) -> Excess:
    """How far a window that showed all working memory would be too full.

    Session and volatile memory count with the shares of their levels at most: what is beyond them is selected
    by score or dropped, which is no reason to compress working memory.

    >>> talk = [Item(index=0, id="m1", role="user", kind="chat_history_user", text="…", tokens=900)]
    >>> excess(talk, Scene(now=0, budget=2_000)), excess(talk, Scene(now=0, budget=1_000))
    (Excess(window=-700, working=100), Excess(window=100, working=500))
    """
    by = numbers or FifthNumbers()
    used = tokens_by_slot(items, lambda item: slot_of(item, numbers=by))
    allotted = {slot.name: slot.allotted for slot in levels(items, scene, numbers=by)}
    in_full = ("permanent", "working")
    shown = sum(tokens if name in in_full else min(tokens, allotted[name]) for name, tokens in used.items())
    return Excess(
        window=scene.overhead + shown - round_down(by.full_at * scene.budget),
        working=used.get("working", 0) - round_down(by.full_at * allotted["working"]),
    )


def by_level(
    units: Sequence[Unit], room: int, *, slots: Sequence[Slot], numbers: FifthNumbers | None = None
) -> Pick:
    """Spend the room level by level, the best score first; ties go to the higher priority, then the newer."""
    by = numbers or FifthNumbers()
    forced = [unit for unit in units if unit.forced]
    taken = _Taken(
        room, with_usage(slots, forced), because={unit.turn: unit.forced for unit in forced if unit.forced}
    )
    ranked = sorted((unit for unit in units if not unit.forced), key=lambda unit: _rank(unit, by))
    lasting = [unit for unit in ranked if _main_level(unit) != VOLATILE]
    for unit in lasting:
        taken.within_levels(unit)
    # Second round: whatever the levels left unused, including the share of the volatile level.
    for unit in [*lasting, *(unit for unit in ranked if _main_level(unit) == VOLATILE)]:
        taken.anywhere(unit)
    kept = [unit for unit in units if unit.turn in taken.kept]
    return Pick(
        kept=frozenset(taken.kept),
        because=taken.because,
        slots=lend_spare(with_usage(slots, kept))[0],
    )


class _Taken:
    """The units taken so far, and the room that is left."""

    def __init__(self, room: int, slots: Iterable[Slot], because: dict[int, Reason]) -> None:
        self.kept = set(because)
        self.because = because
        self._room = room
        self._left = Counter({slot.name: slot.allotted - slot.used for slot in slots})

    def within_levels(self, unit: Unit) -> None:
        level = _main_level(unit)
        always = level == PERMANENT or _is_prompt(unit)
        fits = always or all(need <= self._left[name] for name, need in unit.by_slot.items())
        if fits and unit.tokens <= self._room:
            self._take(unit, Reason(code="selected", columns=f"{_columns(unit)}, {unit.tokens:,} tokens"))

    def anywhere(self, unit: Unit) -> None:
        if unit.turn in self.kept:
            return
        columns = _columns(unit)
        if unit.tokens <= self._room:
            words = f"{unit.tokens:,} tokens that other levels left unused"
            self._take(unit, Reason(code="selected", columns=columns, words=words))
        else:
            self.because[unit.turn] = no_room(needed=unit.tokens, left=self._room, columns=columns)

    def _take(self, unit: Unit, because: Reason) -> None:
        self.kept.add(unit.turn)
        self.because[unit.turn] = because
        self._room -= unit.tokens
        self._left.subtract(unit.by_slot)


def _rank(unit: Unit, by: FifthNumbers) -> tuple[int, float, float, int]:
    priority = max(priority_of(item, by) for item in unit.items)
    level = -1 if _is_prompt(unit) else LEVELS.index(_main_level(unit))
    return level, -unit.score.total, -priority, -unit.turn


def priority_of(item: Item, by: FifthNumbers) -> float:
    """The priority that was given to an item, or the one of an item without."""
    return by.priority if item.priority is None else item.priority


def _is_prompt(unit: Unit) -> bool:
    return any(item.kind == "current_user_prompt" for item in unit.items)


def _main_level(unit: Unit) -> Level:
    """The level that has most of a unit's tokens; of equals the more permanent one."""
    return max(LEVELS, key=lambda level: unit.by_slot.get(level, -1))


def _columns(unit: Unit) -> str:
    given = [item.priority for item in unit.items if item.priority is not None]
    priority = f", priority {max(given):g}" if given else ""
    return f"{_main_level(unit)}, score {unit.score.total:.2f}{priority}"
