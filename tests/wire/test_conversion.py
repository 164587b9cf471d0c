"""Conversion between any two formats keeps histories valid and their texts complete."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foveal import wire
from foveal.model import MESSAGES_KEY, Conversation, Format, Message, Text
from foveal.pipeline.turns import Tail, joined, joins, links
from strategies import FORMATS, histories

sources = pytest.mark.parametrize("source", FORMATS)
some = settings(max_examples=max(1, settings().max_examples // 3))
NOT_OURS = ("ends_with_assistant", "only_system", "call_out_of_place")
"""Where a note must stand between neighbours is for the pipeline to see to."""


def request(conversation: Conversation, target: Format) -> dict[str, Any]:
    dumped = wire.dump(conversation.messages, target)
    body: dict[str, Any] = {MESSAGES_KEY[target]: [json.loads(piece) for piece in dumped.pieces]}
    return body | ({"system": json.loads(dumped.system)} if dumped.system else {})


def turns(conversation: Conversation) -> list[list[Message]]:
    found: list[list[Message]] = []
    tail: Tail | None = None
    runs = wire.rules(conversation.format).item_per_part
    for message in conversation.messages:
        if joins(tail, links(message), runs=runs):
            found[-1].append(message)
        else:
            found.append([message])
        tail = joined(tail, links(message), runs=runs)
    return found


def paired(history: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Without results that name no call: they are legal in plain alone."""
    return [message for message in history if message.get("role") != "tool" or "tool_call_id" in message]


@sources
@some
@given(data=st.data())
def test_a_valid_history_is_valid_in_every_format(source: Format, data: st.DataObject) -> None:
    conversation = wire.load(paired(data.draw(histories(source))), format=source)
    for target in FORMATS:
        found = wire.check(request(conversation, target), target)
        assert [rule for rule in found if rule not in NOT_OURS] == []


@sources
@some
@given(data=st.data())
def test_every_word_arrives(source: Format, data: st.DataObject) -> None:
    conversation = wire.load(data.draw(histories(source)), format=source)
    texts = [p.text for m in conversation.messages for p in m.parts if isinstance(p, Text) and p.text.strip()]
    for target in FORMATS:
        sent = json.dumps(request(conversation, target), ensure_ascii=False)
        assert all(json.dumps(text, ensure_ascii=False)[1:-1] in sent for text in texts)


@sources
@some
@given(data=st.data())
def test_no_broken_history_stops_a_conversion(source: Format, data: st.DataObject) -> None:
    conversation = wire.load(data.draw(histories(source, broken=True)), format=source)
    for target in FORMATS:
        assert isinstance(request(conversation, target), dict)


@sources
@some
@given(data=st.data())
def test_turn_by_turn_gives_the_same_as_all_at_once(source: Format, data: st.DataObject) -> None:
    conversation = wire.load(paired(data.draw(histories(source))), format=source)
    for target in FORMATS:
        once = wire.dump(conversation.messages, target).pieces
        assert once == tuple(p for turn in turns(conversation) for p in wire.dump(turn, target).pieces)


def test_calls_without_ids_and_their_results_get_the_same_ids() -> None:
    call = {"functionCall": {"name": "f", "args": {}}}
    answer = {"functionResponse": {"name": "f", "response": {"output": "1"}}}
    history = [{"role": "model", "parts": [call, call]}, {"role": "user", "parts": [answer, answer]}]
    reply, *results = request(wire.load(history), "openai")["messages"]
    ids = [call["id"] for call in reply["tool_calls"]]
    assert [result["tool_call_id"] for result in results] == ids
    assert len(set(ids)) == 2


def test_results_of_parallel_calls_become_one_message_where_the_provider_wants_that() -> None:
    calls = [{"id": key, "type": "function", "function": {"name": "f", "arguments": "{}"}} for key in "ab"]
    history = [{"role": "assistant", "content": None, "tool_calls": calls}]
    history += [{"role": "tool", "tool_call_id": key, "content": key} for key in "ab"]
    _, results = request(wire.load(history), "anthropic")["messages"]
    assert [block["tool_use_id"] for block in results["content"]] == ["a", "b"]
    _, results = request(wire.load(history), "gemini")["contents"]
    assert [part["functionResponse"]["name"] for part in results["parts"]] == ["f", "f"]


def test_broken_arguments_reach_a_provider_that_wants_an_object_inside_one() -> None:
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": '{"a": '}}
    history = [{"role": "assistant", "content": None, "tool_calls": [call]}]
    (reply,) = request(wire.load(history), "anthropic")["messages"]
    assert reply["content"][0]["input"] == {"arguments": '{"a": '}


def test_thinking_stays_with_the_provider_that_signed_it() -> None:
    thought = {"type": "thinking", "thinking": "hm", "signature": "s"}
    history = [{"role": "assistant", "content": [thought, {"type": "text", "text": "yes"}]}]
    assert request(wire.load(history), "openai")["messages"] == [{"role": "assistant", "content": "yes"}]


def test_a_block_that_only_its_provider_knows_becomes_a_text() -> None:
    history = [{"role": "user", "content": [{"type": "x_new", "a": 1}]}]
    (found,) = request(wire.load(history, format="anthropic"), "openai")["messages"]
    assert found["content"] == [{"type": "text", "text": '[x_new] {"type":"x_new","a":1}'}]


def test_several_system_prompts_become_one_outside_the_messages() -> None:
    history = [{"role": "system", "content": "Be kind."}, {"role": "developer", "content": "Be brief."}]
    history += [{"role": "user", "content": "hello"}]
    assert request(wire.load(history), "anthropic")["system"] == "Be kind.\n\nBe brief."
    assert wire.dump(wire.load(history).messages, "gemini").system == (
        '{"parts":[{"text":"Be kind."},{"text":"Be brief."}]}'
    )


def test_the_extra_fields_of_plain_messages_are_omitted() -> None:
    about = {"id": "m1", "timestamp": 5.0, "metadata": {"a": 1}}
    conversation = wire.load([{"role": "user", "content": "hello", "name": "ann", **about}])
    sent = [{"role": "user", "content": "hello", "name": "ann"}]
    assert (conversation.format, request(conversation, "openai")["messages"]) == ("plain", sent)


@sources
@some
@given(data=st.data())
def test_rendered_messages_are_what_the_target_reads(source: Format, data: st.DataObject) -> None:
    conversation = wire.load(data.draw(histories(source)), format=source)
    for target in FORMATS:
        found = wire.rendered(conversation.messages, target)
        assert {message.format for message in found} <= {target}
        assert wire.dump(found, target) == wire.dump(conversation.messages, target)


def test_rendered_messages_of_the_targets_own_format_are_the_same_objects() -> None:
    messages = wire.load([{"role": "user", "content": "hello"}]).messages
    assert wire.rendered(messages, "openai")[0] is messages[0]


def test_a_rendered_image_that_became_text_reads_as_text() -> None:
    picture = {"type": "image", "source": {"type": "url", "url": "https://example.org/a.png"}}
    messages = wire.load([{"role": "assistant", "content": [picture]}], format="anthropic").messages
    assert wire.rendered(messages, "openai")[0].text == "[image: https://example.org/a.png]"


@pytest.mark.parametrize("format", ["anthropic", "gemini"])
def test_a_system_prompt_is_sent_without_empty_texts_and_reasoning(format: Format) -> None:
    prompt = {"role": "developer", "content": [{"type": "text", "text": "Be kind."}], "refusal": ""}
    history = [{**prompt, "reasoning_content": ""}, {"role": "user", "content": "hello"}]
    system = str(request(wire.load(history), format)["system"])
    assert "Be kind." in system
    assert "''" not in system


def test_a_rendered_system_prompt_is_one_message() -> None:
    history = [{"role": "system", "content": "Be kind."}, {"role": "user", "content": "hello"}]
    found = wire.rendered(wire.load(history).messages, "anthropic")
    assert [(message.role, message.text) for message in found] == [("system", "Be kind."), ("user", "hello")]


LATER = [
    {"role": "system", "content": "Be kind."},
    {"role": "user", "content": "hello"},
    {"role": "system", "content": "Be brief."},
    {"role": "developer", "content": [{"type": "text", "text": "Be quick."}]},
]


@pytest.mark.parametrize(("target", "system"), [("anthropic", '"Be kind."'), ("gemini", "")])
def test_a_later_system_message_stays_in_place_and_says_that_it_is_not_from_the_user(
    target: Format, system: str
) -> None:
    dumped = wire.dump(wire.load(LATER).messages, target)
    assert dumped.system == (system or '{"parts":[{"text":"Be kind."}]}')
    found = [wire.message_of(json.loads(piece), target) for piece in dumped.pieces]
    assert [(message.role, message.text) for message in found] == [
        ("user", "hello"),
        ("user", "[system message, not from the user]\nBe brief."),
        ("user", "[developer message, not from the user]\nBe quick."),
    ]


@pytest.mark.parametrize("target", ["openai", "responses", "plain"])
def test_a_later_system_message_keeps_its_role_where_the_format_has_it(target: Format) -> None:
    found = wire.rendered(wire.load(LATER, format="openai").messages, target)
    assert [message.role for message in found] == ["system", "user", "system", "system"]


def test_a_shortened_system_message_keeps_the_shape_in_which_it_came() -> None:
    history = [{"role": "user", "content": "hello"}, {"role": "system", "content": "Be brief."}]
    user, later = wire.load(history, format="anthropic").messages
    dumped = wire.dump([user, replace(later, parts=(Text(text="Be."),), body="")], "anthropic")
    assert (dumped.system, json.loads(dumped.pieces[1])) == ("", {"role": "system", "content": "Be."})


@pytest.mark.parametrize("format", ["openai", "anthropic", "responses", "plain"])
def test_a_message_with_a_role_of_the_application_is_written_as_it_came(format: Format) -> None:
    history = [{"role": "user", "content": "hello"}, {"role": "critic", "content": "No."}]
    user, critic = wire.load(history, format=format).messages
    assert wire.dump([user, critic], format).pieces[1] == '{"role":"critic","content":"No."}'
    again = json.loads(wire.dump([user, replace(critic, body="")], format).pieces[1])
    assert (again["role"], again["content"]) == ("critic", "No.")
    assert "[critic message, not from the user]" in wire.dump([user, critic], "gemini").pieces[1]
