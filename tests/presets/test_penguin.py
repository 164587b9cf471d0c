"""What gives way, and in which order. Read the test names top to bottom: they are the spec."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from choosing import chosen_tokens, unit, unit_lists
from foveal.pipeline.material.categories import CATEGORIES, PenguinNumbers, category_slots
from foveal.pipeline.values import Unit
from foveal.presets.penguin import trim, trim_when_over
from foveal.window import Slot


def plan(total: int) -> tuple[Slot, ...]:
    return category_slots(total, PenguinNumbers())


def dialog(turn: int, tokens: int, forced: str = "") -> Unit:
    return unit(turn, {"DIALOG": tokens}, forced=forced)


def output(turn: int, tokens: int) -> Unit:
    return unit(turn, {"DIALOG": 5, "SYSTEM_OUTPUT": tokens})


def context(turn: int, tokens: int) -> Unit:
    return unit(turn, {"CONTEXT": tokens})


def test_everything_stays_while_the_total_fits_however_it_is_spread() -> None:
    pick = trim_when_over([dialog(0, 900), dialog(1, 100)], 1_000, slots=plan(1_000))
    assert pick.kept == {0, 1}
    assert pick.because[0].sentence == "everything fits, 0 tokens to spare"


def test_tool_output_goes_first_then_dialog_then_context() -> None:
    units = [context(0, 300), dialog(1, 300), output(2, 45), dialog(3, 100)]
    kept = [trim(units, room, slots=plan(1_000)).kept for room in (749, 699, 399, 99)]
    assert kept == [{0, 1, 3}, {0, 3}, {0}, set()]


def test_the_oldest_of_a_category_goes_first() -> None:
    pick = trim([dialog(0, 100), dialog(1, 100), dialog(2, 100)], 250, slots=plan(1_000))
    assert pick.kept == {1, 2}
    assert pick.because[0].sentence == (
        "50 tokens too many: DIALOG gives way, oldest first, this one had 100"
    )


def test_an_over_full_category_comes_down_to_its_maximum_even_when_the_total_fits() -> None:
    pick = trim([dialog(0, 300), dialog(1, 300)], 1_000, slots=plan(1_000))
    assert pick.kept == {1}
    assert pick.because[0].sentence == "DIALOG had 600 tokens of 500: the oldest go first, this one had 300"


def test_rebalancing_first_spares_a_category_that_others_can_lend_to() -> None:
    units = [dialog(0, 600), output(1, 45), context(2, 200)]
    assert trim_when_over(units, 800, slots=plan(1_000)).kept == {0, 2}
    assert trim(units, 800, slots=plan(1_000)).kept == {1, 2}


def test_what_is_forced_stays_whatever_it_costs() -> None:
    pick = trim([dialog(0, 900, "newest user message"), dialog(1, 10)], 5, slots=plan(1_000))
    assert pick.kept == {0}
    assert pick.because[0].sentence == "newest user message"


def test_a_system_unit_goes_only_when_nothing_else_is_left() -> None:
    units = [unit(0, {"SYSTEM": 50}), context(1, 10)]
    assert [trim(units, room, slots=plan(1_000)).kept for room in (59, 49)] == [{0}, set()]


def test_the_newest_user_message_outlives_everything_that_is_newer() -> None:
    asked = dialog(0, 100)
    asked = replace(asked, items=(replace(asked.items[0], kind="current_user_prompt"),))
    assert trim([asked, dialog(1, 100), dialog(2, 100)], 150, slots=plan(1_000)).kept == {0}


def test_the_plan_says_what_is_used_and_borrowed_afterwards() -> None:
    pick = trim_when_over([dialog(0, 300), dialog(1, 600)], 700, slots=plan(1_000))
    used = {slot.name: (slot.used, slot.allotted, slot.borrowed) for slot in pick.slots}
    assert used["DIALOG"] == (600, 900, 400)


@given(unit_lists(CATEGORIES), st.integers(0, 300), st.integers(0, 400), st.booleans())
@settings(max_examples=300)
def test_no_trimming_exceeds_its_room_or_leaves_a_turn_without_a_reason(
    units: list[Unit], room: int, total: int, first: bool
) -> None:
    pick = (trim_when_over if first else trim)(units, room, slots=plan(total))
    assert chosen_tokens(units, pick.kept) <= room
    assert {each.turn for each in units if each.forced} <= pick.kept
    assert set(pick.because) == {each.turn for each in units}
    assert all(pick.because.values())
    assert sum(slot.used for slot in pick.slots) == sum(u.tokens for u in units if u.turn in pick.kept)
