"""The format of messages is detected by their shape."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foveal import wire
from foveal.model import Format
from foveal.wire.detect import detect
from strategies import FORMATS, histories

USER = {"role": "user", "content": "hello"}
RESULT = {"type": "tool_result", "tool_use_id": "c", "content": "4"}

SHAPES: list[tuple[Any, str, Format]] = [
    ([USER], "", "openai"),
    ([USER], "gpt-5", "openai"),
    ([USER], "claude-sonnet-4-5", "anthropic"),
    ([USER], "anthropic/claude-3-opus", "anthropic"),
    ([{"role": "system", "content": "x"}, USER], "claude-sonnet-4-5", "openai"),
    ([{"role": "user", "content": [{"type": "text", "text": "x"}]}], "", "openai"),
    ([{"role": "user", "content": [RESULT]}], "", "anthropic"),
    ([{"role": "user", "content": [{"type": "text", "text": "x", "cache_control": {}}]}], "", "anthropic"),
    ([{"role": "assistant", "content": [{"type": "text", "text": "x", "citations": []}]}], "", "anthropic"),
    ([{"role": "user", "content": [{"type": "input_text", "text": "x"}]}], "", "responses"),
    ([{"type": "message", "role": "user", "content": "x"}, {"type": "function_call"}], "", "responses"),
    ([{"type": "web_search_call", "id": "ws"}], "", "responses"),
    ([{"role": "user", "parts": [{"text": "x"}]}], "", "gemini"),
    ([{"parts": [{"text": "x"}]}], "", "gemini"),
    ([{**USER, "timestamp": 1}], "", "plain"),
    ([{**USER, "id": "m1", "metadata": {}}], "", "plain"),
    ([USER, {"role": "tool", "content": "4"}], "", "openai"),
    ([{"role": "tool", "content": "4"}], "claude-sonnet-4-5", "openai"),
    ([USER, {"role": "assistant", "content": "x", "refusal": None}], "claude-sonnet-4-5", "openai"),
    ([{"type": "message", "role": "user", "content": "x"}], "", "responses"),
    ([{"type": "additional_tools", "role": "developer", "tools": []}, USER], "", "responses"),
    ([USER, {"type": "configuration_update"}], "", "responses"),
    ([USER, {"role": "critic", "content": "x"}], "", "openai"),
    ([USER, {"role": "tool", "content": "4", "tool_call_id": "c"}], "", "openai"),
    ([{**USER, "mood": "good"}], "", "plain"),
    ({"contents": "hello"}, "", "gemini"),
    ({"input": "hello", "model": "gpt-5"}, "", "responses"),
    ({"messages": [USER], "system": "x"}, "", "anthropic"),
    ({"messages": [USER], "model": "claude-sonnet-4-5"}, "", "anthropic"),
    ({"messages": [USER], "model": "gpt-5"}, "", "openai"),
    ([], "", "openai"),
    ([], "gemini-2.5-pro", "gemini"),
]


@pytest.mark.parametrize(("data", "model", "format"), SHAPES)
def test_the_format_is_detected_by_shape(data: Any, model: str, format: Format) -> None:
    items = data if isinstance(data, list) else next(iter(data.values()))
    body = data if isinstance(data, dict) else None
    assert detect(items if isinstance(items, list) else [], body, model) == format


BLOCKS = {"role": "assistant", "content": [{"type": "text", "text": "x"}]}
GUESSES: list[tuple[Any, bool]] = [
    ([USER], True),
    ([{"role": "system", "content": "x"}, USER, BLOCKS], True),
    ({"messages": [USER], "model": "gpt-5", "max_tokens": 5}, True),
    ({"messages": [USER], "model": "claude-sonnet-4-5"}, True),
    ({"messages": [USER], "system": "x"}, False),
    ({"input": [USER]}, False),
    ([USER, {"role": "developer", "content": "x"}], True),
    ([{**USER, "name": "ann"}], True),
    ([{"type": "message", **USER}], False),
    ([{"role": "assistant", "content": "x", "annotations": []}], False),
    ([USER, {"role": "tool", "content": "4"}], False),
    ([{**USER, "timestamp": 1}], False),
    ([{"role": "user", "content": [{"type": "text", "text": "x", "cache_control": {}}]}], False),
    ([{"role": "user", "content": [RESULT]}], False),
    ([{"role": "user", "parts": [{"text": "x"}]}], False),
]


@pytest.mark.parametrize(("data", "guessed"), GUESSES)
def test_an_ambiguous_shape_is_reported_as_a_guess(data: Any, guessed: bool) -> None:
    found = wire.load(data)
    assert found.guessed is guessed
    assert wire.load(data, format=found.format).guessed is False


def test_the_model_is_only_a_guess_where_the_shape_is_ambiguous() -> None:
    found = wire.load([USER], model="claude-sonnet-4-5")
    assert (found.format, found.guessed) == ("anthropic", True)
    assert wire.load([USER, {"role": "user", "content": [RESULT]}]).guessed is False


@pytest.mark.parametrize("format", FORMATS)
@settings(max_examples=max(1, settings().max_examples // 3))
@given(data=st.data())
def test_a_detected_format_loads_and_dumps_unchanged(format: Format, data: st.DataObject) -> None:
    history = data.draw(histories(format))
    found = wire.load(history)
    assert wire.dump(found.messages, found.format).pieces == tuple(wire.to_json(m, "m") for m in history)
