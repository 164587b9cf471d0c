"""Our tools in every format: the SDKs accept the definitions, and their calls are read."""

from __future__ import annotations

import json
from typing import Any

import pytest
from anthropic.types import ToolParam, ToolResultBlockParam, ToolUseBlock
from google.genai import types as google
from openai.types.chat import (
    ChatCompletionMessageFunctionToolCall,
    ChatCompletionToolMessageParam,
    ChatCompletionToolParam,
)
from openai.types.responses import FunctionToolParam, ResponseFunctionToolCall
from openai.types.responses.response_input_param import FunctionCallOutput
from pydantic import TypeAdapter

from foveal import wire
from foveal.errors import InputError
from foveal.model import MESSAGES_KEY, Format
from strategies import FORMATS

GIVEN: dict[str, Any] = {"handle": "fv-00"}
FUNCTION = {"name": wire.RECALL, "arguments": json.dumps(GIVEN)}
CALLS: list[tuple[Format, Any]] = [
    ("openai", {"id": "c1", "type": "function", "function": FUNCTION}),
    (
        "openai",
        ChatCompletionMessageFunctionToolCall.model_validate(
            {"id": "c1", "type": "function", "function": FUNCTION}
        ),
    ),
    ("responses", {"type": "function_call", "call_id": "c1", **FUNCTION}),
    (
        "responses",
        ResponseFunctionToolCall.model_validate({"type": "function_call", "call_id": "c1", **FUNCTION}),
    ),
    ("anthropic", {"type": "tool_use", "id": "c1", "name": wire.RECALL, "input": GIVEN}),
    ("anthropic", ToolUseBlock(type="tool_use", id="c1", name=wire.RECALL, input=GIVEN)),
    ("gemini", {"functionCall": {"id": "c1", "name": wire.RECALL, "args": GIVEN}}),
    ("gemini", {"function_call": {"id": "c1", "name": wire.RECALL, "args": GIVEN}}),
    ("gemini", google.FunctionCall(id="c1", name=wire.RECALL, args=GIVEN)),
    ("gemini", google.Part(function_call=google.FunctionCall(id="c1", name=wire.RECALL, args=GIVEN))),
    ("plain", {"id": "c1", **FUNCTION}),
]
ACCEPTED: list[tuple[Format, Any]] = [
    ("openai", ChatCompletionToolParam),
    ("responses", FunctionToolParam),
    ("anthropic", ToolParam),
    ("gemini", google.Tool),
]


@pytest.mark.parametrize(("format", "accepted"), ACCEPTED)
def test_the_sdk_takes_the_definitions_with_every_field(format: Format, accepted: Any) -> None:
    given = wire.tool_definitions(format)
    taken = TypeAdapter(list[accepted]).validate_python(given)
    written = TypeAdapter(list[accepted]).dump_python(taken, mode="json", by_alias=True, exclude_none=True)
    assert json.dumps(written, sort_keys=True).lower() == json.dumps(given, sort_keys=True).lower()


@pytest.mark.parametrize("format", FORMATS)
def test_a_request_with_the_tools_breaks_no_rule(format: Format) -> None:
    note = json.loads(wire.note("hello", format).body)
    request = {MESSAGES_KEY[format]: [note], "tools": wire.tool_definitions(format)}
    assert wire.check(request, format) == []


@pytest.mark.parametrize("format", FORMATS)
def test_the_tool_is_known_by_its_name_in_every_form(format: Format) -> None:
    tools = wire.tool_definitions(format)
    assert wire.offers_recall(wire.to_json(tools, "tools"))
    assert not wire.offers_recall(json.dumps(tools).replace(f'"{wire.RECALL}"', '"other"'))


def test_without_tools_nothing_is_offered() -> None:
    assert not wire.offers_recall("")
    assert not wire.offers_recall(json.dumps([{"name": "f", "description": wire.RECALL}, None, wire.RECALL]))


@pytest.mark.parametrize(("format", "call"), CALLS)
def test_a_call_is_understood_as_the_provider_gives_it(format: Format, call: Any) -> None:
    found, form = wire.call_of(call)
    assert (form, found.id, found.name, json.loads(found.arguments)) == (format, "c1", wire.RECALL, GIVEN)


def test_a_name_and_arguments_are_a_call_too() -> None:
    found, form = wire.call_of(wire.SEARCH, {"query": "x"})
    assert (form, found.name, found.arguments) == ("plain", wire.SEARCH, '{"query":"x"}')


def test_arguments_that_are_broken_stay_as_the_model_wrote_them() -> None:
    assert wire.call_of({"type": "function_call", "name": "f", "arguments": "{"})[0].arguments == "{"
    assert wire.call_of(google.FunctionCall(name="f"))[0].arguments == "{}"


@pytest.mark.parametrize("call", [7, {}, {"name": 7}, {"role": "assistant", "content": "hi"}, None])
def test_a_call_without_a_tool_name_is_refused(call: Any) -> None:
    with pytest.raises(InputError, match="without the name of a tool") as failure:
        wire.call_of(call)
    assert "pass a call" in failure.value.remedy


ANSWERS: list[tuple[Format, Any, Any]] = [
    ("openai", ChatCompletionToolMessageParam, lambda found: found),
    ("responses", FunctionCallOutput, lambda found: found),
    ("anthropic", ToolResultBlockParam, lambda found: found["content"][0]),
    ("gemini", google.Content, lambda found: found),
]


@pytest.mark.parametrize(("format", "accepted", "inner"), ANSWERS)
def test_the_sdk_takes_the_answer(format: Format, accepted: Any, inner: Any) -> None:
    call, _ = wire.call_of(next(call for form, call in CALLS if form == format))
    found = wire.answer_json(call, "the words", format)
    TypeAdapter(accepted).validate_python(inner(found))
    message = wire.message_of(found, format)
    assert (message.text, message.results[0].call_id) == ("the words", "c1")


def test_a_plain_answer_goes_by_id_or_by_name() -> None:
    by_id, by_name = (wire.call_of(call)[0] for call in ({"id": "c1", **FUNCTION}, FUNCTION))
    assert wire.answer_json(by_id, "x", "plain") == {"role": "tool", "tool_call_id": "c1", "content": "x"}
    assert wire.answer_json(by_name, "x", "plain") == {"role": "tool", "name": wire.RECALL, "content": "x"}
