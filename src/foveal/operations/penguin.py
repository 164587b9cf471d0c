"""The categories as operations on JSON: analyze, trim, process; borrow, rebalance, report.

`session_*` and `budget_*`: messages or budgets in → what each category holds, lends, borrows and gives up.

The functions on message lists are the same for Python and for JSON; what stays is the very objects that
came in.

The operations of the three plans: negotiated layers, borrowing categories, memory levels.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from pydantic import AliasChoices, ConfigDict, Field, model_validator

from foveal.errors import InputError
from foveal.model import Kind
from foveal.operations.messages import counted, newest_user
from foveal.operations.registry import Operation, Shape
from foveal.pipeline.kinds import KINDS
from foveal.pipeline.material.admit import by_salience
from foveal.pipeline.material.categories import (
    CATEGORIES,
    SYSTEM,
    PenguinNumbers,
    available,
    borrow,
    charge,
    fill,
    rebalance,
    report,
    shared,
    slot_of,
)
from foveal.pipeline.material.values import Material
from foveal.pipeline.values import Item, Pick, Unit
from foveal.presets.penguin import trim, trim_when_over
from foveal.window import Contributed, Score, Slot

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
            field="tokens",
        )
    return replace(
        item,
        tokens=item.tokens if tokens is None else tokens,
        kind=kind or item.kind,
        metadata=metadata if isinstance(metadata, Mapping) else item.metadata,
    )


Category = Literal["SYSTEM", "CONTEXT", "DIALOG", "SYSTEM_OUTPUT"]
Objects = list[dict[str, Any]]
DEFAULTS = PenguinNumbers()


class SessionRequest(Shape):
    messages: Objects = Field(description="In any format; with `tokens`, `type` and `metadata` if known.")
    max_tokens: int | None = Field(default=None, gt=0, description=f"{DEFAULTS.total:,} unless given.")
    shares: dict[Category, float] = Field(default={}, description="What is not given keeps its share.")

    @model_validator(mode="after")
    def _at_most_all(self) -> SessionRequest:
        shares = _shares(self)
        if min(shares.values()) < 0 or sum(shares.values()) > 1 + 1e-9:
            raise ValueError(f"`shares` are {shares}: none may be negative, together they are at most 1")
        return self


class Layout(Shape):
    messages: int
    tokens: int
    min: int
    max: int
    available: int
    over: bool


class AnalyzeResult(Shape):
    total_tokens: int
    max_tokens: int
    over: bool
    messages: int
    categories: dict[str, Layout]


class CategoryReport(Shape):
    min: int
    max: int
    current: int
    borrowed: int
    lent: int
    use: float = Field(description="Current tokens as a share of the maximum.")


class ContributorReport(Shape):
    type: str
    source_path: str
    weight: float
    salience: float
    tokens: int
    chosen: bool
    because: str


class ReportResult(Shape):
    total_tokens: int
    max_tokens: int
    over: bool
    categories: dict[str, CategoryReport]
    contributors: list[ContributorReport] = Field(default=[])


class Gone(Shape):
    index: int = Field(description="Its place in the request.")
    category: str
    tokens: int
    because: str


class TrimResult(Shape):
    messages: Objects
    trimmed: list[Gone]
    report: ReportResult


class Budget(Shape):
    min: int = Field(default=0, ge=0, validation_alias=AliasChoices("min", "min_tokens"))
    max: int = Field(ge=0, validation_alias=AliasChoices("max", "max_tokens"))
    current: int = Field(default=0, ge=0, validation_alias=AliasChoices("current", "current_tokens"))
    borrowed: int = Field(default=0, ge=0)
    lent: int = Field(default=0, ge=0)

    @model_validator(mode="after")
    def _min_below_max(self) -> Budget:
        if self.min > self.max:
            raise ValueError(f"`min` is {self.min}, above `max`, which is {self.max}")
        return self


Budgets = dict[Category, Budget]


class BorrowRequest(Shape):
    budgets: Budgets
    source: Category = Field(alias="from")
    to: Category
    amount: int = Field(gt=0)


class BorrowResult(Shape):
    done: bool
    budgets: dict[str, Budget]


class RebalanceRequest(Shape):
    budgets: Budgets


class MoveResult(Shape):
    model_config = ConfigDict(serialize_by_alias=True)

    source: str = Field(alias="from")
    to: str
    amount: int


class RebalanceResult(Shape):
    budgets: dict[str, Budget]
    moves: list[MoveResult]


class Contributor(Shape):
    type: str = "CUSTOM"
    source_path: str = ""
    weight: float | None = Field(default=None, ge=0, description="By default its type's.")
    salience: float = Field(ge=0, le=1)
    tokens: int = Field(ge=0)


class ReportRequest(Shape):
    budgets: Budgets
    contributors: list[Contributor] = Field(default=[])


def _shares(request: SessionRequest) -> dict[str, float]:
    return {**DEFAULTS.shares, **{str(name): share for name, share in request.shares.items()}}


def _numbers(request: SessionRequest) -> PenguinNumbers:
    return PenguinNumbers(shares=_shares(request))


def _analyze(request: SessionRequest) -> AnalyzeResult:
    found = analyze_session(request.messages, request.max_tokens, numbers=_numbers(request))
    return AnalyzeResult(
        total_tokens=found.total_tokens,
        max_tokens=found.max_tokens,
        over=found.over,
        messages=len(request.messages),
        categories={
            slot.name: Layout(
                messages=found.messages[slot.name],
                tokens=slot.used,
                min=slot.floor,
                max=slot.allotted,
                available=available(found.slots, slot.name),
                over=slot.used > slot.allotted,
            )
            for slot in found.slots
        },
    )


def _trim(request: SessionRequest) -> TrimResult:
    return _trim_result(trim_session(request.messages, request.max_tokens, numbers=_numbers(request)))


def _process(request: SessionRequest) -> TrimResult:
    return _trim_result(process_session(request.messages, request.max_tokens, numbers=_numbers(request)))


def _trim_result(done: Trimmed) -> TrimResult:
    gone = [
        Gone(index=item.index, category=slot_of(item), tokens=item.tokens, because=because)
        for item, because in done.gone
    ]
    return TrimResult(messages=list(done.messages), trimmed=gone, report=_session_report(done.after))


def _session_report(found: Analysis) -> ReportResult:
    return ReportResult(
        total_tokens=found.total_tokens,
        max_tokens=found.max_tokens,
        over=found.over,
        categories=_reported(found.slots),
    )


def _borrow(request: BorrowRequest) -> BorrowResult:
    for field, name in (("from", request.source), ("to", request.to)):
        if name not in request.budgets:
            raise InputError(
                f"`{field}` is {name}, which is not in `budgets`", remedy="add its budget", field=field
            )
    done, after = borrow(_slots(request.budgets), request.source, target=request.to, amount=request.amount)
    return BorrowResult(done=done, budgets=_budgets(after))


def _rebalance(request: RebalanceRequest) -> RebalanceResult:
    after, moves = rebalance(_slots(request.budgets))
    return RebalanceResult(
        budgets=_budgets(after),
        moves=[
            MoveResult.model_validate({"from": move.source, "to": move.target, "amount": move.amount})
            for move in moves
        ],
    )


def _report(request: ReportRequest) -> ReportResult:
    slots = _slots(request.budgets)
    room = max(0, sum(slot.allotted - slot.used for slot in slots))
    pieces = [_material(at, each) for at, each in enumerate(request.contributors)]
    admitted = by_salience(pieces, slots, room=room)
    told = {each.source: each for each in admitted.told}
    return ReportResult(
        total_tokens=sum(slot.used for slot in admitted.slots),
        max_tokens=sum(slot.allotted for slot in admitted.slots),
        over=sum(slot.used for slot in admitted.slots) > sum(slot.allotted for slot in admitted.slots),
        categories=_reported(admitted.slots),
        contributors=[_judged(told[str(at)], each) for at, each in enumerate(request.contributors)],
    )


def _material(at: int, given: Contributor) -> Material:
    """A contributor by its place in the request: paths may be the same, or not be told."""
    usual = DEFAULTS.weights.get(given.type.upper(), DEFAULTS.weights["CUSTOM"])
    return Material(
        type=given.type,
        source=str(at),
        text="",
        tokens=given.tokens,
        weight=usual if given.weight is None else given.weight,
        salience=given.salience,
    )


def _judged(told: Contributed, given: Contributor) -> ContributorReport:
    return ContributorReport(
        type=given.type,
        source_path=given.source_path,
        weight=told.weight,
        salience=given.salience,
        tokens=given.tokens,
        chosen=told.verdict == "kept",
        because=told.because,
    )


def _slots(budgets: Mapping[Category, Budget]) -> list[Slot]:
    open_room = sum(budget.max for name, budget in budgets.items() if name != SYSTEM)
    return [
        Slot(
            name=name,
            floor=budget.min,
            ideal=budget.max - budget.borrowed + budget.lent,
            ceiling=budget.max if name == SYSTEM else open_room,
            allotted=budget.max,
            used=budget.current,
            borrowed=budget.borrowed - budget.lent,
        )
        for name, budget in sorted(budgets.items(), key=lambda pair: CATEGORIES.index(pair[0]))
    ]


def _budgets(slots: Sequence[Slot]) -> dict[str, Budget]:
    return {
        each.name: Budget(
            min=each.minimum, max=each.maximum, current=each.current, borrowed=each.borrowed, lent=each.lent
        )
        for each in report(slots)
    }


def _reported(slots: Sequence[Slot]) -> dict[str, CategoryReport]:
    return {
        each.name: CategoryReport(
            min=each.minimum,
            max=each.maximum,
            current=each.current,
            borrowed=each.borrowed,
            lent=each.lent,
            use=round(each.use, 4),
        )
        for each in report(slots)
    }


OPERATIONS: tuple[Operation, ...] = (
    Operation(
        name="session_analyze",
        about="Tokens and messages by category.",
        request=SessionRequest,
        result=AnalyzeResult,
        run=_analyze,
    ),
    Operation(
        name="session_trim",
        about="Bring over-full categories to their maximum, then the total.",
        request=SessionRequest,
        result=TrimResult,
        run=_trim,
    ),
    Operation(
        name="session_process",
        about="Rebalance the categories, and trim when the total is over.",
        request=SessionRequest,
        result=TrimResult,
        run=_process,
    ),
    Operation(
        name="budget_borrow",
        about="Move room from one category to another.",
        request=BorrowRequest,
        result=BorrowResult,
        run=_borrow,
    ),
    Operation(
        name="budget_rebalance",
        about="Over-full categories borrow what they lack.",
        request=RebalanceRequest,
        result=RebalanceResult,
        run=_rebalance,
    ),
    Operation(
        name="budget_report",
        about="What each category holds, has borrowed and has lent.",
        request=ReportRequest,
        result=ReportResult,
        run=_report,
    ),
)
