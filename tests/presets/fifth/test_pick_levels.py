"""Who gets room among the memory levels. Read the test names top to bottom: they are the spec."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from choosing import chosen_tokens, sentences, unit, unit_lists
from foveal.pipeline.values import Pick, Scene, Unit
from foveal.presets.fifth.levels import LEVELS, by_level, levels


def pick(units: list[Unit], room: int, total: int = 1_600) -> Pick:
    return by_level(units, room, slots=levels([], Scene(now=0, budget=total)))


def working(turn: int, tokens: int, score: float = 0.0) -> Unit:
    return unit(turn, {"working": tokens}, score)


def test_the_best_score_stays_and_the_reason_has_its_numbers() -> None:
    found = pick([working(0, 60, 0.9), working(1, 60, 0.2)], 100)
    assert found.kept == {0}
    assert sentences(found) == {
        0: "working, score 0.90, 60 tokens",
        1: "working, score 0.20, needed 60 tokens, 40 were left",
    }


def test_a_stored_priority_breaks_ties_then_the_newest_stays() -> None:
    dear = working(0, 60)
    dear = replace(dear, items=(replace(dear.items[0], priority=80.0),))
    assert pick([dear, working(1, 60)], 100).kept == {0}
    assert pick([working(0, 60), working(1, 60)], 100).kept == {1}


def test_permanent_units_come_before_any_score() -> None:
    assert pick([unit(0, {"permanent": 300}), working(1, 300, 1.0)], 300).kept == {0}


def test_the_newest_user_message_comes_before_all() -> None:
    asked = working(0, 1_200)
    asked = replace(asked, items=(replace(asked.items[0], kind="current_user_prompt"),))
    assert pick([asked, unit(1, {"permanent": 300}), working(2, 300, 1.0)], 1_300).kept == {0}


def test_a_level_has_its_budget_before_another_may_overflow_into_it() -> None:
    units = [working(0, 700, 0.9), working(1, 700, 0.8), unit(2, {"session": 300}, 0.1)]
    assert pick(units, 1_200).kept == {0, 2}


def test_what_a_level_leaves_unused_flows_on() -> None:
    found = pick([working(0, 700, 0.9), working(1, 700, 0.8)], 1_500)
    assert found.because[1].sentence == "working, score 0.80, 700 tokens that other levels left unused"
    used = {slot.name: (slot.used, slot.allotted, slot.borrowed) for slot in found.slots}
    assert used["working"] == (1_400, 1_400, 600)


def test_volatile_units_go_first_however_well_they_score() -> None:
    assert pick([unit(0, {"volatile": 100}, 1.0), working(1, 1_000)], 1_000).kept == {1}


def test_a_turn_is_at_the_level_of_most_of_its_tokens() -> None:
    noisy = unit(0, {"working": 10, "volatile": 600}, 1.0)
    assert pick([noisy, working(1, 700)], 700).kept == {1}


@given(unit_lists(LEVELS), st.integers(0, 300), st.integers(0, 400))
@settings(max_examples=300)
def test_no_selection_exceeds_its_room_or_leaves_a_turn_without_a_reason(
    units: list[Unit], room: int, total: int
) -> None:
    found = pick(units, room, total)
    assert chosen_tokens(units, found.kept) <= room
    assert {each.turn for each in units if each.forced} <= found.kept
    assert set(found.because) == {each.turn for each in units}
    assert sum(slot.allotted for slot in found.slots) == total
