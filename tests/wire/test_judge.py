"""The judge knows each provider's rules by name."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foveal import wire
from foveal.errors import InputError
from foveal.model import Format
from strategies import FORMATS, requests

USER = {"role": "user", "content": "hello"}


def call(key: str = "c1", name: str = "f", arguments: str = "{}") -> dict[str, Any]:
    return {"id": key, "type": "function", "function": {"name": name, "arguments": arguments}}


def asks(*calls: dict[str, Any]) -> dict[str, Any]:
    return {"role": "assistant", "content": None, "tool_calls": list(calls)}


def result(key: str = "c1") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": key, "content": "4"}


def use(key: str = "c1", name: str = "f", arguments: Any = None) -> dict[str, Any]:
    return {"type": "tool_use", "id": key, "name": name, "input": {} if arguments is None else arguments}


def used(key: str = "c1") -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": key, "content": "4"}


def text(words: str = "hi", **more: Any) -> dict[str, Any]:
    return {"type": "text", "text": words, **more}


def assistant(*blocks: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": list(blocks)}


def user(*blocks: Any) -> dict[str, Any]:
    return {"role": "user", "content": list(blocks)}


def model(*parts: Any) -> dict[str, Any]:
    return {"role": "model", "parts": list(parts)}


def gave(*parts: Any) -> dict[str, Any]:
    return {"role": "user", "parts": list(parts)}


def wants(name: str = "f", args: Any = None) -> dict[str, Any]:
    return {"functionCall": {"name": name, "args": {} if args is None else args}}


def answers(name: str = "f") -> dict[str, Any]:
    return {"functionResponse": {"name": name, "response": {"output": "4"}}}


def item(kind: str, **fields: Any) -> dict[str, Any]:
    return {"type": kind, **fields}


def ran(kind: str, output: Any) -> list[dict[str, Any]]:
    return [item(f"{kind}_call", call_id="c"), item(f"{kind}_call_output", call_id="c", output=output)]


FUNCTION = item("function_call", call_id="c1", name="f", arguments="{}")
OUTPUT = item("function_call_output", call_id="c1", output="4")
SAID = {"role": "assistant", "content": "hi"}
LEGACY = {**SAID, "function_call": {"name": "f", "arguments": "{}"}}
MARKED = {"cache_control": {"type": "ephemeral"}}
THOUGHT = {"type": "thinking", "thinking": "hm", "signature": "c2ln"}

OPENAI = [
    ([], ["empty_request"]),
    ([USER, asks(call()), result()], []),
    ([{"role": "system", "content": "x"}], ["only_system"]),
    ([{"role": "bot", "content": "x"}], ["unknown_role"]),
    ([USER, result()], ["orphan_result"]),
    ([USER, asks(call())], ["unanswered_call", "ends_with_assistant"]),
    ([USER, asks(call()), USER], ["unanswered_call"]),
    ([USER, asks(call("a"), call("b")), result("b"), result("a")], []),
    ([USER, asks(call("a"), call("b")), result("a")], ["unanswered_call"]),
    ([USER, asks(call()), result(), asks(call()), result()], []),
    ([USER, asks(call(), call()), result(), result()], ["duplicate_call_id"]),
    ([{"role": "user", "content": " "}], ["empty_content"]),
    ([{"role": "user", "content": None}], ["null_content", "empty_content"]),
    ([user(text(""), text("x"))], ["empty_text_block"]),
    ([USER, {**SAID, "tool_calls": []}, USER], ["empty_call_list"]),
    ([USER, asks(call(name="no spaces")), result()], ["bad_function_name"]),
    ([USER, asks(call(name="x" * 65)), result()], ["bad_function_name"]),
    ([USER, asks(call(arguments="{")), result()], ["arguments_not_json"]),
    ([USER, SAID], ["ends_with_assistant"]),
    ([USER, {**SAID, "function_call": {"name": "f", "arguments": "{}"}}, USER], ["unanswered_call"]),
    ([USER, LEGACY, {"role": "function", "name": "f", "content": "4"}], []),
    (
        [USER, LEGACY, {"role": "tool", "tool_call_id": "f", "content": "4"}],
        ["orphan_result", "unanswered_call"],
    ),
    (
        [USER, LEGACY, {"role": "function", "content": "4"}],
        ["orphan_result", "unanswered_call", "misnamed_result"],
    ),
    ([user({"type": "text", "text": 5}, text())], ["bad_content"]),
    ([{"role": "user", "content": 5}], ["bad_content", "empty_content"]),
    ([{"role": "system", "content": " "}, USER], ["empty_content"]),
    ([{**USER, "tool_calls": [call()]}, result()], ["misplaced_call"]),
    ([USER, {**SAID, "tool_calls": {"id": "c1"}}, USER], ["malformed_call"]),
    ([USER, asks(call(name="")), result()], ["bad_function_name"]),
    ([USER, asks(call(arguments={})), result()], ["arguments_not_json"]),  # type: ignore[arg-type]
]
ANTHROPIC = [
    ([], ["empty_request"]),
    ([USER, assistant(use()), user(used(), text())], []),
    ([SAID, USER], ["first_not_user"]),
    ([{"role": "system", "content": "x"}], ["first_not_user"]),
    ([USER, {"role": "system", "content": "x"}], []),
    ([USER, {"role": "robot", "content": "x"}], ["unknown_role"]),
    ([USER, user(used())], ["orphan_result"]),
    ([USER, assistant(use()), USER], ["unanswered_call"]),
    (
        [USER, assistant(use("a"), use("b")), user(used("a")), user(used("b"))],
        ["orphan_result", "unanswered_call"],
    ),
    ([USER, assistant(use()), user(text(), used())], ["results_not_first"]),
    ([USER, assistant(use(), use()), user(used())], ["duplicate_call_id"]),
    ([USER, assistant(use()), user(used(), used())], ["duplicate_result"]),
    ([USER, assistant(use(name="a b")), user(used())], ["bad_function_name"]),
    ([USER, assistant(use("a:1")), user(used("a:1"))], ["bad_call_id"]),
    ([USER, assistant(use(arguments=[1])), user(used())], ["arguments_not_object"]),
    ([user()], ["empty_content"]),
    ([user(text("  "))], ["empty_text_block"]),
    ([user(*[text(cache_control={"type": "ephemeral"})] * 5)], ["too_many_markers"]),
    ([USER, assistant({**THOUGHT, **MARKED}, use()), user(used())], ["misplaced_marker"]),
    ([user(text(""), text("", **MARKED))], ["empty_text_block", "misplaced_marker"]),
    ([user(text(**MARKED), text(cache_control={"type": "ephemeral", "ttl": "1h"}))], ["short_marker_first"]),
    ([user(text(cache_control={"type": "ephemeral", "ttl": "1h"}), text(**MARKED))], []),
    ([USER, SAID], ["ends_with_assistant"]),
    ([user({"type": "text", "text": 5})], ["bad_content", "empty_text_block"]),
    ([USER, assistant(use()), user({**used(), "content": 5})], ["bad_content"]),
    ([USER, assistant(use()), user({**used(), "content": [text(" ")]})], ["empty_text_block"]),
]
GEMINI = [
    ([], ["empty_request"]),
    ([gave({"text": "x"}), model(wants()), gave(answers())], []),
    ([model({"text": "x"}), gave({"text": "x"})], ["first_not_user"]),
    ([gave({"text": "x"}), gave(answers())], ["orphan_result"]),
    ([gave({"text": "x"}), model(wants("f"), wants("f")), gave(answers())], ["unanswered_call"]),
    ([gave({"text": "x"}), model(wants("f")), gave(answers("g"))], ["orphan_result", "unanswered_call"]),
    ([gave({"text": "x"}), model({"text": "x"}), model(wants()), gave(answers())], ["call_out_of_place"]),
    ([gave()], ["empty_content"]),
    ([gave({"text": ""})], ["empty_text_part"]),
    ([gave({"text": "x"}), model(wants("a b")), gave(answers("a b"))], ["bad_function_name"]),
    ([gave({"text": "x"}), model(wants(args=[1])), gave(answers())], ["arguments_not_object"]),
    ([gave({"text": 5})], ["bad_content"]),
]
SHELL, SHELL_OUTPUT = ran("local_shell", "4")
NAMED_BY_ID = (SHELL, {"type": SHELL_OUTPUT["type"], "id": SHELL["call_id"], "output": "4"})
RESPONSES = [
    ([], ["empty_request"]),
    ([USER, item("reasoning", id="rs_1"), FUNCTION, OUTPUT], []),
    ([USER, OUTPUT], ["orphan_result"]),
    ([USER, FUNCTION], ["unanswered_call"]),
    ([USER, OUTPUT, FUNCTION], ["orphan_result", "unanswered_call"]),
    ([USER, FUNCTION, FUNCTION, OUTPUT, OUTPUT], ["duplicate_call_id"]),
    ([USER, item("reasoning", id="rs_1"), USER], ["reasoning_without_item"]),
    ([USER, item("reasoning", id="rs_1")], ["reasoning_without_item"]),
    ([USER, {**FUNCTION, "arguments": "{"}, OUTPUT], ["arguments_not_json"]),
    ([USER, SAID], ["ends_with_assistant"]),
    ([USER, item("item_reference", id="fc_1"), OUTPUT], []),
    ([USER, FUNCTION, {**OUTPUT, "output": [{"type": "input_text", "text": "4"}]}], []),
    ([USER, FUNCTION, {**OUTPUT, "output": {"a": 1}}], ["bad_output"]),
    ([USER, FUNCTION, {**OUTPUT, "output": ["4"]}], ["bad_output"]),
    ([USER, *ran("shell", [{"stdout": "4", "stderr": "", "outcome": {"type": "timeout"}}])], []),
    ([USER, *ran("shell", "4")], ["bad_output"]),
    ([USER, *ran("computer", {"type": "computer_screenshot", "file_id": "f"})], []),
    ([USER, *ran("computer", "4")], ["bad_output"]),
    ([USER, *ran("apply_patch", None)], []),
    ([USER, *ran("local_shell", "4")], []),
    ([USER, *NAMED_BY_ID, *NAMED_BY_ID], []),
    ([USER, *ran("local_shell", ["4"])], ["bad_output"]),
    ([USER, FUNCTION, USER, OUTPUT], []),
    ([USER, {**FUNCTION, "name": ""}, OUTPUT], ["bad_function_name"]),
    ([USER, {**FUNCTION, "arguments": {}}, OUTPUT], ["arguments_not_json"]),
    ([USER, {**FUNCTION, "call_id": ""}, {**OUTPUT, "call_id": None}], ["missing_call_id"]),
    ([{"role": "user", "content": [{"type": "input_text", "text": 5}, {"type": "x"}]}], ["bad_content"]),
]


@pytest.mark.parametrize(("messages", "broken"), OPENAI)
def test_the_rules_of_openai_chat(messages: list[Any], broken: list[str]) -> None:
    assert wire.check({"messages": messages}, "openai") == broken


@pytest.mark.parametrize(("messages", "broken"), ANTHROPIC)
def test_the_rules_of_anthropic(messages: list[Any], broken: list[str]) -> None:
    assert wire.check({"messages": messages}, "anthropic") == broken


@pytest.mark.parametrize(("contents", "broken"), GEMINI)
def test_the_rules_of_gemini(contents: list[Any], broken: list[str]) -> None:
    assert wire.check({"contents": contents}, "gemini") == broken


@pytest.mark.parametrize(("items", "broken"), RESPONSES)
def test_the_rules_of_responses(items: list[Any], broken: list[str]) -> None:
    assert wire.check({"input": items}, "responses") == broken


def test_an_output_may_answer_a_call_that_the_server_stores() -> None:
    assert wire.check({"input": [OUTPUT], "previous_response_id": "resp_1"}, "responses") == []


def test_plain_calls_without_ids_are_no_duplicates() -> None:
    results = [{"role": "tool", "name": "f", "content": text} for text in ("4", "5")]
    assert wire.check({"messages": [USER, asks(call(""), call("")), *results, USER]}, "plain") == []
    twice = {"messages": [USER, asks(call(), call()), result(), result(), USER]}
    assert "duplicate_call_id" in wire.check(twice, "plain")


def test_plain_results_need_no_call() -> None:
    assert wire.check({"messages": [USER, {"role": "tool", "content": "4"}]}, "plain") == []


@pytest.mark.parametrize("format", FORMATS)
@settings(max_examples=max(1, settings().max_examples // 3))
@given(data=st.data())
def test_valid_requests_break_no_rule(format: Format, data: st.DataObject) -> None:
    found = wire.check(data.draw(requests(format)), format)
    assert [rule for rule in found if rule not in ("ends_with_assistant", "only_system")] == []


def test_an_unknown_format_is_refused_by_name() -> None:
    with pytest.raises(InputError, match="unknown format 'cohere'"):
        wire.check({}, "cohere")  # type: ignore[arg-type]
