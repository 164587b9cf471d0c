"""How the messages of each format are read."""

from __future__ import annotations

import json
from typing import Any

import pytest

from foveal import StoreDamagedError, fit, wire
from foveal.model import MESSAGES_KEY, File, Format, Image, Message, Opaque, Text, Thinking

PNG = "aGk="


def read(item: dict[str, Any], format: Format) -> Message:
    return wire.message_of(item, format)


ROLES: list[tuple[Format, dict[str, Any], str]] = [
    ("openai", {"role": "developer", "content": "x"}, "system"),
    ("openai", {"role": "function", "name": "f", "content": "x"}, "tool"),
    ("anthropic", {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c"}]}, "tool"),
    (
        "anthropic",
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "c"}, {"type": "text", "text": "x"}],
        },
        "user",
    ),
    ("gemini", {"parts": [{"text": "x"}]}, "user"),
    ("gemini", {"role": "model", "parts": [{"text": "x"}]}, "assistant"),
    ("gemini", {"role": "model", "parts": ["x"]}, "assistant"),
    ("gemini", {"role": "assistant", "parts": [{"text": "x"}]}, "assistant"),
    ("openai", {"role": "model", "content": "x"}, "assistant"),
    ("plain", {"role": "model", "content": "x"}, "assistant"),
    ("anthropic", {"role": "model", "content": "x"}, "assistant"),
    ("responses", {"role": "model", "content": "x"}, "assistant"),
    ("gemini", {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {}}}]}, "tool"),
    ("responses", {"role": "developer", "content": "x"}, "system"),
    ("responses", {"type": "reasoning", "id": "rs", "summary": []}, "assistant"),
    ("responses", {"type": "function_call_output", "call_id": "c", "output": "x"}, "tool"),
    ("responses", {"type": "item_reference", "id": "i"}, "assistant"),
]


@pytest.mark.parametrize(("format", "item", "role"), ROLES)
def test_roles(format: Format, item: dict[str, Any], role: str) -> None:
    assert read(item, format).role == role


PARTS: list[tuple[Format, dict[str, Any], dict[str, Any], type, dict[str, Any]]] = [
    (
        "openai",
        {"role": "user"},
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}", "detail": "low"}},
        Image,
        {"data": PNG, "media_type": "image/png", "detail": "low", "url": ""},
    ),
    (
        "openai",
        {"role": "user"},
        {"type": "file", "file": {"file_id": "file-1", "filename": "a.pdf"}},
        File,
        {"url": "file-1", "name": "a.pdf"},
    ),
    ("openai", {"role": "assistant"}, {"type": "refusal", "refusal": "no"}, Text, {"text": "no"}),
    (
        "anthropic",
        {"role": "user"},
        {
            "type": "document",
            "source": {"type": "text", "media_type": "text/plain", "data": "x"},
            "title": "t",
        },
        File,
        {"text": "x", "name": "t"},
    ),
    (
        "anthropic",
        {"role": "assistant"},
        {"type": "redacted_thinking", "data": "d"},
        Thinking,
        {"text": "", "signature": "d"},
    ),
    ("anthropic", {"role": "assistant"}, {"type": "x_new"}, Opaque, {"type": "x_new"}),
    (
        "responses",
        {"role": "user"},
        {"type": "input_image", "file_id": "file-1"},
        Image,
        {"url": "file-1"},
    ),
]


@pytest.mark.parametrize(("format", "message", "block", "kind", "fields"), PARTS)
def test_blocks(
    format: Format, message: dict[str, Any], block: dict[str, Any], kind: type, fields: dict[str, Any]
) -> None:
    (part,) = read({**message, "content": [block]}, format).parts
    assert isinstance(part, kind)
    assert {name: getattr(part, name) for name in fields} == fields
    assert json.loads(part.raw) == block


@pytest.mark.parametrize("spelling", ["inlineData", "inline_data"])
def test_gemini_fields_in_either_spelling(spelling: str) -> None:
    kind = "mimeType" if spelling == "inlineData" else "mime_type"
    (part,) = read({"role": "user", "parts": [{spelling: {kind: "image/png", "data": PNG}}]}, "gemini").parts
    assert isinstance(part, Image)
    assert (part.data, part.media_type) == (PNG, "image/png")


def test_a_gemini_signature_on_an_empty_text_belongs_to_the_thinking() -> None:
    (part,) = read({"role": "model", "parts": [{"text": "", "thoughtSignature": "s"}]}, "gemini").parts
    assert isinstance(part, Thinking)


def test_a_legacy_function_call_goes_by_name() -> None:
    call = {"name": "f", "arguments": "{}"}
    message = read({"role": "assistant", "content": None, "function_call": call}, "openai")
    assert (message.calls[0].id, message.calls[0].name) == ("", "f")


def test_the_reasoning_of_compatible_servers_is_thinking() -> None:
    message = read({"role": "assistant", "content": "x", "reasoning_content": "hm"}, "openai")
    assert [type(part) for part in message.parts] == [Thinking, Text]


def test_reasoning_of_responses_is_signed_by_what_is_encrypted() -> None:
    summary = [{"type": "summary_text", "text": "hm"}]
    (part,) = read(
        {"type": "reasoning", "id": "rs", "summary": summary, "encrypted_content": "e"}, "responses"
    ).parts
    assert isinstance(part, Thinking)
    assert (part.text, part.signature) == ("hm", "e")


def test_a_plain_message_has_author_time_and_metadata() -> None:
    item = {"role": "user", "content": "x", "id": 7, "name": "ann", "timestamp": 1e12, "metadata": {"a": 1}}
    message = read(item, "plain")
    assert (message.id, message.author, message.created_at) == ("7", "ann", 1e9)
    assert message.metadata == {"a": 1}


def test_an_empty_system_prompt_is_no_message_and_stays_in_the_envelope() -> None:
    body = {"system": "", "tools": [], "messages": [{"role": "user", "content": "x"}]}
    found = wire.load(body)
    assert len(found.messages) == 1
    assert json.loads(found.envelope) == {"system": "", "tools": [], "messages": None}


def test_input_and_contents_may_be_a_text() -> None:
    assert wire.load({"input": "hello"}).messages[0].text == "hello"
    assert wire.load({"contents": "hello"}).messages[0].text == "hello"


def test_a_single_message_may_stand_alone() -> None:
    item = {"type": "custom_tool_call", "call_id": "c", "name": "f", "input": "x"}
    assert wire.load(item, format="responses").messages[0].calls[0].arguments == '{"input":"x"}'


def test_a_document_of_blocks_has_its_texts_and_images() -> None:
    picture = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}}
    blocks = [{"type": "text", "text": "one"}, picture, {"type": "text", "text": "two"}]
    block = {"type": "document", "source": {"type": "content", "content": blocks}}
    (part,) = read({"role": "user", "content": [block]}, "anthropic").parts
    assert isinstance(part, File)
    assert (part.text, [p.data for p in part.images]) == ("one\ntwo", [PNG])


def test_a_screenshot_is_an_image_and_shell_output_stays_structured() -> None:
    shot = {"type": "computer_screenshot", "image_url": f"data:image/png;base64,{PNG}"}
    (part,) = (
        read({"type": "computer_call_output", "call_id": "c", "output": shot}, "responses").results[0].parts
    )
    assert isinstance(part, Image)
    printed = [{"stdout": "x", "stderr": "", "outcome": {"type": "timeout"}}]
    (part,) = (
        read({"type": "shell_call_output", "call_id": "c", "output": printed}, "responses").results[0].parts
    )
    assert isinstance(part, Opaque)
    assert json.loads(part.raw) == printed


def test_no_model_is_no_name() -> None:
    assert wire.load({"model": None, "messages": []}).model == ""


def test_a_stored_message_that_was_changed_is_damage_and_never_the_original() -> None:
    message = wire.message_of({"role": "user", "content": "port 8081"}, "openai")
    assert wire.original(message.body, message.digest) == {"role": "user", "content": "port 8081"}
    for changed in (message.body.replace("8081", "8082"), '{"a":"\\ud800"}', "[1", "[" * 100_000, "NaN"):
        with pytest.raises(StoreDamagedError, match="not what was stored"):
            wire.original(changed, message.digest)


def test_a_system_prompt_from_outside_the_messages_is_its_own_original() -> None:
    body = {"system": "Be brief.", "messages": [{"role": "user", "content": "x"}]}
    for message in wire.load(body, format="anthropic").messages:
        assert wire.original(message.body, message.digest) in ("Be brief.", body["messages"][0])


@pytest.mark.parametrize(
    ("given", "sent"),
    [
        (
            [{"role": "user", "parts": ["a", {"text": "b"}]}],
            [{"role": "user", "parts": [{"text": "a"}, {"text": "b"}]}],
        ),
        (
            [{"role": "model", "content": "hello"}, {"role": "user", "content": "x"}],
            [{"role": "assistant", "content": "hello"}, {"role": "user", "content": "x"}],
        ),
    ],
    ids=["texts as parts", "the role model beside contents"],
)
def test_what_no_provider_accepts_is_read_and_sent_in_the_providers_form(
    given: list[dict[str, Any]], sent: list[dict[str, Any]]
) -> None:
    window = fit(given, budget=1_000)
    assert [message for message in window.messages if message in sent] == sent
    assert "malformed" in {repair.rule for repair in window.manifest.repairs}
    assert wire.check({MESSAGES_KEY[window.format]: window.messages}, window.format) == []


def test_a_stored_priority_that_is_not_one_is_no_damage() -> None:
    body = '{"role":"user","content":"x","priority":"high"}'
    assert wire.reread(body, "plain", "user", digest="").priority is None
