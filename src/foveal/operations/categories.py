"""`session_*` and `budget_*`: messages or budgets in → what each category holds, lends, borrows and gives up.

The functions on message lists are the same for Python and for JSON; what stays is the very objects that
came in.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from foveal.errors import InputError
from foveal.model import Kind
from foveal.operations.counted import counted, newest_user
from foveal.pipeline.kinds import KINDS
from foveal.pipeline.plan.categories import CATEGORIES, SYSTEM, PenguinNumbers, shared, slot_of
from foveal.pipeline.plan.slots import charge, fill
from foveal.pipeline.select.trim import trim, trim_when_over
from foveal.pipeline.values import Item, Pick, Score, Slot, Unit

UNSCORED = Score(total=0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Analysis:
    """What a conversation holds, category by category."""

    max_tokens: int
    total_tokens: int
    messages: Mapping[str, int]
    slots: tuple[Slot, ...]

    @property
    def over(self) -> bool:
        return self.total_tokens > self.max_tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class Trimmed:
    """What stays, and what went and why, each in its order."""

    messages: Sequence[Any]
    gone: tuple[tuple[Item, str], ...]
    after: Analysis


def analyze_session(
    messages: Sequence[Any], max_tokens: int | None = None, *, numbers: PenguinNumbers | None = None
) -> Analysis:
    """Totals and counts by category.

    >>> found = analyze_session([{"role": "system", "content": "Be brief."}], 1000)
    >>> found.messages["SYSTEM"], found.over
    (1, False)
    """
    by = numbers or PenguinNumbers()
    total = by.total if max_tokens is None else max_tokens
    units = _units(messages)
    return _analysis(units, fill(shared(total, by), units), total)


def trim_session(
    messages: Sequence[Any], max_tokens: int | None = None, *, numbers: PenguinNumbers | None = None
) -> Trimmed:
    """Over-full categories come down to their maximum, then the total to its own."""
    by = numbers or PenguinNumbers()
    total = by.total if max_tokens is None else max_tokens
    units = _units(messages)
    return _trimmed(messages, units, trim(units, _room(units, total), slots=shared(total, by)), total)


def process_session(
    messages: Sequence[Any], max_tokens: int | None = None, *, numbers: PenguinNumbers | None = None
) -> Trimmed:
    """Analyze, rebalance, and trim when the total is over."""
    by = numbers or PenguinNumbers()
    total = by.total if max_tokens is None else max_tokens
    units = _units(messages)
    pick = trim_when_over(units, _room(units, total), slots=shared(total, by))
    return _trimmed(messages, units, pick, total)


def _room(units: Sequence[Unit], total: int) -> int:
    return total - sum(unit.tokens for unit in units if unit.forced)


def _analysis(units: Sequence[Unit], slots: tuple[Slot, ...], total: int) -> Analysis:
    homes = [slot_of(item) for unit in units for item in unit.items]
    return Analysis(
        max_tokens=total,
        total_tokens=sum(unit.tokens for unit in units),
        messages={name: homes.count(name) for name in CATEGORIES},
        slots=slots,
    )


def _trimmed(messages: Sequence[Any], units: Sequence[Unit], pick: Pick, total: int) -> Trimmed:
    kept = [unit for unit in units if unit.turn in pick.kept]
    left = [unit for unit in units if unit.turn not in pick.kept]
    return Trimmed(
        messages=[messages[item.index] for unit in kept for item in unit.items],
        gone=tuple((item, pick.because[unit.turn]) for unit in left for item in unit.items),
        after=_analysis(kept, pick.slots, total),
    )


def _units(messages: Sequence[Any]) -> list[Unit]:
    """The turns, charged to their categories; SYSTEM, the newest user message and the open turn must stay."""
    found = counted([_bare(message) for message in messages])
    items = [_told(item, message) for item, message in zip(found.items, messages, strict=True)]
    open_turn = max(
        (at for at, turn in enumerate(found.turns) if items[turn[0]].role != "system"), default=-1
    )
    asked = newest_user((item.role, item.kind) for item in items)
    return [
        Unit(
            turn=at,
            items=tuple(items[place] for place in turn),
            tokens=sum(items[place].tokens for place in turn),
            score=UNSCORED,
            by_slot=(by_slot := charge([items[place] for place in turn], slot_of)),
            forced=_forced(by_slot, open_turn=at == open_turn, asked=asked in turn),
        )
        for at, turn in enumerate(found.turns)
    ]


def _forced(by_slot: Mapping[str, int], *, open_turn: bool, asked: bool) -> str:
    if SYSTEM in by_slot:
        return "SYSTEM is never trimmed"
    if open_turn:
        return "open turn"
    return "newest user message" if asked else ""


def _bare(message: Any) -> Any:
    """The message as its provider knows it: `tokens` and a kind as `type` are ours."""
    if not isinstance(message, Mapping):
        return message
    ours = {"tokens", *(["type"] if message.get("type") in KINDS else [])}
    return {key: value for key, value in message.items() if key not in ours}


def _told(item: Item, message: Any) -> Item:
    """What the message says of itself wins over what was counted and guessed."""
    if not isinstance(message, Mapping):
        return item
    tokens, metadata = message.get("tokens"), message.get("metadata")
    kind: Kind | None = next((kind for kind in KINDS if kind == message.get("type")), None)
    if tokens is not None and (isinstance(tokens, bool) or not isinstance(tokens, int) or tokens < 0):
        raise InputError(
            f"messages[{item.index}]: `tokens` is {tokens!r}",
            remedy="give a whole number of 0 or more, or leave it out to have it counted",
        )
    return replace(
        item,
        tokens=item.tokens if tokens is None else tokens,
        kind=kind or item.kind,
        metadata=metadata if isinstance(metadata, Mapping) else item.metadata,
    )
