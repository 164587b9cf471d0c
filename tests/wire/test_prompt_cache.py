"""Cache markers are set where the next request will look for them, and nothing else changes."""

from __future__ import annotations

import json
from typing import Any

import pytest
from anthropic.types import MessageParam, TextBlockParam, ToolParam
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from foveal import wire
from strategies import requests

MARKED = {"cache_control": {"type": "ephemeral"}}
HOUR = {"cache_control": {"type": "ephemeral", "ttl": "1h"}}
TOOL = {"name": "f", "input_schema": {"type": "object"}}
THOUGHT = {"type": "thinking", "thinking": "hm", "signature": "c2ln"}


def text(words: str, **more: Any) -> dict[str, Any]:
    return {"type": "text", "text": words, **more}


def user(*blocks: Any) -> dict[str, Any]:
    return {"role": "user", "content": list(blocks)}


def assistant(*blocks: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": list(blocks)}


TALK = [user(text(f"{n}")) if n % 2 == 0 else assistant(text(f"{n}")) for n in range(7)]


def marked(messages: list[Any], *, system: Any = "", tools: Any = "", stable: int = 0) -> dict[str, Any]:
    pieces = [json.dumps(message) for message in messages]
    given_ = [json.dumps(value) if value else "" for value in (system, tools)]
    found, prompt, offered = wire.mark_cache(pieces, *given_, most=4, stable=stable)
    request: dict[str, Any] = {"messages": list(map(json.loads, found))}
    named = {"system": prompt, "tools": offered}
    return request | {key: json.loads(value) for key, value in named.items() if value}


def ends(request: dict[str, Any]) -> list[int]:
    """Which messages have a marker."""
    return [at for at, message in enumerate(request["messages"]) if wire.markers_in(json.dumps(message))]


def test_the_newest_message_and_the_end_of_the_previous_request_are_marked() -> None:
    assert ends(marked(TALK)) == [4, 6]


def test_the_stable_prefix_is_marked_at_its_end() -> None:
    assert ends(marked(TALK, stable=2)) == [1, 4, 6]


def test_a_system_prompt_is_marked_at_its_end_and_the_tools_before_it_are_not() -> None:
    request = marked(TALK, system=[text("You fix bugs."), text("Be brief.")], tools=[TOOL])
    assert request["system"] == [text("You fix bugs."), text("Be brief.", **MARKED)]
    assert request["tools"] == [TOOL]


def test_without_a_system_prompt_the_last_tool_is_marked() -> None:
    assert marked(TALK, tools=[TOOL, TOOL])["tools"] == [TOOL, {**TOOL, **MARKED}]


def test_a_deferred_tool_is_not_marked() -> None:
    later = {**TOOL, "defer_loading": True}
    assert marked(TALK, tools=[TOOL, later])["tools"] == [{**TOOL, **MARKED}, later]


def test_a_bare_text_becomes_a_block() -> None:
    request = marked([{"role": "user", "content": "hi"}], system="You fix bugs.")
    assert request == {"messages": [user(text("hi", **MARKED))], "system": [text("You fix bugs.", **MARKED)]}


def test_where_the_client_marked_system_prompt_or_tools_that_is_enough() -> None:
    tools = [{**TOOL, **MARKED}]
    request = marked(TALK, system="You fix bugs.", tools=tools)
    assert (request["system"], request["tools"]) == ("You fix bugs.", tools)


def test_the_client_s_own_markers_stay_and_count() -> None:
    own = [user(text(f"{n}", **MARKED)) for n in range(3)]
    request = marked([*own, *TALK], system="You fix bugs.", stable=5)
    assert ends(request) == [0, 1, 2, 9]
    assert request["system"] == "You fix bugs."


def test_an_end_that_is_marked_is_not_marked_again() -> None:
    last = user(text("a"), text("b", **MARKED))
    assert marked([*TALK[:-1], last])["messages"][-1] == last


def test_thinking_empty_text_and_unknown_blocks_are_not_marked() -> None:
    message = assistant(text("so"), {"type": "x_new"}, THOUGHT, text(" "))
    assert marked([message])["messages"] == [assistant(text("so", **MARKED), *message["content"][1:])]


def test_a_message_that_cannot_be_marked_is_unchanged() -> None:
    assert marked([assistant(THOUGHT)])["messages"] == [assistant(THOUGHT)]


def test_no_marker_expires_before_a_later_one() -> None:
    request = marked([*TALK[:-1], user(text("6", **HOUR))], system="You fix bugs.")
    assert request["system"] == [text("You fix bugs.", **HOUR)]
    assert wire.check(request, "anthropic") == []


def test_the_marker_of_a_message_left_out_moves_with_its_time_to_live() -> None:
    pieces = [json.dumps(message) for message in TALK]
    found = wire.move_markers(pieces, {1: json.dumps(HOUR["cache_control"])})
    assert json.loads(found[1]) == assistant(text("1", **HOUR))
    assert [*found[:1], *found[2:]] == [*pieces[:1], *pieces[2:]]


def test_removing_markers_leaves_arguments_that_mention_them_alone() -> None:
    call = {"type": "tool_use", "id": "c", "name": "f", "input": MARKED}
    assert wire.without_markers({"messages": [assistant(call)]}) == {"messages": [assistant(call)]}


@pytest.mark.parametrize("block", [THOUGHT, text("")], ids=["thinking", "empty"])
def test_a_marker_that_the_provider_refuses_is_removed(block: dict[str, Any]) -> None:
    piece = json.dumps(assistant({**block, **MARKED}, text("so", **MARKED)))
    assert json.loads(wire.cap_markers([piece], "", "", 4)[0][0]) == assistant(block, text("so", **MARKED))


@given(requests("anthropic"), st.integers(0, 6))
def test_markers_change_nothing_but_markers_and_break_no_rule(body: dict[str, Any], stable: int) -> None:
    tools = body.get("tools") or ""
    most = min(stable, len(body["messages"]))
    request = marked(body["messages"], system=body.get("system") or "", tools=tools, stable=most)
    assert wire.without_markers({**body, **request}) == wire.without_markers(body)
    assert set(wire.check(request, "anthropic")) <= {"ends_with_assistant"}
    assert set(wire.check(request, "anthropic")) == set(wire.check(body, "anthropic"))


def test_the_provider_s_own_types_take_what_is_marked() -> None:
    request = marked(TALK, system="You fix bugs.")
    assert TypeAdapter(list[MessageParam]).validate_python(request["messages"])
    assert TypeAdapter(list[TextBlockParam]).validate_python(request["system"])
    assert TypeAdapter(list[ToolParam]).validate_python(marked(TALK, tools=[TOOL])["tools"])
