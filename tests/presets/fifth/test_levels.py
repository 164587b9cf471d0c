"""What the four memory levels get, and what is compressed. The test names are the specification."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from choosing import item
from foveal.model import Kind
from foveal.pipeline.values import Item, Scene
from foveal.presets.fifth.levels import Due, FifthNumbers, cleared_by_task, due, levels, slot_of
from foveal.window import Score

NOW = 10_000.0


def budgets(total: int, *items: Item) -> list[int]:
    return [slot.allotted for slot in levels(items, Scene(now=NOW, budget=total))]


def what_is_due(items: Sequence[Item], total: int, score: float = 1.0) -> list[Due]:
    return list(due(items, [Score(total=score)] * len(items), Scene(now=NOW, budget=total)))


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


def test_with_room_and_youth_nothing_is_due() -> None:
    assert what_is_due([item(0, 800, timestamp=NOW - 300)], 1_000, score=0.0) == []


def test_a_window_more_than_80_percent_full_compresses_the_oldest_working_memory_first() -> None:
    found = what_is_due([item(0, 300), item(1, 300), item(2, 300)], 1_000)
    assert [(each.index, each.action) for each in found] == [(0, "compress")]
    assert found[0].because == "900 of 1,000 tokens are used, more than 80%"


def test_the_oldest_is_the_oldest_by_time_and_by_place_among_equals() -> None:
    times = [NOW - 10, NOW - 20, NOW - 20, None]
    found = what_is_due([item(n, 300, timestamp=time) for n, time in enumerate(times)], 300)
    assert [each.index for each in found] == [3, 1, 2, 0]


def test_volatile_memory_is_dropped_before_any_is_compressed() -> None:
    found = what_is_due([item(0, 300), item(1, 50, "rag_generic_chunk"), item(2, 600)], 1_000)
    assert [(each.index, each.action) for each in found] == [(1, "drop"), (0, "compress")]


def test_working_memory_is_due_after_5_minutes_and_session_memory_after_30() -> None:
    aged = [item(n, timestamp=NOW - 60 * minutes) for n, minutes in enumerate((5, 6))]
    kept = [item(n + 2, timestamp=NOW - 60 * minutes, level="session") for n, minutes in enumerate((30, 31))]
    found = what_is_due([*aged, *kept], 1_000)
    assert [(each.index, each.because) for each in found] == [
        (1, "6 minutes old, its level allows 5"),
        (3, "31 minutes old, its level allows 30"),
    ]


def test_a_low_score_is_due_only_while_space_is_needed() -> None:
    found = what_is_due([item(0, 500), item(1, 390)], 1_000, score=0.19)
    assert [each.because for each in found][1] == "score 0.19, below 0.2, while space is needed"
    assert what_is_due([item(0, 400), item(1, 390)], 1_000, score=0.19) == []


def test_permanent_pinned_and_current_entries_are_never_due() -> None:
    lasting = [item(0, 900, "system_prompt"), item(1, 900, "current_user_prompt"), item(2, 900, pinned=True)]
    assert what_is_due(lasting, 1_000, score=0.0) == []


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
