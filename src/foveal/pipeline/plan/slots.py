"""Slots in → slots with their use written in, or with room moved between them; the total stays the same."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from foveal.pipeline.values import Item, Slot, Unit


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """Room that one slot lent another."""

    source: str
    target: str
    amount: int


def whole(tokens: float) -> int:
    """Rounded down, but not because a product of decimals fell a hair short: 0.29 x 100 is 29."""
    return math.floor(tokens + 1e-9)


def charge(items: Iterable[Item], slot_of: Callable[[Item], str]) -> dict[str, int]:
    """Tokens by slot."""
    tokens: Counter[str] = Counter()
    for item in items:
        tokens[slot_of(item)] += item.tokens
    return dict(tokens)


def fill(slots: Sequence[Slot], units: Iterable[Unit]) -> tuple[Slot, ...]:
    """The slots as these units use them."""
    used: Counter[str] = Counter()
    for unit in units:
        used.update(unit.by_slot)
    return tuple(replace(slot, used=used[slot.name]) for slot in slots)


def spare(slot: Slot) -> int:
    """What a slot can lend: neither what it uses nor what it is sure of."""
    return max(0, slot.allotted - max(slot.floor, slot.used))


def move(slots: Mapping[str, Slot], made: Move) -> dict[str, Slot]:
    """Lower one slot and raise the other."""
    lender, borrower, amount = slots[made.source], slots[made.target], made.amount
    return {
        **slots,
        lender.name: replace(lender, allotted=lender.allotted - amount, borrowed=lender.borrowed - amount),
        borrower.name: replace(
            borrower, allotted=borrower.allotted + amount, borrowed=borrower.borrowed + amount
        ),
    }


def even_out(
    slots: Sequence[Slot], *, closed: Collection[str] = ()
) -> tuple[tuple[Slot, ...], tuple[Move, ...]]:
    """Each over-full slot borrows just its deficit from the slot with most room, then the next.

    Those in `closed` neither lend nor borrow.
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
            by_name = move(by_name, moves[-1])
            deficit -= amount
    return tuple(by_name.values()), tuple(moves)
