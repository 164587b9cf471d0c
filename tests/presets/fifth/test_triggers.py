"""The compress-or-retrieve table, row by row. Read the test names: they are the spec."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from choosing import item
from foveal.pipeline.summarize.failures import ResolvedError, normalized
from foveal.pipeline.summarize.tasks import Task
from foveal.pipeline.values import Item, Scene
from foveal.presets.fifth.triggers import MOST, Action, Situation, Step, steps
from foveal.window import Score

NOW = 10_000.0
LOGIN = Task(number=1, name="fix the login", first=0, last=9, summary="auth.js checks the token again.")
EXPORT = Task(number=2, name="export invoices", first=10, last=19, summary="Invoices go out as CSV files.")
GONE = ResolvedError(error_seq=3, resolution_seq=7, line=normalized("Error: session 4711 is gone"))


def at(items: Sequence[Item] = (), *, budget: int = 1_000, score: float = 1.0, **more: Any) -> list[Step]:
    scene = Scene(now=NOW, budget=budget)
    return list(steps(Situation(items=items, scores=[Score(total=score)] * len(items), scene=scene, **more)))


def done(found: Sequence[Step]) -> list[tuple[Action, int, int]]:
    return [(step.action, step.first, step.last) for step in found]


def recent(index: int, tokens: int = 10, **more: Any) -> Item:
    return item(index, tokens, timestamp=NOW, **more)


def test_nothing_is_due_where_all_is_well() -> None:
    assert at([recent(0), recent(1)], asked="hello", tasks=[LOGIN], resolved=[GONE]) == []


def test_over_80_percent_the_oldest_working_memory_is_compressed() -> None:
    found = at([recent(0, 300), recent(1, 300), recent(2, 300)])
    assert done(found) == [("compress", 0, 0)]
    assert found[0].because == "900 of 1,000 tokens are used, more than 80%"


@pytest.mark.parametrize(("level", "minutes"), [("working", 5), ("session", 30)])
def test_what_is_past_its_age_is_compressed(level: str, minutes: int) -> None:
    old = item(0, timestamp=NOW - 60 * minutes - 60, level=level)
    assert at([old])[0].because == f"{minutes + 1} minutes old, its level allows {minutes}"


def test_a_low_score_goes_while_space_is_needed() -> None:
    items = [recent(0, 850), recent(1, 10)]
    assert [step.because for step in at(items, score=0.1)][1] == (
        "score 0.10, below 0.2, while space is needed"
    )
    assert at([recent(0, 10)], score=0.1) == []


def test_a_new_task_sends_the_one_before_to_session_level() -> None:
    open = Task(number=2, name="export", first=10, last=None)
    found = at(tasks=[LOGIN, open], starting=Task(number=3, name="deploy", first=20, last=None))
    assert (done(found), found[0].task) == ([("summarize", 10, 19)], 2)
    assert found[0].because == (
        "task 3, “deploy” begins: task 2, “export” is over and goes to the session level"
    )


def test_a_task_that_has_its_summary_is_not_summarized_again() -> None:
    assert at(tasks=[LOGIN], starting=Task(number=2, name="deploy", first=10, last=None)) == []


def test_a_new_task_clears_volatile_memory_but_no_pins() -> None:
    items = [recent(0, level="volatile"), recent(1), recent(2, level="volatile", pinned=True)]
    found = at(items, starting=Task(number=1, name="deploy", first=3, last=None))
    assert done(found) == [("drop", 0, 0)]
    assert found[0].because == "task 1, “deploy” begins: volatile memory is cleared"


def test_what_is_cleared_is_not_listed_a_second_time() -> None:
    items = [recent(0, 900, level="volatile")]
    assert done(at(items, starting=Task(number=1, name="x", first=1, last=None))) == [("drop", 0, 0)]


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        ("What came out of task 1?", "task 1 is named"),
        ("see Task-1", "task 1 is named"),
        ("Did we fix the login?", "login in both"),
        ("What does auth.js do now?", "“auth.js” is in both"),
        ("Does it check the token again?", ""),
        ("And the token checks?", "checks, token in both"),
        ("task 12", ""),
        ("Please fix the parser", ""),
    ],
)
def test_an_old_task_that_is_referred_to_brings_its_summary(asked: str, why: str) -> None:
    found = at(asked=asked, tasks=[LOGIN])
    assert [step.because for step in found] == (
        [f"task 1, “fix the login” is referred to: {why}"] if why else []
    )
    assert all((step.action, step.task) == ("retrieve", 1) for step in found)


def test_a_task_that_is_open_or_has_no_summary_is_not_retrieved() -> None:
    open = Task(number=1, name="login", first=0, last=None, summary="login")
    bare = Task(number=2, name="login", first=0, last=3)
    assert at(asked="login", tasks=[open, bare]) == []


def test_of_many_tasks_the_newest_are_brought_back() -> None:
    tasks = [Task(number=n, name="login", first=n, last=n, summary="…") for n in range(1, 9)]
    assert [step.task for step in at(asked="login", tasks=tasks)] == [8, 7, 6][:MOST]


def test_an_error_that_repeats_brings_the_earlier_one_and_its_resolution() -> None:
    found = at(brought=["Error: session 99 is gone"], resolved=[GONE])
    assert done(found) == [("retrieve", 3, 3), ("retrieve", 7, 7)]
    assert found[0].because == ("an error occurs again: message 4 reported it, message 8 resolved it")


def test_the_user_may_report_the_error_too() -> None:
    assert done(at(asked="Error: session 5 is gone", resolved=[GONE])) == [
        ("retrieve", 3, 3),
        ("retrieve", 7, 7),
    ]


def test_what_the_window_still_holds_is_not_brought_back() -> None:
    assert done(at([recent(7)], asked="Error: session 5 is gone", resolved=[GONE])) == [("retrieve", 3, 3)]


def test_another_error_brings_nothing() -> None:
    assert at(brought=["Error: disk is full"], resolved=[GONE]) == []


def test_a_past_topic_comes_back_with_the_messages_around_it() -> None:
    found = at([recent(50)], asked="What was wrong with redis.conf?", past=[recent(20, text="redis.conf")])
    assert done(found) == [("retrieve", 19, 21)]
    assert found[0].because == "a past topic is mentioned: “redis.conf” is in both"


def test_what_is_expanded_stays_inside_the_history_and_outside_the_window() -> None:
    past = [recent(0, text="redis.conf"), recent(9, text="redis.conf")]
    assert done(at([recent(10)], asked="redis.conf?", past=past)) == [("retrieve", 0, 1), ("retrieve", 8, 9)]


def test_what_only_resembles_the_question_is_no_mention() -> None:
    assert at([recent(9)], asked="How do sessions expire?", past=[recent(2, text="The port is 8081.")]) == []


@given(st.lists(st.integers(0, 30), unique=True), st.lists(st.integers(0, 30), unique=True))
def test_nothing_is_brought_back_twice(held: list[int], past: list[int]) -> None:
    found = at(
        [recent(n) for n in held], asked="redis.conf", past=[recent(n, text="redis.conf") for n in past]
    )
    brought = [seq for step in found for seq in range(step.first, step.last + 1)]
    assert len(set(brought)) == len(brought)
    assert set(brought).isdisjoint(held)


def test_room_is_made_before_anything_is_brought_back() -> None:
    found = at([recent(30, 900), recent(31)], asked="login", tasks=[LOGIN, EXPORT])
    assert [step.action for step in found] == ["compress", "retrieve"]
