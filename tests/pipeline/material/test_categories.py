"""What the four categories hold and lend. Read the test names top to bottom: they are the spec."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from choosing import item
from foveal.errors import ConfigError
from foveal.pipeline.material.categories import (
    CATEGORIES,
    Move,
    PenguinNumbers,
    available,
    borrow,
    category_slots,
    plan_categories,
    rebalance,
    report,
    slot_of,
)
from foveal.pipeline.values import Scene
from foveal.window import Slot


def holding(*used: int, total: int = 1_000, numbers: PenguinNumbers | None = None) -> tuple[Slot, ...]:
    """The categories in their order, with what they use."""
    slots = category_slots(total, numbers or PenguinNumbers())
    return tuple(replace(slot, used=tokens) for slot, tokens in zip(slots, used, strict=True))


def most(slots: Sequence[Slot]) -> list[int]:
    return [slot.allotted for slot in slots]


def test_the_total_is_shared_10_35_50_5() -> None:
    assert most(category_slots(150_000, PenguinNumbers())) == [15_000, 52_500, 75_000, 7_500]


def test_inside_a_build_the_total_is_the_budget() -> None:
    assert most(plan_categories([], Scene(now=0, budget=8_000))) == [800, 2_800, 4_000, 400]


def test_an_item_says_its_category_or_its_kind_does() -> None:
    assert slot_of(item(0, kind="tool_output")) == "SYSTEM_OUTPUT"
    assert slot_of(item(0, kind="tool_output", metadata={"category": "CONTEXT"})) == "CONTEXT"
    assert slot_of(item(0, kind="tool_output", metadata={"category": "ATTIC"})) == "SYSTEM_OUTPUT"


def test_available_is_what_a_category_has_left() -> None:
    slots = holding(0, 300, 600, 0)
    assert (available(slots, "CONTEXT"), available(slots, "DIALOG")) == (50, 0)


def test_borrowing_lowers_one_maximum_and_raises_the_other() -> None:
    done, after = borrow(holding(0, 0, 100, 0), "DIALOG", target="CONTEXT", amount=60)
    assert (done, most(after)) == (True, [100, 410, 440, 50])
    assert [slot.borrowed for slot in after] == [0, 60, -60, 0]


@pytest.mark.parametrize(
    ("source", "target", "amount"),
    [
        ("DIALOG", "CONTEXT", 401),
        ("DIALOG", "CONTEXT", 0),
        ("DIALOG", "DIALOG", 10),
        ("SYSTEM", "CONTEXT", 10),
        ("DIALOG", "SYSTEM", 10),
        ("ATTIC", "DIALOG", 10),
    ],
)
def test_what_cannot_be_lent_whole_is_not_lent(source: str, target: str, amount: int) -> None:
    slots = holding(0, 0, 100, 0)
    assert borrow(slots, source, target=target, amount=amount) == (False, slots)


def test_no_category_lends_below_its_minimum() -> None:
    slots = holding(0, 0, 0, 0, numbers=PenguinNumbers(minimums={"DIALOG": 450}))
    assert [borrow(slots, "DIALOG", target="CONTEXT", amount=n)[0] for n in (50, 51)] == [True, False]


def test_rebalancing_borrows_just_the_deficit_from_who_has_most_room() -> None:
    after, moves = rebalance(holding(0, 380, 100, 0))
    assert moves == (Move(source="DIALOG", target="CONTEXT", amount=30),)
    assert most(after) == [100, 380, 470, 50]


def test_rebalancing_goes_on_to_the_next_lender() -> None:
    _, moves = rebalance(holding(0, 340, 530, 0))
    assert [(move.source, move.amount) for move in moves] == [("SYSTEM_OUTPUT", 30)]
    _, moves = rebalance(holding(0, 320, 560, 0))
    assert [(move.source, move.amount) for move in moves] == [("SYSTEM_OUTPUT", 50), ("CONTEXT", 10)]


def test_an_over_full_system_gets_nothing_from_anybody() -> None:
    assert rebalance(holding(500, 0, 0, 0))[1] == ()


def test_the_report_says_who_borrowed_and_who_lent() -> None:
    after, _ = rebalance(holding(0, 380, 100, 0))
    context, dialog = report(after)[1:3]
    assert (context.maximum, context.current, context.borrowed, context.lent) == (380, 380, 30, 0)
    assert (dialog.borrowed, dialog.lent, round(dialog.use, 3)) == (0, 30, 0.213)


@pytest.mark.parametrize(
    ("numbers", "complaint"),
    [
        (PenguinNumbers(shares={"ATTIC": 0.1}), "'ATTIC'"),
        (PenguinNumbers(shares={"DIALOG": 1.1}), "110%"),
        (PenguinNumbers(minimums={"DIALOG": -1}), "`minimums.DIALOG` is -1"),
    ],
)
def test_shares_that_make_no_sense_are_refused_by_name(numbers: PenguinNumbers, complaint: str) -> None:
    with pytest.raises(ConfigError, match=complaint):
        category_slots(1_000, numbers)


uses = st.tuples(*[st.integers(0, 900)] * 4)
floors = st.fixed_dictionaries({}, optional={name: st.integers(0, 300) for name in CATEGORIES})


@given(st.integers(0, 1_500), uses, floors)
@settings(max_examples=300)
def test_plans_stay_within_the_total_and_rebalancing_conserves_it(
    total: int, used: tuple[int, ...], minimums: dict[str, float]
) -> None:
    slots = holding(*used, total=total, numbers=PenguinNumbers(minimums=minimums))
    after, moves = rebalance(slots)
    assert sum(most(slots)) == sum(most(after)) <= total
    assert after[0] == slots[0]
    assert not {"SYSTEM"} & {name for move in moves for name in (move.source, move.target)}
    assert all(slot.floor <= slot.allotted <= slot.ceiling for slot in after)
    assert sum(slot.borrowed for slot in after) == 0


@given(uses, st.sampled_from(CATEGORIES), st.sampled_from(CATEGORIES), st.integers(-5, 600))
@settings(max_examples=300)
def test_borrowing_conserves_the_total_and_never_touches_system(
    used: tuple[int, ...], source: str, target: str, amount: int
) -> None:
    before = holding(*used)
    done, after = borrow(before, source, target=target, amount=amount)
    assert sum(most(after)) == sum(most(before))
    assert after[0] == before[0]
    assert done == (after != before)
    for old, new in zip(before, after, strict=True):
        assert new.allotted >= min(old.allotted, max(new.floor, new.used))
