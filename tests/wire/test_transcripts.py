"""Files of messages, and the logs that Claude Code and Codex leave behind."""

from __future__ import annotations

import json
from typing import Any

import pytest

from foveal.errors import InputError
from foveal.model import Conversation
from foveal.wire.transcripts import read_text

USER = {"role": "user", "content": "hello"}
SAID = {"role": "assistant", "content": "hi"}
WHEN = "2025-09-20T09:39:07.234Z"


def jsonl(*values: Any) -> str:
    return "\n".join(json.dumps(value) for value in values) + "\n"


def claude(kind: str, content: Any, uuid: str = "", parent: str | None = None, **more: Any) -> dict[str, Any]:
    """A line of Claude Code; `id` is the message's."""
    message = {"role": kind, "content": content} | ({"id": more.pop("id")} if "id" in more else {})
    line = {"parentUuid": parent, "isSidechain": False, "type": kind, "message": message, "uuid": uuid}
    return {**line, "timestamp": WHEN, **more}


def codex(kind: str, **payload: Any) -> dict[str, Any]:
    return {"timestamp": WHEN, "type": kind, "payload": payload}


def use(key: str) -> dict[str, Any]:
    return {"type": "tool_use", "id": key, "name": "f", "input": {}}


def used(key: str) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": key, "content": key}


def conversation(text: str) -> Conversation:
    (found,) = read_text(text)
    return found.conversation


def bodies(text: str) -> list[Any]:
    return [json.loads(message.body) for message in conversation(text).messages]


@pytest.mark.parametrize(
    "text",
    [json.dumps([USER, SAID]), json.dumps({"messages": [USER, SAID]}), jsonl(USER, SAID)],
    ids=["a list", "a request body", "a message per line"],
)
def test_json_and_jsonl(text: str) -> None:
    assert bodies(text) == [USER, SAID]


def test_of_request_bodies_per_line_the_last_is_the_conversation() -> None:
    assert bodies(jsonl({"messages": [USER]}, {"messages": [USER, SAID, USER]})) == [USER, SAID, USER]


def test_blank_lines_are_skipped() -> None:
    assert len(bodies(jsonl(USER) + "\r\n\n" + jsonl(SAID))) == 2


def test_claude_code_lines_of_one_response_are_one_message() -> None:
    text = jsonl(
        {"type": "summary", "summary": "Fix it", "leafUuid": "x"},
        claude("user", "fix it"),
        claude("assistant", [{"type": "text", "text": "ok"}], id="m1"),
        claude("assistant", [use("a")], id="m1"),
        claude("user", [used("a")]),
        claude("assistant", [use("b")], id="m1"),
        claude("user", [used("b")]),
    )
    assert bodies(text) == [
        {"role": "user", "content": "fix it"},
        {"role": "assistant", "content": [{"type": "text", "text": "ok"}, use("a"), use("b")]},
        {"role": "user", "content": [used("a"), used("b")]},
    ]


def test_claude_code_side_chains_and_meta_lines_stay_out() -> None:
    text = jsonl(
        claude("user", "caveat", isMeta=True),
        claude("user", "hello"),
        claude("user", "for another agent", isSidechain=True),
        {"type": "system", "content": "compacted", "timestamp": WHEN},
    )
    assert bodies(text) == [USER]


def test_claude_code_prompts_that_were_taken_back_stay_out() -> None:
    text = jsonl(
        claude("user", "hello", "u1"),
        claude("assistant", "hi", "a1", "u1"),
        claude("user", "wrong", "u2", "a1"),
        claude("assistant", "as you say", "a2", "u2"),
        claude("user", "right", "u3", "a1"),
    )
    assert [body["content"] for body in bodies(text)] == ["hello", "hi", "right"]


def test_claude_code_messages_have_their_times() -> None:
    found = conversation(jsonl(claude("user", "hello")))
    assert (found.format, found.messages[0].created_at) == ("anthropic", 1758361147.234)


def test_codex_items_come_out_of_their_wrappers() -> None:
    call = {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}
    text = jsonl(
        codex("session_meta", id="s", cwd="/tmp"),
        codex("response_item", type="message", role="user", content=[{"type": "input_text", "text": "x"}]),
        codex("event_msg", type="user_message", message="x"),
        codex("response_item", **call),
        codex("response_item", type="ghost_snapshot"),
        codex("turn_context", model="gpt-5-codex"),
    )
    found = conversation(text)
    assert (found.format, [message.role for message in found.messages]) == (
        "responses",
        ["user", "assistant"],
    )
    assert json.loads(found.messages[1].body) == call
    assert found.messages[1].created_at == 1758361147.234


def test_codex_files_of_the_older_form_hold_bare_items() -> None:
    item = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "x"}]}
    text = jsonl({"id": "s", "timestamp": WHEN, "instructions": None}, {"record_type": "state"}, item)
    assert bodies(text) == [item]


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("", "log is empty"),
        ("hello", "log, line 1: not JSON"),
        ("{oops\n[1]\n", "log, line 1: not JSON .*; 1 more parts cannot be read"),
        ("[1]\n[2]\n", "log, line 2: not JSON"),
        (jsonl({"role": 5, "content": "x"}, {"role": 5}), "log, line 1: `role` is of type int"),
        (
            '[\n{"role": "user", "content": "x"},\n{"role": "user"',
            r"log, line 3: not JSON \(character 16: [^:]*\)",
        ),
        (jsonl(claude("user", None)), "log, line 1: `message.content` is missing"),
        (jsonl(codex("session_meta", id="s")), "log has no messages"),
        ("[" * 100_000, "nested too deep|not JSON"),
    ],
)
def test_unreadable_input_names_the_line(text: str, what: str) -> None:
    with pytest.raises(InputError, match=what):
        read_text(text, name="log")


def test_an_error_in_a_file_names_the_field() -> None:
    with pytest.raises(InputError) as refusal:
        read_text('[{"role": "user"}]', name="chat.json")
    assert refusal.value.field == "content"


@pytest.mark.parametrize(
    ("lines", "skipped"),
    [
        ([json.dumps(USER), json.dumps(SAID), '{"role": "us'], [(3, "not JSON")]),
        (
            [json.dumps(USER), "[1]", "\0", json.dumps(SAID)],
            [(2, "an array, not an object"), (3, "not JSON")],
        ),
        ([json.dumps(USER), json.dumps({"role": 5}), json.dumps(SAID)], [(2, "`role` is of type int")]),
    ],
    ids=["half a line", "not objects", "not a message"],
)
def test_lines_that_cannot_be_read_are_skipped_and_reported(
    lines: list[str], skipped: list[tuple[int, str]]
) -> None:
    (found,) = read_text("\n".join(lines))
    assert [message.text for message in found.conversation.messages] == ["hello", "hi"]
    assert [each.line for each in found.skipped] == [line for line, _ in skipped]
    assert all(each.why.startswith(why) for each, (_, why) in zip(found.skipped, skipped, strict=True))


def test_the_reason_of_a_skipped_line_counts_characters_and_names_no_other_line() -> None:
    (found,) = read_text("\n".join([json.dumps(USER), json.dumps(SAID), '{"role": }', '{"role": "us']))
    assert [(each.where, each.why) for each in found.skipped] == [
        ("line 3", "not JSON (character 10: Expecting value)"),
        ("line 4", "not JSON (character 10: Unterminated string)"),
    ]


LONG = '{"role": "user", "content": "x", "n": %s}' % ("9" * 5_000)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        (LONG, "log, line 1: a number has too many digits"),
        (f"[{LONG}]", "log has a number with too many digits"),
        (f"[\n{LONG}\n]", "log has a number with too many digits"),
        ("null\n5", "log, line 1: null, not an object; 1 more parts cannot be read"),
    ],
)
def test_what_a_file_has_in_place_of_a_message_is_said_in_the_words_of_json(text: str, what: str) -> None:
    with pytest.raises(InputError) as failure:
        read_text(text, name="log")
    assert failure.value.what == what


def test_a_transcript_survives_lines_that_cannot_be_read() -> None:
    text = jsonl(claude("user", "hello"), claude("user", None), claude("assistant", [5], id="x"))
    (found,) = read_text(text + '{"type": "assis')
    assert [message.text for message in found.conversation.messages] == ["hello"]
    assert [each.line for each in found.skipped] == [2, 3, 4]


def test_the_newest_model_that_answered_is_the_model() -> None:
    answers = [claude("assistant", "hi", id=str(n)) for n in range(3)]
    for line, name in zip(answers, ("claude-opus-4", "claude-sonnet-4-5", "<synthetic>"), strict=True):
        line["message"]["model"] = name
    assert conversation(jsonl(claude("user", "hello"), *answers)).model == "claude-sonnet-4-5"
    item = codex("response_item", type="message", role="user", content=[{"type": "input_text", "text": "x"}])
    assert conversation(jsonl(codex("turn_context", model="gpt-5-codex"), item)).model == "gpt-5-codex"


def test_a_model_that_is_not_a_name_is_ignored() -> None:
    answer = claude("assistant", "hi", id="x")
    answer["message"]["model"] = "m" * 10_000
    assert conversation(jsonl(claude("user", "hello"), answer)).model == ""
