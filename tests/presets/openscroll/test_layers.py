"""What the eight layers get. Read the test names top to bottom: they are the spec."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from choosing import item
from foveal.errors import BudgetError, InputError
from foveal.pipeline.kinds import LAYERS
from foveal.pipeline.values import Scene
from foveal.presets.openscroll.layers import (
    BUNDLES,
    LayerBudget,
    OpenscrollNumbers,
    Situation,
    negotiate,
    slot_of,
)
from foveal.presets.openscroll.plan import layers

TALK = Situation(total=12_000, messages=30, history_tokens=9_000, user_tokens=120, topics=2, entities=3)


def got(situation: Situation) -> dict[str, int]:
    return {budget.layer[:2]: budget.allocated for budget in negotiate(situation)}


def layer(situation: Situation, name: str) -> LayerBudget:
    return next(budget for budget in negotiate(situation) if budget.layer.startswith(name))


def test_a_talk_about_two_topics_and_three_entities() -> None:
    assert list(got(TALK).values()) == [240, 360, 2378, 1102, 2400, 1200, 4200, 120]


def test_layers_with_nothing_to_show_get_nothing() -> None:
    quiet = replace(TALK, topics=0, entities=0, active=False, history_tokens=0, available={"jit": 0})
    assert got(quiet) == {"L0": 500, "L1": 800, "L2": 0, "L3": 0, "L4": 0, "L5": 0, "L6": 0, "L7": 120}


def test_identity_then_preferences_have_what_no_other_layer_can_use() -> None:
    known = {"topic": 0, "entity": 0, "conversation": 0, "jit": 0}
    quiet = got(replace(TALK, total=5_000, history_tokens=3_000, user_tokens=1_600, available=known))
    assert (quiet["L6"], quiet["L0"], quiet["L1"]) == (3_000, 250, 150)


def test_what_is_known_to_be_there_caps_a_layer() -> None:
    known = got(replace(TALK, available={"topic": 100, "conversation": 50, "identity": 80}))
    assert (known["L2"], known["L4"], known["L0"]) == (100, 50, 80)


def test_history_never_gets_more_than_there_is() -> None:
    assert got(replace(TALK, history_tokens=700))["L6"] == 700


def test_the_depth_scales_what_knowledge_asks_for() -> None:
    asked = {depth: layer(replace(TALK, depth=depth, topics=1), "L2") for depth in ("minimal", "deep")}
    assert [(each.ideal_tokens, each.priority) for each in asked.values()] == [(432, 70), (1296, 85)]


@pytest.mark.parametrize(
    ("tokens", "ideal"), [(3_000, 3_000), (3_001, 3_001), (10_001, 3_600), (50_001, 3_000)]
)
def test_a_longer_history_asks_for_a_smaller_share(tokens: int, ideal: int) -> None:
    assert layer(replace(TALK, history_tokens=tokens), "L6").ideal_tokens == ideal


def test_a_prioritized_history_asks_for_more_and_leads_once_it_is_long() -> None:
    short = layer(replace(TALK, prioritize_history=True, messages=20), "L6")
    long = layer(replace(TALK, prioritize_history=True, messages=21), "L6")
    assert (short.ideal_tokens, short.priority, long.ideal_tokens, long.priority) == (5_460, 80, 6_552, 90)


def test_topics_already_covered_leave_less_for_retrieval() -> None:
    assert layer(replace(TALK, available={"topic": 900}), "L5").ideal_tokens == 600
    assert layer(replace(TALK, available={"topic": 5_000}), "L5").ideal_tokens == 360


@pytest.mark.parametrize(
    ("user", "identity", "prefs"),
    [(19_000, 400, 600), (19_300, 400, 100), (19_700, 200, 100), (19_800, 200, 0), (19_850, 150, 0)],
)
def test_preferences_then_identity_give_way_to_the_user_message(user: int, identity: int, prefs: int) -> None:
    tight = got(replace(TALK, total=20_000, user_tokens=user))
    assert (tight["L0"], tight["L1"], tight["L7"]) == (identity, prefs, user)


def test_a_user_message_that_cannot_fit_fails_with_both_numbers() -> None:
    with pytest.raises(BudgetError, match=r"has 11,900 tokens and the identity needs 150") as failure:
        negotiate(replace(TALK, user_tokens=11_900))
    assert "12,050" in failure.value.remedy


def test_minimums_that_do_not_fit_leave_the_lowest_priority_out() -> None:
    tight = got(replace(TALK, total=1_500, user_tokens=250))
    assert tight == {"L0": 150, "L1": 100, "L2": 300, "L3": 0, "L4": 200, "L5": 0, "L6": 500, "L7": 250}


def test_a_budget_of_nothing_and_an_unknown_depth_are_refused() -> None:
    with pytest.raises(BudgetError, match="0 tokens"):
        negotiate(replace(TALK, total=0))
    with pytest.raises(InputError, match="'abyssal'"):
        negotiate(replace(TALK, depth="abyssal"))


def test_an_item_says_its_layer_or_its_kind_does() -> None:
    assert slot_of(item(0, kind="system_prompt")) == "L0_identity"
    assert slot_of(item(0, metadata={"layer": "L4_conversation"})) == "L4_conversation"
    assert slot_of(item(0, metadata={"layer": "L9_attic"})) == "L6_message_history"
    assert slot_of(item(0, kind="rag_memory_commit", metadata={"entity_id": "e1"})) == "L3_entity"


def test_a_build_sets_nothing_aside_for_what_it_does_not_have() -> None:
    items = [item(0, 100, "system_prompt"), item(1, 4_000), item(2, 20, "current_user_prompt")]
    plan = {slot.name[:2]: slot.allotted for slot in layers(items, Scene(now=0, budget=8_000))}
    assert plan == {"L0": 100, "L1": 0, "L2": 0, "L3": 0, "L4": 0, "L5": 0, "L6": 4_000, "L7": 20}


def test_a_user_message_larger_than_the_budget_gets_all_of_it() -> None:
    slots = layers([item(0, 9_000, "current_user_prompt")], Scene(now=0, budget=8_000))
    assert {slot.name[:2]: slot.allotted for slot in slots if slot.allotted} == {"L7": 8_000}


def test_every_number_can_be_changed() -> None:
    numbers = OpenscrollNumbers(identity_min=10, identity_ideal=20, identity_share=0.5)
    assert negotiate(TALK, numbers)[0].allocated == 20


situations = st.builds(
    Situation,
    total=st.integers(1, 40_000),
    messages=st.integers(0, 200),
    history_tokens=st.integers(0, 80_000),
    user_tokens=st.integers(0, 3_000),
    topics=st.integers(0, 6),
    entities=st.integers(0, 6),
    active=st.booleans(),
    depth=st.sampled_from(["minimal", "standard", "deep"]),
    prioritize_history=st.booleans(),
    available=st.dictionaries(st.sampled_from(sorted(BUNDLES)), st.integers(0, 6_000)),
)


@given(situations)
@settings(max_examples=300)
def test_no_negotiation_exceeds_its_budget_its_floors_or_its_ceilings(situation: Situation) -> None:
    try:
        plan = negotiate(situation)
    except BudgetError:
        known = situation.available.get("identity", 150)
        assert situation.user_tokens + min(150, known) > situation.total
        return
    assert [each.layer for each in plan] == list(LAYERS)
    spent = sum(each.allocated for each in plan)
    assert spent <= situation.total
    for each in plan:
        assert each.allocated == 0 or each.min_tokens <= each.allocated <= each.max_tokens
    # Where minimums did not fit, a layer with nothing is out, even one that asked for no minimum.
    some_are_out = any(each.min_tokens and not each.allocated for each in plan)
    still_in = [each for each in plan if each.allocated or not some_are_out]
    if spent < situation.total:
        assert all(each.allocated == each.max_tokens for each in still_in)
