"""Which recorded turns are learned from, and what a session is about."""

from __future__ import annotations

import json
from typing import Any

import pytest

import learned
from foveal import Foveal
from foveal.session.learn.examples import Recording, kind_of_work
from foveal.wire import load


def recording(fov: Foveal, messages: list[dict[str, Any]], budget: int | None = learned.BUDGET) -> Recording:
    session = fov.session("work", model="gpt-5")
    session.extend(messages)
    return Recording(session._state, budget)


def step(tool: str, **arguments: str) -> list[dict[str, Any]]:
    call = {"id": "c", "type": "function", "function": {"name": tool, "arguments": json.dumps(arguments)}}
    return [
        {"role": "user", "content": "go on"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": "done"},
    ]


def test_a_turn_needs_what_its_answer_used_and_only_earlier_turns_had(fov: Foveal) -> None:
    messages = learned.session(1, "tool")
    found = list(recording(fov, messages).calls())
    used = [
        json.loads(messages[call.at]["tool_calls"][0]["function"]["arguments"])["record"] for call in found
    ]
    assert [set(call.needed) for call in found] == [{code} for code in used]


def test_turns_whose_history_fits_teach_nothing(fov: Foveal) -> None:
    assert list(recording(fov, learned.session(1, "tool"), 100_000).calls()) == []


def test_what_the_newest_turn_repeats_is_not_needed_of_the_others(fov: Foveal) -> None:
    messages = learned.session(1, "tool")
    codes = [word for message in messages for word in str(message["content"]).split() if "KEY-" in word]
    for message in messages:
        if message["role"] == "user":
            message["content"] += " " + " ".join(codes)
    assert list(recording(fov, messages).calls()) == []


def test_what_the_system_prompt_says_is_not_needed(fov: Foveal) -> None:
    messages = learned.session(1, "tool")
    messages[0]["content"] = " ".join(str(message["content"]) for message in messages)
    assert list(recording(fov, messages, 8_000).calls()) == []


def test_the_budget_is_that_of_the_newest_build_if_the_session_outgrew_it(fov: Foveal) -> None:
    found = recording(fov, learned.session(1, "tool"), None)
    fov.session("work").build(budget=900)
    assert found.size == 900


def test_the_budget_is_a_quarter_of_a_session_that_was_never_built(fov: Foveal) -> None:
    found = recording(fov, learned.session(1, "tool"), None)
    total = sum(entry.tokens for entry in found.entries)
    assert 0.24 * total < found.size < 0.27 * total


@pytest.mark.parametrize(
    ("messages", "work"),
    [
        ([{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}], "chat"),
        (step("edit", path="a.py", old_string="x", new_string="y") + step("read", path="a.py"), "coding"),
        (step("bash", command="pytest -q"), "coding"),
        (step("web_search", query="bees") + step("fetch", url="https://a.io"), "research"),
        (step("get_booking", id="B7") + step("cancel_booking", booking_id="B7"), "operations"),
        (
            [
                {"role": "user", "content": "fix it"},
                {"role": "assistant", "content": "```\nsed -i s/a/b/ a.py\n```"},
                {"role": "user", "content": ""},
            ],
            "coding",
        ),
    ],
)
def test_a_session_is_about_what_its_calls_do(messages: list[dict[str, Any]], work: str) -> None:
    assert kind_of_work(load(messages).messages) == work
