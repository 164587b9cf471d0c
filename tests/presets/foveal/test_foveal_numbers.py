"""Every number of `foveal` has an effect."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from typing import Any

import pytest

import foveal
from foveal import Foveal
from foveal.cli.demo import script
from foveal.pipeline.values import Rates
from foveal.presets.foveal.watermarks import Course, MarkNumbers, high_mark, marks
from foveal.presets.numbers import listed
from tool_runs import said, step

JSON = dict[str, Any]
Numbers = Mapping[str, object]
MARKS: dict[str, float] = {
    "worth": 4.0,
    "premium": 30.0,
    "spare": 2.0,
    "grows": 1.0,
    "few": 30.0,
    "least": 0.9,
    "unpriced_high": 0.8,
    "unpriced_low": 0.3,
}
WORTH: dict[str, object] = {
    "bent": 0.1,
    "asked": 0.0,
    "said": 100.0,
    "failed": 100.0,
    "agreed": 100.0,
    "decided": 100.0,
    "answered": 100.0,
    "used": 50.0,
    "fades": 0.1,
    "faded": 1.0,
    "repeated": 1.0,
    "restated": 5.0,
    "many": 3,
    "log_share": 0.1,
    "referred_share": 0.5,
    "looks_share": 0.0,
    "said_share": 0.5,
    "concluded_share": 0.5,
}
WINDOWS: dict[str, object] = {
    "near_share": 0.6,
    "reach": 0.5,
    "spare_share": 1.0,
    "requests_share": 0.0,
    "rules_share": 0.0,
    "state_share": 0.0,
    "jitter": 0.5,
    "keep_for": 0,
    "cut_to": 1.0,
    "first_turns": 0.0,
    "task_share": 0.0,
}
COURSES = [
    Course(room=room, growth=growth, turns=turns)
    for room in (6_000, 16_000, 200_000)
    for growth in (290.0, 900.0)
    for turns in (5, 500)
]
RATES = [Rates(), Rates(input=3.0, read=0.3, write=3.75), Rates(input=3.0, read=0.1, write=9.0)]


def run() -> Iterator[JSON]:
    """A run of tool calls, some with large results, with words of people in between."""
    yield {"role": "system", "content": "You fix bugs."}
    yield said("Find out why the login fails. Never touch the migrations folder.")
    for number in range(36):
        if number % 9 == 4:
            yield {
                "role": "assistant",
                "content": f"Case {number} is the clock. We agreed on plan-{number}: restart it.\n"
                f"1. Keep store-{number}.\n2. Drop cache-{number}, as it is stale.\nWhich one?",
            }
            yield said(
                f"Take option 2 of case {number}. "
                + f"The team in room {number} asked for it, too. " * number
            )
        yield from step(number, *_step(number), path=f"src/module_{number % 7}.py")
    yield {"role": "assistant", "content": "All tests pass now."}
    yield said("Where does it fail, and what is left?")


def _step(number: int) -> tuple[str, str]:
    match number % 4:
        case 0:
            rows = 30 if number % 3 == 2 else 9
            return "read_file", "\n".join(
                f"def check_{n}_{number}(token): return ids.find('ID{n:03}{number:03}')" for n in range(rows)
            )
        case 1:
            return "run_tests", f"FAILED tests/test_{number}.py::test_it - Error: E{number} refused\n1 failed"
        case 2:
            return "read_log", "\n".join(
                f"request {n} of ID{n * 7919 % 10007:05} took {n * number} ms" for n in range(50)
            )
        case _:
            return "edit_file", f"Updated; the next id is ID004{number - 3:03}."


def chat() -> Iterator[JSON]:
    """A conversation without tools."""
    for number in range(60):
        yield said(f"My cat number {number} is called Tom{number}. " + "She likes to sleep a lot. " * 3)
        yield {"role": "assistant", "content": f"Decision: food-{number} it is. How old is Tom{number}?"}
    yield said("What is my cat number 7 called?")


def dull() -> Iterator[JSON]:
    """Long results in which nothing is worth quoting."""
    yield said("Find out why the login fails.")
    for number in range(30):
        yield from step(number, "read_file", "nothing else is known here, and this is so. " * 20, path="a.py")
    yield said("And now?")


Windows = Callable[[Numbers], list[JSON]]


def fitted(messages: Iterable[JSON], budget: int) -> Windows:
    given = list(messages)
    return lambda numbers: foveal.fit(given, budget=budget, numbers={"foveal": numbers}, now=0.0).messages


def growing(numbers: Numbers) -> list[JSON]:
    """A window for every result of a run, then one of another budget, and one for a task."""
    found = []
    with Foveal(":memory:", numbers={"foveal": numbers}, embedder="none") as fov:
        session = fov.session("login", model="claude-sonnet-4-5")
        for message in run():
            session.extend([message])
            if message["role"] == "tool":
                found += session.build(budget=2_000, now=0.0).messages
        found += session.build(budget=2_300, now=0.0).messages
        return found + session.build(budget=2_000, task="the id ID004008", now=0.0).messages


CASES: list[Windows] = [
    *(fitted(run(), budget) for budget in (500, 1_000, 2_500)),
    *(fitted(chat(), budget) for budget in (500, 1_000)),
    *(fitted(list(script.messages())[:80], budget) for budget in (500, 4_000)),
    fitted(dull(), 1_000),
    growing,
]


@cache
def usual(case: Windows) -> list[JSON]:
    return case({})


def has_an_effect(numbers: Numbers) -> bool:
    return any(case(numbers) != usual(case) for case in CASES)


def test_no_number_is_missing_here() -> None:
    known = [*WINDOWS, *(f"marks.{name}" for name in MARKS), *(f"worth.{name}" for name in WORTH)]
    assert {each.key for each in listed("foveal", [])} == set(known)


@pytest.mark.parametrize("name", WINDOWS)
def test_another_number_gives_other_windows(name: str) -> None:
    assert has_an_effect({name: WINDOWS[name]})


@pytest.mark.parametrize("name", WORTH)
def test_another_worth_gives_other_windows(name: str) -> None:
    assert has_an_effect({"worth": {name: WORTH[name]}})


@pytest.mark.parametrize("name", MARKS)
def test_another_number_of_the_cost_model_gives_other_marks(name: str) -> None:
    def found(numbers: MarkNumbers) -> list[object]:
        return [
            (marks(course, rates, numbers), high_mark(course, rates, numbers))
            for course in COURSES
            for rates in RATES
        ]

    assert found(MarkNumbers(**{name: MARKS[name]})) != found(MarkNumbers())


def test_the_marks_decide_when_a_window_is_refocused() -> None:
    assert has_an_effect({"marks": {"spare": 0.0}})
