"""Who gets room among the layers. Read the test names top to bottom: they are the spec."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from choosing import chosen_tokens, unit, unit_lists
from foveal.pipeline.kinds import LAYERS, MESSAGE_HISTORY, RETRIEVAL, TOPIC, USER_MESSAGE
from foveal.pipeline.values import Pick, Unit
from foveal.presets.openscroll.layers import Situation, negotiate
from foveal.presets.openscroll.plan import by_layer

PLAN = tuple(
    layer.slot
    for layer in negotiate(
        Situation(total=2_000, messages=9, history_tokens=5_000, user_tokens=50, available={"topic": 0})
    )
)


def pick(units: list[Unit], room: int) -> Pick:
    return by_layer(units, room, slots=PLAN)


def said(turn: int, tokens: int) -> Unit:
    return unit(turn, {MESSAGE_HISTORY: tokens})


def test_history_is_left_for_compaction_to_decide() -> None:
    found = pick([said(0, 10), said(1, 500), unit(2, {USER_MESSAGE: 50})], 200)
    assert (found.kept, set(found.because)) == ({2}, {2})


def test_material_has_its_layer_s_allotment_and_the_newest_comes_first() -> None:
    most = next(slot.allotted for slot in PLAN if slot.name == RETRIEVAL)
    found = pick([unit(0, {RETRIEVAL: most}), unit(1, {RETRIEVAL: most - 5})], 2_000)
    assert found.kept == {1}
    assert found.because[0].sentence == f"{RETRIEVAL}, needed {most} tokens, 5 were left"


def test_a_layer_with_no_allotment_shows_nothing() -> None:
    assert pick([unit(0, {TOPIC: 10}), unit(1, {USER_MESSAGE: 10})], 2_000).kept == {1}


def test_the_user_message_comes_before_everything_else() -> None:
    assert pick([unit(0, {RETRIEVAL: 40}), unit(1, {USER_MESSAGE: 50})], 60).kept == {1}


@given(unit_lists(LAYERS), st.integers(0, 300))
@settings(max_examples=300)
def test_no_selection_exceeds_its_room_or_leaves_material_without_a_reason(
    units: list[Unit], room: int
) -> None:
    found = pick(units, room)
    assert chosen_tokens(units, found.kept) <= room
    assert {each.turn for each in units if each.forced} <= found.kept
    undecided = [each for each in units if each.turn not in found.because]
    assert all(MESSAGE_HISTORY in each.by_slot for each in undecided)
