"""Any value of a transcript may have any type: what cannot be read is skipped, or a typed error names it."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest

from foveal.errors import InputError
from foveal.wire.transcripts import read_text

ODD = (["x"], {"b": 1}, 5, None)
NODE = {"author": {"role": "user", "name": None}, "create_time": 1.7e9, "recipient": "all", "metadata": {}}
CHATGPT = {
    "title": "Ports",
    "conversation_id": "c",
    "default_model_slug": "gpt-4o",
    "current_node": "r",
    "mapping": {
        "q": {
            "id": "q",
            "parent": None,
            "children": ["a"],
            "message": {
                **NODE,
                "id": "q",
                "content": {"content_type": "text", "parts": ["port?", {"text": "x"}]},
            },
        },
        "a": {
            "id": "a",
            "parent": "q",
            "children": ["r"],
            "message": {
                **NODE,
                "author": {"role": "assistant"},
                "recipient": "python",
                "metadata": {"model_slug": "gpt-4o", "is_visually_hidden_from_conversation": False},
                "content": {"content_type": "code", "text": "1+1", "title": "t", "url": "u"},
            },
        },
        "r": {
            "id": "r",
            "parent": "a",
            "children": [],
            "message": {
                **NODE,
                "author": {"role": "tool"},
                "content": {
                    "content_type": "multimodal_text",
                    "parts": [{"content_type": "image_asset_pointer", "asset_pointer": "sediment:1"}],
                },
            },
        },
    },
}
CLAUDE_AI = {
    "uuid": "c",
    "name": "Ports",
    "model": "claude",
    "current_leaf_message_uuid": "a",
    "chat_messages": [
        {
            "uuid": "q",
            "sender": "human",
            "created_at": "2025-06-01T10:00:00Z",
            "parent_message_uuid": "root",
            "text": "port?",
            "content": [],
            "attachments": [{"file_name": "a.txt", "extracted_content": "8080"}],
        },
        {
            "uuid": "a",
            "sender": "assistant",
            "created_at": "2025-06-01T10:00:00Z",
            "parent_message_uuid": "q",
            "content": [
                {"type": "text", "text": "look"},
                {"type": "tool_use", "id": "t", "name": "ls", "input": {"path": "."}},
                {"type": "tool_result", "tool_use_id": "t", "content": [{"type": "text", "text": "a"}]},
            ],
        },
    ],
}


def line(kind: str, uuid: str, parent: str | None, content: Any, **more: Any) -> dict[str, Any]:
    message = {"role": kind, "content": content, **more}
    known = {"type": kind, "uuid": uuid, "parentUuid": parent, "isSidechain": False, "isMeta": False}
    return {**known, "timestamp": "2025-06-01T10:00:00Z", "message": message}


CLAUDE_CODE = [
    line("user", "a", None, "port?"),
    line("user", "b", None, "which port?"),
    line("assistant", "c", "b", [{"type": "text", "text": "look"}], id="m", model="claude"),
    line("assistant", "d", "c", [{"type": "tool_use", "id": "t", "name": "ls", "input": {}}], id="m"),
    line("user", "e", "d", [{"type": "tool_result", "tool_use_id": "t", "content": "a"}]),
]
CODEX = [
    {"timestamp": "2025-06-01T10:00:00Z", "type": kind, "payload": payload}
    for kind, payload in (
        ("session_meta", {"id": "s"}),
        ("turn_context", {"model": "gpt-5"}),
        (
            "response_item",
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "p"}]},
        ),
        ("response_item", {"type": "function_call", "call_id": "c", "name": "ls", "arguments": "{}"}),
        ("response_item", {"type": "function_call_output", "call_id": "c", "output": "a"}),
        ("response_item", {"type": "reasoning", "summary": [], "encrypted_content": "x"}),
    )
]
PLAIN_CODEX = [{"id": "s", "timestamp": "2025-06-01T10:00:00Z"}, *(each["payload"] for each in CODEX[2:])]
TRANSCRIPTS = {
    "chatgpt": [CHATGPT],
    "claude_ai": [CLAUDE_AI],
    "claude_code": CLAUDE_CODE,
    "codex": CODEX,
    "old codex": PLAIN_CODEX,
}


def places(value: Any) -> Iterator[tuple[str | int, ...]]:
    """The path to each value below this one."""
    steps = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, below in steps:
        yield (key,)
        yield from ((key, *rest) for rest in places(below))


def replaced(whole: Any, place: tuple[str | int, ...], value: object) -> Any:
    changed = copy.deepcopy(whole)
    at = changed
    for step in place[:-1]:
        at = at[step]
    at[place[-1]] = value
    return changed


@pytest.mark.parametrize("kind", TRANSCRIPTS)
def test_a_value_of_any_type_is_read_skipped_or_refused(kind: str) -> None:
    whole = TRANSCRIPTS[kind]
    assert read_text(written(kind, whole))
    for place in places(whole):
        for odd in ODD:
            try:
                read_text(written(kind, replaced(whole, place, odd)))
            except InputError:
                pass
            except Exception as error:
                raise AssertionError(f"{type(error).__name__} for {odd!r} at {place}") from error


def written(kind: str, whole: Any) -> str:
    lines = kind not in ("chatgpt", "claude_ai")
    return "\n".join(map(json.dumps, whole)) if lines else json.dumps(whole)
