"""What the newest message retrieves, trigger by trigger. The test names are the specification."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from choosing import item
from foveal.pipeline.summarize.failures import ResolvedError, normalized
from foveal.pipeline.summarize.tasks import Task
from foveal.pipeline.values import Item
from foveal.presets.fifth.triggers import MOST, Situation, Step, old_task, past_topic, repeated_error

NOW = 10_000.0
LOGIN = Task(number=1, name="fix the login", first=0, last=9, summary="auth.js checks the token again.")
GONE = ResolvedError(error_seq=3, resolution_seq=7, line=normalized("Error: session 4711 is gone"))


def at(items: Sequence[Item] = (), **more: Any) -> list[Step]:
    now = Situation(items=items, **more)
    return [*old_task(now), *repeated_error(now), *past_topic(now)]


def spans(found: Sequence[Step]) -> list[tuple[int, int]]:
    return [(step.first, step.last) for step in found]


def recent(index: int, tokens: int = 10, **more: Any) -> Item:
    return item(index, tokens, timestamp=NOW, **more)


def test_a_message_that_refers_to_nothing_retrieves_nothing() -> None:
    assert at([recent(0), recent(1)], prompt="hello", tasks=[LOGIN], resolved=[GONE]) == []


@pytest.mark.parametrize(
    ("prompt", "why"),
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
def test_a_finished_task_that_is_referred_to_is_retrieved(prompt: str, why: str) -> None:
    found = at(prompt=prompt, tasks=[LOGIN])
    assert [step.because for step in found] == (
        [f"task 1, “fix the login” is referred to: {why}"] if why else []
    )
    assert all(step.task == 1 for step in found)


def test_a_task_that_is_open_or_has_no_summary_is_not_retrieved() -> None:
    open = Task(number=1, name="login", first=0, last=None, summary="login")
    bare = Task(number=2, name="login", first=0, last=3)
    assert at(prompt="login", tasks=[open, bare]) == []


def test_of_many_tasks_the_newest_are_retrieved() -> None:
    tasks = [Task(number=n, name="login", first=n, last=n, summary="…") for n in range(1, 9)]
    assert [step.task for step in at(prompt="login", tasks=tasks)] == [8, 7, 6][:MOST]


def test_a_repeated_error_retrieves_the_earlier_one_and_its_resolution() -> None:
    found = at(tool_results=["Error: session 99 is gone"], resolved=[GONE])
    assert spans(found) == [(3, 3), (7, 7)]
    assert found[0].because == ("an error occurs again: message 4 reported it, message 8 resolved it")


def test_the_user_may_report_the_error_too() -> None:
    assert spans(at(prompt="Error: session 5 is gone", resolved=[GONE])) == [
        (3, 3),
        (7, 7),
    ]


def test_what_the_window_contains_is_not_retrieved() -> None:
    assert spans(at([recent(7)], prompt="Error: session 5 is gone", resolved=[GONE])) == [(3, 3)]


def test_another_error_retrieves_nothing() -> None:
    assert at(tool_results=["Error: disk is full"], resolved=[GONE]) == []


def test_a_past_topic_is_retrieved_with_the_messages_around_it() -> None:
    found = at([recent(50)], prompt="What was wrong with redis.conf?", past=[recent(20, text="redis.conf")])
    assert spans(found) == [(19, 21)]
    assert found[0].because == "a past topic is mentioned: “redis.conf” is in both"


def test_what_is_expanded_stays_inside_the_history_and_outside_the_window() -> None:
    past = [recent(0, text="redis.conf"), recent(9, text="redis.conf")]
    assert spans(at([recent(10)], prompt="redis.conf?", past=past)) == [(0, 1), (8, 9)]


def test_what_is_expanded_stays_inside_the_exchange_it_belongs_to() -> None:
    past = [recent(4, text="redis.conf"), recent(9, text="redis.conf")]
    found = at(prompt="redis.conf?", past=past, requests=[0, 4, 8])
    assert spans(found) == [(4, 5), (8, 9)]


@pytest.mark.parametrize("prompt", ["And the printers?", "Remember the printer?", "Back to printing!"])
def test_a_topic_is_mentioned_by_any_form_of_its_words(prompt: str) -> None:
    assert len(at(prompt=prompt, past=[recent(2, text="A printer was jammed by printing.")])) == 1


def test_what_only_resembles_the_question_is_no_mention() -> None:
    assert at([recent(9)], prompt="How do sessions expire?", past=[recent(2, text="The port is 8081.")]) == []


@given(st.lists(st.integers(0, 30), unique=True), st.lists(st.integers(0, 30), unique=True))
def test_nothing_is_retrieved_twice(window: list[int], past: list[int]) -> None:
    found = at(
        [recent(n) for n in window], prompt="redis.conf", past=[recent(n, text="redis.conf") for n in past]
    )
    retrieved = [seq for step in found for seq in range(step.first, step.last + 1)]
    assert len(set(retrieved)) == len(retrieved)
    assert set(retrieved).isdisjoint(window)
