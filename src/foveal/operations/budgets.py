"""The categories as operations on JSON: analyze, trim, process; borrow, rebalance, report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from pydantic import AliasChoices, ConfigDict, Field, model_validator

from foveal.errors import InputError
from foveal.operations.categories import (
    Analysis,
    Trimmed,
    analyze_session,
    process_session,
    trim_session,
)
from foveal.operations.registry import Operation, Shape
from foveal.pipeline.material import Material
from foveal.pipeline.plan.categories import (
    CATEGORIES,
    SYSTEM,
    PenguinNumbers,
    available,
    borrow,
    rebalance,
    report,
    slot_of,
)
from foveal.pipeline.select.salience import by_salience
from foveal.pipeline.values import Slot
from foveal.window import Contributed

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


class Held(Shape):
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
    categories: dict[str, Held]


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
            slot.name: Held(
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
            raise InputError(f"`{field}` is {name}, which is not in `budgets`", remedy="add its budget")
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
