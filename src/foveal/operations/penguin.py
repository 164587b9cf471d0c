"""Operations of the `penguin` preset: analyze and trim a session, and move budget between its categories."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, ClassVar, Literal

from pydantic import ConfigDict, Field, FiniteFloat, model_validator

from foveal.errors import InputError
from foveal.model import Kind
from foveal.operations.messages import counted, newest_user, text_counter
from foveal.operations.registry import Objects, Operation, Shape
from foveal.operations.spellings import DesignShape
from foveal.pipeline.kinds import KINDS
from foveal.pipeline.material.admit import admit_by_salience
from foveal.pipeline.material.categories import (
    CATEGORIES,
    SYSTEM,
    TOTAL,
    PenguinNumbers,
    available,
    borrow,
    category_slots,
    rebalance,
    report,
    slot_of,
    tokens_by_slot,
    with_usage,
)
from foveal.pipeline.material.values import Material
from foveal.pipeline.reasons import Reason
from foveal.pipeline.values import Item, Pick, Unit
from foveal.presets.penguin import trim, trim_when_over
from foveal.validation import LARGEST, Few, Many
from foveal.window import Contributed, Score, Slot

Category = Literal["SYSTEM", "CONTEXT", "DIALOG", "SYSTEM_OUTPUT"]
Share = Annotated[FiniteFloat, Field(strict=True)]
UNSCORED = Score(total=0.0)


class SessionRequest(DesignShape):
    messages: Objects = Field(description="In any format; with `tokens`, `type` and `metadata` if known.")
    max_tokens: int | None = Field(
        default=None, strict=True, gt=0, le=LARGEST, description=f"{TOTAL:,} unless given."
    )
    shares: Annotated[dict[Category, Share], Few] = Field(
        default={}, description="What is not given keeps its share."
    )

    def shared(self, numbers: PenguinNumbers) -> PenguinNumbers:
        """The settings with the shares that the request states in their place."""
        shares = dict(numbers.shares) | {**self.shares}
        if min(shares.values()) < 0 or sum(shares.values()) > 1 + 1e-9:
            raise InputError(
                f"`shares` are {shares}: none may be negative, together they are at most 1",
                remedy="lower one of them; a category that is not given keeps its share",
                field="shares",
            )
        return replace(numbers, shares=shares)

    @property
    def total(self) -> int:
        return TOTAL if self.max_tokens is None else self.max_tokens


class CategoryUse(Shape):
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
    categories: dict[str, CategoryUse]


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


class TrimmedMessage(Shape):
    index: int = Field(description="Its place in the request.")
    category: str
    tokens: int
    because: str


class TrimResult(Shape):
    messages: Objects
    trimmed: list[TrimmedMessage]
    report: ReportResult


class Budget(DesignShape):
    DESIGN_NAMES: ClassVar = {"min_tokens": "min", "max_tokens": "max", "current_tokens": "current"}

    min: int = Field(default=0, strict=True, ge=0, le=LARGEST)
    max: int = Field(strict=True, ge=0, le=LARGEST)
    current: int = Field(default=0, strict=True, ge=0, le=LARGEST)
    borrowed: int = Field(default=0, strict=True, ge=0, le=LARGEST)
    lent: int = Field(default=0, strict=True, ge=0, le=LARGEST)

    @model_validator(mode="after")
    def _min_below_max(self) -> Budget:
        if self.min > self.max:
            raise ValueError(f"`min` is {self.min}, above `max`, which is {self.max}")
        return self


Budgets = Annotated[dict[Category, Budget], Few]


class BorrowRequest(DesignShape):
    DESIGN_NAMES: ClassVar = {"from_category": "from", "to_category": "to"}

    budgets: Budgets
    source: Category = Field(alias="from")
    to: Category
    amount: int = Field(strict=True, gt=0, le=LARGEST)


class BorrowResult(Shape):
    done: bool
    budgets: dict[str, Budget]


class RebalanceRequest(DesignShape):
    budgets: Budgets


class MoveResult(Shape):
    model_config = ConfigDict(serialize_by_alias=True)

    source: str = Field(alias="from")
    to: str
    amount: int


class RebalanceResult(Shape):
    budgets: dict[str, Budget]
    moves: list[MoveResult]


class Contributor(DesignShape):
    DESIGN_NAMES: ClassVar = {"salience_score": "salience", "token_count": "tokens"}

    type: str = "CUSTOM"
    source_path: str = ""
    weight: float | None = Field(
        default=None, strict=True, ge=0, le=LARGEST, description="By default its type's."
    )
    salience: float = Field(strict=True, ge=0, le=1)
    content: str | None = Field(default=None, description="Counted where `tokens` are not given.")
    tokens: int | None = Field(default=None, strict=True, ge=0, le=LARGEST)

    @model_validator(mode="after")
    def _has_a_size(self) -> Contributor:
        if self.tokens is None and self.content is None:
            raise ValueError("give its `tokens`, or its `content` to have them counted")
        return self

    @property
    def size(self) -> int:
        """Its tokens, as given or counted."""
        return text_counter()(self.content or "") if self.tokens is None else self.tokens


class ReportRequest(DesignShape):
    budgets: Budgets
    contributors: Many[Contributor] = Field(default=[])


def _analyze(request: SessionRequest, numbers: PenguinNumbers) -> AnalyzeResult:
    shared = request.shared(numbers)
    units = _units(request.messages)
    slots = with_usage(category_slots(request.total, shared), units)
    messages = Counter(slot_of(item) for unit in units for item in unit.items)
    tokens = sum(unit.tokens for unit in units)
    return AnalyzeResult(
        total_tokens=tokens,
        max_tokens=request.total,
        over=tokens > request.total,
        messages=len(request.messages),
        categories={
            slot.name: CategoryUse(
                messages=messages[slot.name],
                tokens=slot.used,
                min=slot.floor,
                max=slot.allotted,
                available=available(slots, slot.name),
                over=slot.used > slot.allotted,
            )
            for slot in slots
        },
    )


def _trim(request: SessionRequest, numbers: PenguinNumbers) -> TrimResult:
    slots = category_slots(request.total, request.shared(numbers))
    units = _units(request.messages)
    return _trimmed(request, units, trim(units, _room(units, request.total), slots=slots))


def _process(request: SessionRequest, numbers: PenguinNumbers) -> TrimResult:
    slots = category_slots(request.total, request.shared(numbers))
    units = _units(request.messages)
    return _trimmed(request, units, trim_when_over(units, _room(units, request.total), slots=slots))


def _room(units: Sequence[Unit], total: int) -> int:
    return total - sum(unit.tokens for unit in units if unit.forced)


def _trimmed(request: SessionRequest, units: Sequence[Unit], pick: Pick) -> TrimResult:
    kept = [unit for unit in units if unit.turn in pick.kept]
    tokens = sum(unit.tokens for unit in kept)
    return TrimResult(
        messages=[request.messages[item.index] for unit in kept for item in unit.items],
        trimmed=[
            TrimmedMessage(
                index=item.index,
                category=slot_of(item),
                tokens=item.tokens,
                because=pick.because[unit.turn].sentence,
            )
            for unit in units
            if unit.turn not in pick.kept
            for item in unit.items
        ],
        report=ReportResult(
            total_tokens=tokens,
            max_tokens=request.total,
            over=tokens > request.total,
            categories=_categories(pick.slots),
        ),
    )


def _units(messages: Objects) -> list[Unit]:
    """The turns, charged to their categories; those that must stay have a reason in `forced`."""
    found = counted([_provider_message(message) for message in messages])
    items = [_with_given(item, message) for item, message in zip(found.items, messages, strict=True)]
    open_turn = max(
        (at for at, turn in enumerate(found.turns) if items[turn[0]].role != "system"), default=-1
    )
    newest = newest_user((item.role, item.kind) for item in items)
    return [
        Unit(
            turn=at,
            items=tuple(items[index] for index in turn),
            tokens=sum(items[index].tokens for index in turn),
            score=UNSCORED,
            by_slot=(by_slot := tokens_by_slot([items[index] for index in turn], slot_of)),
            forced=_forced(by_slot, open_turn=at == open_turn, newest=newest in turn),
        )
        for at, turn in enumerate(found.turns)
    ]


def _forced(by_slot: Mapping[str, int], *, open_turn: bool, newest: bool) -> Reason | None:
    if SYSTEM in by_slot:
        return Reason(code="system_prompt", words="SYSTEM is never trimmed")
    if open_turn:
        return Reason(code="open_turn")
    return Reason(code="newest_user", words="newest user message") if newest else None


def _provider_message(message: Mapping[str, Any]) -> dict[str, Any]:
    """The message without the fields that only this operation knows: `tokens`, and a kind as its `type`."""
    ours = {"tokens", *(["type"] if message.get("type") in KINDS else [])}
    return {key: value for key, value in message.items() if key not in ours}


def _with_given(item: Item, message: Mapping[str, Any]) -> Item:
    """The item with the tokens, the kind and the metadata that the request states."""
    tokens, metadata = message.get("tokens"), message.get("metadata")
    kind: Kind | None = next((kind for kind in KINDS if kind == message.get("type")), None)
    known = isinstance(tokens, int) and not isinstance(tokens, bool) and 0 <= tokens <= LARGEST
    if tokens is not None and not known:
        raise InputError(
            f"messages[{item.index}]: `tokens` is not an integer from 0 to {LARGEST:,}",
            remedy="correct it, or omit it to have it counted",
            field="tokens",
        )
    return replace(
        item,
        tokens=item.tokens if tokens is None else tokens,
        kind=kind or item.kind,
        metadata=metadata if isinstance(metadata, Mapping) else item.metadata,
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


def _report(request: ReportRequest, numbers: PenguinNumbers) -> ReportResult:
    slots = _slots(request.budgets)
    room = max(0, sum(slot.allotted - slot.used for slot in slots))
    pieces = [_material(at, each, numbers) for at, each in enumerate(request.contributors)]
    admitted = admit_by_salience(pieces, slots, room=room)
    contributed = {each.source: each for each in admitted.contributed}
    used = sum(slot.used for slot in admitted.slots)
    allotted = sum(slot.allotted for slot in admitted.slots)
    return ReportResult(
        total_tokens=used,
        max_tokens=allotted,
        over=used > allotted,
        categories=_categories(admitted.slots),
        contributors=[
            _contributor(contributed[str(at)], each) for at, each in enumerate(request.contributors)
        ],
    )


def _material(at: int, given: Contributor, numbers: PenguinNumbers) -> Material:
    """A contributor, identified by its position in the request: paths may repeat or be missing."""
    usual = numbers.weights.get(given.type.upper(), numbers.weights["CUSTOM"])
    return Material(
        type=given.type,
        source=str(at),
        text="",
        tokens=given.size,
        weight=usual if given.weight is None else given.weight,
        salience=given.salience,
    )


def _contributor(contributed: Contributed, given: Contributor) -> ContributorReport:
    return ContributorReport(
        type=given.type,
        source_path=given.source_path,
        weight=contributed.weight,
        salience=given.salience,
        tokens=given.size,
        chosen=contributed.verdict == "kept",
        because=contributed.because,
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


def _categories(slots: Sequence[Slot]) -> dict[str, CategoryReport]:
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


OPERATIONS = (
    Operation("session_analyze", "Tokens and messages by category.", _analyze),
    Operation("session_trim", "Bring over-full categories to their maximum, then the total.", _trim),
    Operation("session_process", "Rebalance the categories, and trim when the total is over.", _process),
    Operation("budget_borrow", "Move room from one category to another.", _borrow),
    Operation("budget_rebalance", "Over-full categories borrow what they lack.", _rebalance),
    Operation("budget_report", "What each category holds, has borrowed and has lent.", _report),
)
