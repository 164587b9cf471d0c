"""What is to be compressed or dropped, and why."""

from __future__ import annotations

from collections.abc import Sequence

from choosing import item
from foveal.pipeline.values import Item, Scene
from foveal.presets.fifth.due import Candidates, Due, candidates, due, low_scored
from foveal.presets.fifth.levels import FifthNumbers
from foveal.window import Score

NOW = 10_000.0
OLD = NOW - 600


def what_is_due(items: Sequence[Item], total: int, score: float = 1.0) -> list[Due]:
    return list(due(items, [Score(total=score)] * len(items), Scene(now=NOW, budget=total)))


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


# Groups that stay together, as the messages of a turn


def may_go(*groups: Sequence[Item]) -> Candidates:
    return candidates(groups, NOW, FifthNumbers())


def test_a_group_is_past_its_age_with_its_first_item_that_is() -> None:
    found = may_go([item(0), item(1, timestamp=OLD)], [item(2, timestamp=NOW)])
    assert found.aged == {0: "10 minutes old, its level allows 5"}


def test_a_group_goes_for_room_if_all_of_it_may() -> None:
    found = may_go([item(0), item(1, level="volatile")], [item(2), item(3, level="session")])
    assert found.for_room == (0,)


def test_what_belongs_together_with_something_that_stays_does_too() -> None:
    kept = [item(1, pinned=True), item(2, 5, "system_prompt"), item(3, level="permanent")]
    found = may_go(*([item(0, timestamp=OLD), each] for each in kept))
    assert found == Candidates(aged={}, for_room=())


def test_a_group_scores_low_if_its_best_item_does() -> None:
    groups = [[item(0), item(1)], [item(2), item(3)], [item(4)]]
    scores = {at: Score(total=total) for at, total in enumerate((0.1, 0.19, 0.1, 0.2))}
    assert low_scored(groups, may_go(*groups), scores, FifthNumbers()) == {0: 0.19}
