"""Messages that we create, their addresses, and how edited messages are written."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from typing import Any

import pytest

from foveal import wire
from foveal.model import MESSAGES_KEY, Format, Text, ToolCall
from strategies import FORMATS

CALL = ToolCall(id="c1", name="f", arguments="{}")


@pytest.mark.parametrize("format", FORMATS)
def test_a_note_is_a_valid_request_in_itself(format: Format) -> None:
    note = wire.note("left out", format)
    assert (note.role, note.text, note.format) == ("user", "left out", format)
    assert wire.check({MESSAGES_KEY[format]: [json.loads(note.body)]}, format) == []


@pytest.mark.parametrize("format", FORMATS)
def test_an_answer_ties_to_its_call(format: Format) -> None:
    answer = wire.answer(CALL, "none", format)
    assert (answer.role, answer.results[0].call_id, answer.text) == ("tool", "c1", "none")


def test_a_call_of_another_kind_gets_its_own_kind_of_answer() -> None:
    item = {"type": "custom_tool_call", "call_id": "c1", "name": "f", "input": "x"}
    call = wire.message_of(item, "responses").calls[0]
    assert json.loads(wire.answer(call, "none", "responses").body)["type"] == "custom_tool_call_output"


def test_a_text_message_is_plain() -> None:
    message = wire.text_message("user", "hello", name="ann")
    assert (message.format, message.author) == ("plain", "ann")
    assert message.body == '{"role":"user","content":"hello","name":"ann"}'


def test_the_address_ignores_key_order_spacing_and_cache_markers() -> None:
    marked = '{"role":"user","content":[{"type":"text","text":"x","cache_control":{"type":"ephemeral"}}]}'
    bare = '{ "content": [{"text": "x", "type": "text"}], "role": "user" }'
    assert wire.address(marked) == wire.address(bare)
    assert wire.address(bare) != wire.address(bare.replace("x", "y"))


DATA: list[dict[str, Any]] = [
    {"role": "assistant", "content": [{"type": "tool_use", "id": "c", "name": "f", "input": {}}]},
    {"role": "assistant", "content": [{"type": "server_tool_use", "id": "c", "name": "f", "input": {}}]},
    {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {}}}]},
]


@pytest.mark.parametrize("item", DATA)
def test_what_a_tool_is_given_counts_for_the_address_whatever_it_is_called(item: dict[str, Any]) -> None:
    bare = json.dumps(item)
    one, other = (bare.replace("{}", json.dumps({"cache_control": value})) for value in ("no", "yes"))
    assert len({wire.address(bare), wire.address(one), wire.address(other)}) == 3


def test_the_address_never_changes_between_releases() -> None:
    tagged = b'foveal.message.1\n{"content":"hello","role":"user"}'
    assert wire.address('{"role":"user","content":"hello"}') == hashlib.sha256(tagged).hexdigest()


def test_the_name_of_a_result_is_written_as_it_now_is() -> None:
    message = wire.message_of({"role": "tool", "content": "4", "name": "no good!"}, "plain")
    renamed = replace(message.results[0], name="no_good_", edited=True)
    (piece,) = wire.dump([replace(message, parts=(renamed,), body="")], "plain").pieces
    assert (json.loads(piece)["name"], message.author) == ("no_good_", "")


SHORT = (Text(text="cut"),)
EDITED: list[tuple[Format, dict[str, Any], dict[str, Any]]] = [
    (
        "openai",
        {"role": "tool", "tool_call_id": "c", "content": "long", "x": 1},
        {"role": "tool", "tool_call_id": "c", "content": "cut", "x": 1},
    ),
    (
        "anthropic",
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "content": "long", "x": 1}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "content": "cut", "x": 1}]},
    ),
    (
        "gemini",
        {"role": "user", "parts": [{"function_response": {"name": "f", "response": {"out": "long"}}}]},
        {"role": "user", "parts": [{"function_response": {"name": "f", "response": {"out": "cut"}}}]},
    ),
    (
        "responses",
        {"type": "function_call_output", "call_id": "c", "output": "long", "x": 1},
        {"type": "function_call_output", "call_id": "c", "output": "cut", "x": 1},
    ),
]


@pytest.mark.parametrize(("format", "came", "goes"), EDITED)
def test_a_result_cut_short_keeps_every_other_field(
    format: Format, came: dict[str, Any], goes: dict[str, Any]
) -> None:
    message = wire.message_of(came, format)
    cut = replace(message.results[0], parts=SHORT, edited=True)
    (piece,) = wire.dump([replace(message, parts=(cut,), body="")], format).pieces
    assert json.loads(piece) == goes


OUTPUTS: list[tuple[str, Any]] = [
    ("shell", [{"stdout": "x", "stderr": "", "outcome": {"type": "exit", "exit_code": 0}}]),
    ("computer", {"type": "computer_screenshot", "image_url": "data:image/png;base64,aGk="}),
    ("function", [{"type": "x_new", "a": 1}, {"type": "input_text", "text": "x"}]),
    ("function", []),
]


@pytest.mark.parametrize(("kind", "output"), OUTPUTS)
def test_an_output_keeps_its_shape_when_its_call_gets_another_id(kind: str, output: Any) -> None:
    came = {"type": f"{kind}_call_output", "call_id": "c", "output": output}
    message = wire.message_of(came, "responses")
    tied = replace(message.results[0], call_id="d", edited=True)
    (piece,) = wire.dump([replace(message, parts=(tied,), body="")], "responses").pieces
    assert json.loads(piece) == {**came, "call_id": "d"}


def test_the_local_shells_output_names_its_call_where_it_did() -> None:
    message = wire.message_of({"type": "local_shell_call_output", "id": "c", "output": "x"}, "responses")
    tied = replace(message.results[0], call_id="d", edited=True)
    (piece,) = wire.dump([replace(message, parts=(tied,), body="")], "responses").pieces
    assert json.loads(piece) == {"type": "local_shell_call_output", "id": "d", "output": "x"}


def test_a_shortened_gemini_result_keeps_its_images() -> None:
    picture = {"inlineData": {"mimeType": "image/png", "data": "aGk="}}
    answer = {"name": "f", "response": {"output": "long"}, "parts": [picture]}
    message = wire.message_of({"role": "user", "parts": [{"functionResponse": answer}]}, "gemini")
    (result,) = message.results
    cut = replace(result, parts=(*SHORT, *result.parts[1:]), edited=True)
    (piece,) = wire.dump([replace(message, parts=(cut,), body="")], "gemini").pieces
    assert json.loads(piece)["parts"][0]["functionResponse"] == {**answer, "response": {"output": "cut"}}


@pytest.mark.parametrize("most", [0, 1, 2])
def test_the_latest_markers_stay(most: int) -> None:
    blocks = [{"type": "text", "text": str(n), "cache_control": {"type": "ephemeral"}} for n in range(3)]
    pieces, system, tools = wire.cap_markers([json.dumps(block) for block in blocks], "", "", most)
    assert ["cache_control" in piece for piece in pieces] == [n >= 3 - most for n in range(3)]
    assert (system, tools) == ("", "")


def test_the_last_marker_on_the_system_prompt_outlives_those_on_messages() -> None:
    block = {"type": "text", "text": "x", "cache_control": {"type": "ephemeral"}}
    pieces, system, _ = wire.cap_markers([json.dumps(block)] * 4, json.dumps([block, block]), "", 3)
    assert ["cache_control" in each for each in json.loads(system)] == [False, True]
    assert ["cache_control" in piece for piece in pieces] == [False, False, True, True]


def test_capping_markers_leaves_arguments_that_mention_them_alone() -> None:
    call = '{"type":"tool_use","id":"c","name":"f","input":{"cache_control":1}}'
    assert wire.cap_markers([call], "", "", 0)[0] == (call,)
