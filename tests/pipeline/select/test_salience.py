"""Which contributors earn their place. Read the test names top to bottom: they are the spec."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from choosing import chosen_tokens, unit, unit_lists
from foveal.pipeline.plan.categories import CONTEXT, PenguinNumbers, shared
from foveal.pipeline.select.salience import by_salience, worth
from foveal.pipeline.values import Pick, Unit


def contributor(turn: int, tokens: int, *, weight: float = 0.4, salience: float = 1.0) -> Unit:
    return replace(unit(turn, {CONTEXT: tokens}), score=worth(weight=weight, salience=salience))


def pick(units: list[Unit], room: int, dialog: int = 0, total: int = 1_000) -> Pick:
    slots = shared(total, PenguinNumbers())
    used = {"DIALOG": dialog}
    return by_salience(units, room, slots=[replace(s, used=used.get(s.name, 0)) for s in slots])


def test_rank_is_weight_times_salience() -> None:
    files = contributor(0, 300, weight=0.4, salience=0.5)
    search = contributor(1, 300, weight=0.25, salience=0.9)
    found = pick([files, search], 350, dialog=500)
    assert found.kept == {1}
    assert found.because == {
        1: "weight 0.25 x salience 0.90, 300 tokens",
        0: "weight 0.40 x salience 0.50, needed 300 tokens, 50 were left",
    }


def test_what_does_not_fit_borrows_just_that_from_dialog() -> None:
    found = pick([contributor(0, 400)], 900)
    assert found.because[0].endswith("400 tokens, 50 borrowed from DIALOG")
    assert {slot.name: slot.borrowed for slot in found.slots}["DIALOG"] == -50


def test_when_dialog_cannot_lend_it_is_dropped_and_the_next_one_is_tried() -> None:
    found = pick([contributor(0, 400), contributor(1, 100, salience=0.1)], 900, dialog=480)
    assert found.kept == {1}


def test_salience_stays_within_0_and_1() -> None:
    assert (worth(weight=0.4, salience=7).total, worth(weight=0.4, salience=-1).total) == (0.4, 0.0)


@given(unit_lists([CONTEXT]), st.integers(0, 300), st.integers(0, 300), st.integers(0, 400))
@settings(max_examples=1000)
def test_no_selection_exceeds_its_room_or_its_category(
    units: list[Unit], room: int, dialog: int, total: int
) -> None:
    found = pick(units, room, dialog, total)
    assert chosen_tokens(units, found.kept) <= room
    assert set(found.because) == {each.turn for each in units}
    context = next(slot for slot in found.slots if slot.name == CONTEXT)
    assert context.used == chosen_tokens(units, found.kept) <= context.allotted
    assert sum(slot.allotted for slot in found.slots) <= total
