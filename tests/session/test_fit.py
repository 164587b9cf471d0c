"""What `fit` promises beyond the laws: defaults, request bodies, tools and system, recall, counting."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

import foveal
from foveal import InputError, NotFoundError

HISTORY = [{"role": "user", "content": f"line {n}"} for n in range(50)]


def test_the_budget_is_the_models_limit_less_its_longest_reply() -> None:
    assert foveal.fit(HISTORY, model="claude-sonnet-4-5").budget == 200_000 - 64_000


def test_a_reply_that_was_asked_for_counts_instead() -> None:
    body = {"model": "claude-sonnet-4-5", "max_tokens": 1_000, "messages": HISTORY}
    assert foveal.fit(body).budget == 199_000


def test_a_limit_of_the_prompt_alone_is_kept() -> None:
    body = {"model": "gpt-5", "max_completion_tokens": 300, "messages": HISTORY}
    assert foveal.fit(body).budget == 272_000


def test_a_model_that_is_null_is_none() -> None:
    assert foveal.fit({"model": None, "messages": HISTORY}, budget=100).model == ""


def test_system_and_tools_given_beside_a_body_are_in_its_request() -> None:
    body = {"model": "claude-sonnet-4-5", "max_tokens": 9, "messages": HISTORY}
    tools = [{"name": "ls", "input_schema": {"type": "object"}}]
    request = foveal.fit(body, system="Be brief.", tools=tools).request
    assert (request["system"], request["tools"]) == ("Be brief.", tools)


def test_tools_that_are_no_list_are_refused() -> None:
    with pytest.raises(InputError, match="`tools` is a dict"):
        foveal.fit(HISTORY, tools={"name": "ls"})


def test_any_left_out_message_comes_back_by_its_handle() -> None:
    window = foveal.fit(HISTORY, budget=40)
    (out,) = window.manifest.left_out
    originals: list[Any] = [window.recall(handle) for handle in window.handles(out)]
    assert originals == HISTORY[: len(originals)]
    with pytest.raises(NotFoundError, match=r"window\.handles"):
        window.recall("fv-00000000000000000000")


def test_a_callable_may_count() -> None:
    assert foveal.count_tokens("abc", counter=len) == 3
    assert foveal.fit(HISTORY, budget=100, counter=len).tokens <= 100


def test_async_callers_get_the_same_window() -> None:
    assert asyncio.run(foveal.afit(HISTORY, budget=40)) == foveal.fit(HISTORY, budget=40)


def test_server_state_is_not_touched() -> None:
    output = {"type": "function_call_output", "call_id": "c", "output": "res"}
    body = {"model": "gpt-5", "previous_response_id": "resp_1", "input": [output]}
    assert foveal.fit(body).request == body
