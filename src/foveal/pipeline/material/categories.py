"""Divide a budget among four categories that lend each other what they do not need.

SYSTEM neither lends nor borrows. Borrowing moves tokens between categories; their sum stays the same.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from foveal.errors import ConfigError
from foveal.pipeline.kinds import category_of
from foveal.pipeline.values import Item, Scene, Unit
from foveal.window import Slot

SYSTEM, CONTEXT, DIALOG, OUTPUT = "SYSTEM", "CONTEXT", "DIALOG", "SYSTEM_OUTPUT"
CATEGORIES = (SYSTEM, CONTEXT, DIALOG, OUTPUT)
TRIMMED_FIRST = (OUTPUT, DIALOG, CONTEXT)
"""The order in which categories are trimmed. SYSTEM never is."""
TOTAL = 150_000
"""The budget of an operation that is given none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PenguinNumbers:
    """The categories' shares of the total, and the weight of each type of contributor."""

    shares: Mapping[str, float] = field(
        default_factory=lambda: {SYSTEM: 0.10, CONTEXT: 0.35, DIALOG: 0.50, OUTPUT: 0.05}
    )
    """Share of the budget by category; together at most 1."""
    minimums: Mapping[str, float] = field(default_factory=dict)
    """Tokens that a category never lends, by category; 0 where not given."""
    weights: Mapping[str, float] = field(
        default_factory=lambda: {
            "WORKING_FILES": 0.40,
            "RETRIEVAL": 0.25,
            "CODEBASE_MAP": 0.20,
            "PROJECT_DOCS": 0.15,
            "GIT": 0.10,
            "TEST_RESULTS": 0.10,
            "STATIC_ANALYSIS": 0.10,
            "CUSTOM": 0.10,
        }
    )
    """Weight by type of contributor: attached material is ranked by weight times salience."""
    project_docs: Mapping[str, int] = field(
        default_factory=lambda: {"PENGUIN.md": 600, "AGENTS.md": 500, "CLAUDE.md": 500, "README.md": 300}
    )
    """The documents of a project, in the order in which they are looked for, and the most tokens of each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """Tokens that one slot lent another."""

    source: str
    target: str
    amount: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """One category of the allocation report."""

    name: str
    minimum: int
    maximum: int
    current: int
    borrowed: int
    lent: int
    use: float
    """Current tokens as a share of the maximum; 0 where the maximum is 0."""


def plan_categories(
    _items: Sequence[Item], scene: Scene, *, numbers: PenguinNumbers | None = None
) -> tuple[Slot, ...]:
    """The categories of a build: its budget is the total."""
    return category_slots(scene.budget, numbers or PenguinNumbers())


def category_slots(total: int, numbers: PenguinNumbers) -> tuple[Slot, ...]:
    """The categories with their shares of the total, nothing used yet.

    >>> [(slot.name, slot.allotted) for slot in category_slots(150_000, PenguinNumbers())]
    [('SYSTEM', 15000), ('CONTEXT', 52500), ('DIALOG', 75000), ('SYSTEM_OUTPUT', 7500)]
    """
    check_numbers(numbers)
    allotted = {name: round_down(total * numbers.shares.get(name, 0.0)) for name in CATEGORIES}
    lendable = sum(tokens for name, tokens in allotted.items() if name != SYSTEM)
    return tuple(
        Slot(
            name=name,
            floor=min(int(numbers.minimums.get(name, 0)), tokens),
            ideal=tokens,
            ceiling=tokens if name == SYSTEM else lendable,
            allotted=tokens,
        )
        for name, tokens in allotted.items()
    )


def check_numbers(numbers: PenguinNumbers) -> None:
    """Raise for unknown categories, negative numbers, and shares of more than 100% together."""
    known = ", ".join(f"`{name}`" for name in CATEGORIES)
    for key, table in (("shares", numbers.shares), ("minimums", numbers.minimums)):
        for name, value in table.items():
            full = f"{key}.{name}"
            if name not in CATEGORIES:
                raise ConfigError(f"there is no category {name!r}", remedy=f"use {known}", field=full)
            if value < 0:
                raise ConfigError(f"`{full}` is {value:g}", remedy="give 0 or more", field=full)
    total = sum(numbers.shares.values())
    if total > 1 + 1e-9:
        remedy = "make them at most 100% together"
        raise ConfigError(f"the `shares` add up to {total:.0%}", remedy=remedy, field="shares")


def slot_of(item: Item) -> str:
    """The category an item is charged to: that of its metadata, else that of its kind.

    >>> slot_of(Item(index=0, id="m1", role="tool", kind="tool_output", text="ok", tokens=1))
    'SYSTEM_OUTPUT'
    """
    category = category_of(item.kind, item.metadata)
    return category if category in CATEGORIES else category_of(item.kind, {})


def available(slots: Sequence[Slot], category: str) -> int:
    """Tokens left in a category."""
    slot = next(slot for slot in slots if slot.name == category)
    return max(0, slot.allotted - slot.used)


def borrow(slots: Sequence[Slot], source: str, *, target: str, amount: int) -> tuple[bool, tuple[Slot, ...]]:
    """Move all of `amount` from one category to another, or nothing; returns whether it was moved."""
    by_name = {slot.name: slot for slot in slots if slot.name != SYSTEM}
    known = source != target and {source, target} <= by_name.keys()
    if not known or amount <= 0 or amount > spare(by_name[source]):
        return False, tuple(slots)
    moved = _moved(by_name, Move(source=source, target=target, amount=amount))
    return True, tuple(moved.get(slot.name, slot) for slot in slots)


def rebalance(slots: Sequence[Slot]) -> tuple[tuple[Slot, ...], tuple[Move, ...]]:
    """Let over-full categories borrow their deficits; returns the moves too."""
    return lend_spare(slots, closed=(SYSTEM,))


def report(slots: Sequence[Slot]) -> tuple[Usage, ...]:
    """Each category's limits and use, and what it borrowed and lent."""
    return tuple(
        Usage(
            name=slot.name,
            minimum=slot.floor,
            maximum=slot.allotted,
            current=slot.used,
            borrowed=max(0, slot.borrowed),
            lent=max(0, -slot.borrowed),
            use=slot.used / slot.allotted if slot.allotted else 0.0,
        )
        for slot in slots
    )


def tokens_by_slot(items: Iterable[Item], slot_of: Callable[[Item], str]) -> dict[str, int]:
    """Tokens by slot."""
    tokens: Counter[str] = Counter()
    for item in items:
        tokens[slot_of(item)] += item.tokens
    return dict(tokens)


def with_usage(slots: Sequence[Slot], units: Iterable[Unit]) -> tuple[Slot, ...]:
    """The slots with the tokens that these units use."""
    used: Counter[str] = Counter()
    for unit in units:
        used.update(unit.by_slot)
    return tuple(replace(slot, used=used[slot.name]) for slot in slots)


def lend_spare(
    slots: Sequence[Slot], *, closed: Collection[str] = ()
) -> tuple[tuple[Slot, ...], tuple[Move, ...]]:
    """Let each over-full slot borrow its deficit from the slot with the most spare tokens, then the next.

    Slots in `closed` neither lend nor borrow.
    """
    by_name = {slot.name: slot for slot in slots}
    moves: list[Move] = []
    for name in [slot.name for slot in slots if slot.name not in closed]:
        deficit = by_name[name].used - by_name[name].allotted
        others = [slot for slot in by_name.values() if slot.name not in {name, *closed}]
        for lender in sorted(others, key=spare, reverse=True):
            amount = min(deficit, spare(lender))
            if amount <= 0:
                break
            moves.append(Move(source=lender.name, target=name, amount=amount))
            by_name = _moved(by_name, moves[-1])
            deficit -= amount
    return tuple(by_name.values()), tuple(moves)


def spare(slot: Slot) -> int:
    """What a slot can lend: what exceeds both its use and its floor."""
    return max(0, slot.allotted - max(slot.floor, slot.used))


def _moved(slots: Mapping[str, Slot], move: Move) -> dict[str, Slot]:
    lender, borrower, amount = slots[move.source], slots[move.target], move.amount
    return {
        **slots,
        lender.name: replace(lender, allotted=lender.allotted - amount, borrowed=lender.borrowed - amount),
        borrower.name: replace(
            borrower, allotted=borrower.allotted + amount, borrowed=borrower.borrowed + amount
        ),
    }


def round_down(tokens: float) -> int:
    """Round down, but not where a product of decimals is a hair too small: 0.29 x 100 is 29."""
    return math.floor(tokens + 1e-9)
