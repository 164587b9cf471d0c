"""What the four memory levels get, and what is compressed. The test names are the specification."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from choosing import item
from foveal.model import Kind
from foveal.pipeline.values import Item, Scene
from foveal.presets.fifth.levels import FifthNumbers, cleared_by_task, levels, slot_of

NOW = 10_000.0


def budgets(total: int, *items: Item) -> list[int]:
    return [slot.allotted for slot in levels(items, Scene(now=NOW, budget=total))]


def test_at_the_usual_total_the_levels_are_2_4_8_and_the_rest() -> None:
    assert budgets(16_000) == [2_000, 4_000, 8_000, 2_000]


def test_other_totals_scale_them() -> None:
    assert budgets(8_000) == [1_000, 2_000, 4_000, 1_000]


def test_permanent_takes_what_it_needs_and_the_others_share_the_rest() -> None:
    assert budgets(16_000, item(0, 9_000, "system_prompt")) == [9_000, 2_000, 4_000, 1_000]


def test_permanent_never_takes_more_than_there_is() -> None:
    assert budgets(1_000, item(0, 9_000, "system_prompt")) == [1_000, 0, 0, 0]


@pytest.mark.parametrize(
    ("tokens", "kind", "level"),
    [
        (9, "system_prompt", "permanent"),
        (9, "rag_memory_commit", "session"),
        (500, "tool_output", "working"),
        (501, "tool_output", "volatile"),
        (9, "rag_generic_chunk", "volatile"),
    ],
)
def test_a_kind_lives_at_its_level(tokens: int, kind: Kind, level: str) -> None:
    assert slot_of(item(0, tokens, kind)) == level


def test_metadata_wins_over_a_given_level_which_wins_over_the_kind() -> None:
    assert slot_of(item(0, level="session")) == "session"
    assert slot_of(item(0, level="session", metadata={"level": "permanent"})) == "permanent"
    assert slot_of(item(0, metadata={"level": "attic"})) == "working"


@given(st.integers(0, 40_000), st.integers(0, 50_000), st.integers(1, 9_000), st.integers(0, 9_000))
@settings(max_examples=300)
def test_the_levels_add_up_to_the_total_within_their_floors_and_ceilings(
    total: int, permanent: int, session: int, working: int
) -> None:
    numbers = FifthNumbers(session=session, working=working)
    scene = Scene(now=NOW, budget=total)
    plan = levels([item(0, permanent, "system_prompt")], scene, numbers=numbers)
    assert sum(slot.allotted for slot in plan) == total
    assert all(slot.floor <= slot.allotted <= slot.ceiling for slot in plan)


def test_a_new_task_clears_volatile_items_that_are_not_pinned() -> None:
    items = [item(0, level="volatile"), item(1), item(2, level="volatile", pinned=True)]
    assert cleared_by_task(items, FifthNumbers()) == {0}
