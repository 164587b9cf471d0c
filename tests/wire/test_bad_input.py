"""Input that cannot be stored or sent is refused with its position and a remedy."""

from __future__ import annotations

from typing import Any

import pytest

from foveal import wire
from foveal.errors import InputError

USER = {"role": "user", "content": "hello"}


def deep(levels: int) -> Any:
    value: Any = "x"
    for _ in range(levels):
        value = [value]
    return value


REFUSED: list[tuple[Any, str]] = [
    ("hello", "messages are str of 5, not a list"),
    (None, "messages are of type NoneType"),
    (7, "messages are of type int"),
    ({"model": "gpt-5"}, "an object without messages; its keys are `model`"),
    ({"messages": 5}, "`messages` is of type int"),
    ([USER, 5], r"messages\[1\] is of type int, not an object"),
    ([USER, {"role": 5, "content": "x"}], r"messages\[1\]: `role` is of type int; this format knows"),
    ([USER, {"role": " ", "content": "x"}], r"messages\[1\]: `role` is ' '; this format knows"),
    ([{"content": "x"}], r"messages\[0\]: `role` is missing or null"),
    ([{"role": "user"}], r"messages\[0\]: `content` is missing"),
    ([{"role": "user", "content": 5}], r"messages\[0\]: `content` is of type int, not text or a list"),
    ([{"role": "user", "content": ["x"]}], r"messages\[0\]: `content\[0\]` is 'x', not an object"),
    ([{"role": "assistant", "content": "x", "tool_calls": "x"}], "`tool_calls` is 'x', not a list"),
    ([{"role": "user", "parts": "x"}], r"messages\[0\]: `parts` is 'x', not a list"),
    ([{"role": "user", "content": [{"type": "text"}]}], r"messages\[0\]: content\[0\]: `text` is missing"),
    ([{"role": "user", "content": [{"type": "text", "text": 5}]}], "`text` is of type int, not text"),
    ([{"role": "user", "content": [{"type": "input_text"}]}], r"content\[0\]: `text` is missing"),
    ([{"role": "user", "content": [{"type": "refusal"}]}], r"content\[0\]: `refusal` is missing"),
    (
        {"system": [{"type": "text"}], "messages": [USER]},
        r"request: `system`: system\[0\]: `text` is missing",
    ),
    ([USER, {**USER, "x": {"y": [1, float("nan")]}}], r"messages\[1\]: `x.y\[1\]` is nan"),
    ([{**USER, "x": float("inf")}], r"messages\[0\]: `x` is inf"),
    ([{**USER, "x": b"bytes"}], r"messages\[0\]: `x` is a bytes, not a JSON value"),
    ([{**USER, "x": {1: 2}}], r"messages\[0\]: `x` has the key 1, which is not text"),
    ([USER, {1: 2}], r"messages\[1\]: has the key 1, which is not text"),
    ({1: 2}, "request: has the key 1, which is not text"),
    ({"messages": [USER], "tools": {1: 2}}, "request: `tools`: has the key 1"),
    ([{**USER, "x": deep(300)}], "is nested deeper than 200 levels"),
    ([{**USER, "x": deep(100_000)}], "is nested deeper than 200 levels"),
    ([{"role": "user", "content": "x" * (32 * 1024 * 1024)}], r"messages\[0\] is 33,554,4[0-9]{2} bytes"),
    ({"messages": [USER], "tools": [{"x": float("nan")}]}, r"request: `tools`: `\[0\].x` is nan"),
    ({"messages": [USER], "instructions": "x"}, "request: `instructions` is outside the messages"),
]


@pytest.mark.parametrize(("data", "what"), REFUSED, ids=[what for _, what in REFUSED])
def test_refused_with_the_place_and_a_remedy(data: Any, what: str) -> None:
    with pytest.raises(InputError, match=what) as failure:
        wire.load(data)
    assert failure.value.remedy
    assert failure.value.field


def test_an_unknown_format_is_refused() -> None:
    with pytest.raises(InputError, match="unknown format 'cohere'") as failure:
        wire.load([USER], format="cohere")  # type: ignore[arg-type]
    assert "`anthropic`" in failure.value.remedy


@pytest.mark.parametrize("content", [None, ""])
def test_a_reply_that_only_calls_tools_needs_no_content(content: str | None) -> None:
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    (message,) = wire.load([{"role": "assistant", "content": content, "tool_calls": [call]}]).messages
    assert (message.calls[0].id, message.flaw) == ("c", "")


@pytest.mark.parametrize(
    ("message", "flaw"),
    [
        ({"role": "tool", "tool_call_id": "c", "content": None}, "`content` is null"),
        ({"role": "assistant", "content": "x", "tool_calls": []}, "`tool_calls` is empty"),
        ({"role": "assistant", "parts": [{"text": "x"}]}, "Gemini's name of the assistant is `model`"),
    ],
)
def test_a_flaw_of_the_body_alone_is_named_and_repaired_by_writing_it_again(
    message: dict[str, Any], flaw: str
) -> None:
    assert wire.load([message]).messages[0].flaw == flaw
