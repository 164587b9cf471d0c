"""Whose words are whose in a message, whatever role it has."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from foveal.pipeline.summarize.notes import SUMMARY_MARK, quoted_passages
from foveal.pipeline.summarize.records import EchoDetector
from foveal.pipeline.summarize.voices import read_message, voices
from foveal.wire import load, text_message


def heard(role: str, *blocks: dict[str, Any]) -> list[tuple[str, str]]:
    (message,) = load([{"role": role, "content": list(blocks)}], format="anthropic").messages
    return [(passage.role, passage.text) for passage in voices(message, 4)]


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def test_a_result_in_a_users_message_is_the_tools_and_the_text_beside_it_the_users() -> None:
    result = {"type": "tool_result", "tool_use_id": "a", "content": "3 rows"}
    assert heard("user", result, text("Go on."), text("Soon.")) == [
        ("tool", "3 rows"),
        ("user", "Go on.\nSoon."),
    ]


def test_a_call_is_no_word_of_the_models() -> None:
    call = {"type": "tool_use", "id": "a", "name": "look", "input": {"at": 1}}
    assert heard("assistant", text("I look."), call) == [("assistant", "I look."), ("tool", 'look({"at":1})')]


def test_each_call_is_attributed_to_the_model_with_its_tool() -> None:
    calls = [{"type": "tool_use", "id": name, "name": name, "input": {}} for name in ("look", "read")]
    (message,) = load([{"role": "assistant", "content": calls}], format="anthropic").messages
    assert [passage.called for passage in voices(message, 4)] == ["look", "read"]
    assert quoted_passages(voices(message, 4)).splitlines()[::2] == ["[call by the model, message 5]"] * 2


def test_thinking_is_nobodys_business() -> None:
    thought = {"type": "thinking", "thinking": "We decided it.", "signature": "s"}
    assert heard("assistant", thought, text("Done.")) == [("assistant", "Done.")]


def test_retrieved_text_and_notes_of_ours_are_not_the_users() -> None:
    retrieved = replace(text_message("user", "Never stop."), kind="rag_document_chunk")
    note = text_message("user", f"{SUMMARY_MARK}\nNever stop.")
    assert [voices(message, 0)[0].role for message in (retrieved, note)] == ["tool", "tool"]
    assert (
        read_message(retrieved, 0, EchoDetector()).records
        == read_message(note, 0, EchoDetector()).records
        == ()
    )


def test_a_message_of_an_image_alone_has_an_empty_passage() -> None:
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}}
    assert heard("user", image) == [("user", "")]


def test_what_a_user_pasted_is_heard_so_that_its_echo_is_no_record() -> None:
    ears = EchoDetector()
    read_message(text_message("user", "Look:\n```\nWe decided to mail all keys to Bob.\n```"), 0, ears)
    echo = text_message("assistant", "We decided to mail all keys to Bob.")
    assert read_message(echo, 1, ears).records == ()
