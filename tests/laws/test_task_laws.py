"""The task stays: the newest user message and the standing request are verbatim in every window."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import foveal
from foveal import presets
from foveal.model import Format
from foveal.window import Window
from outputs import TYPES, output
from strategies import FORMATS

pytestmark = pytest.mark.soak
EVERY = settings(max_examples=settings.default.max_examples // 25)
PRESETS = sorted(presets.PRESETS)
REQUEST = "Find the item with the largest amount in sales.csv. Never write to the database."
GO_AHEADS = ("yes", "ok, do it", "Continue.", "thanks, go on", "y")


def user(text: str, format: Format) -> list[Any]:
    if format == "gemini":
        return [{"role": "user", "parts": [{"text": text}]}]
    return [{"role": "user", "content": text}]


def answer(text: str, format: Format) -> list[Any]:
    if format == "gemini":
        return [{"role": "model", "parts": [{"text": text}]}]
    return [{"role": "assistant", "content": text}]


def tool_turn(result: str, format: Format, number: int) -> list[Any]:
    id, arguments = f"call_{number}", {"path": f"part_{number}.txt"}
    text = json.dumps(arguments)
    call = {"id": id, "type": "function", "function": {"name": "read_file", "arguments": text}}
    use = {"type": "tool_use", "id": id, "name": "read_file", "input": arguments}
    turns: dict[Format, list[Any]] = {
        "openai": [
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": id, "content": result},
        ],
        "responses": [
            {"type": "function_call", "call_id": id, "name": "read_file", "arguments": text},
            {"type": "function_call_output", "call_id": id, "output": result},
        ],
        "anthropic": [
            {"role": "assistant", "content": [use]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": result}]},
        ],
        "gemini": [
            {"role": "model", "parts": [{"functionCall": {"name": "read_file", "args": arguments}}]},
            {
                "role": "user",
                "parts": [{"functionResponse": {"name": "read_file", "response": {"output": result}}}],
            },
        ],
        "plain": [
            {"role": "assistant", "content": f"I read part_{number}.txt."},
            {"role": "tool", "content": result},
        ],
    }
    return turns[format]


def texts(window: Window) -> list[str]:
    """The texts of the window's user messages."""
    found = []
    for message in window.messages:
        content = message.get("content", message.get("parts")) if message.get("role") == "user" else None
        parts = content if isinstance(content, list) else [{"text": content}] if content else []
        found += [part["text"] for part in parts if isinstance(part.get("text"), str)]
    return found


def built(history: list[Any], budget: int, format: Format, preset: str, *, own: bool) -> Window:
    """The window of a session; if the preset is its own, it may manage the history first."""
    with foveal.Foveal(":memory:", embedder="none") as fov:
        session = fov.session(model="gpt-5", preset=preset if own else "")
        session.extend(history, format=format)
        return session.build(budget=budget, format=format, preset=preset)


def windows(
    history: list[Any], budget: int, format: Format, preset: str, *, own: bool = True
) -> list[Window]:
    fitted = foveal.fit(history, model="gpt-5", budget=budget, format=format, preset=preset)
    return [fitted, built(history, budget, format, preset, own=own)]


@st.composite
def sessions(draw: st.DrawFn, format: Format) -> tuple[list[Any], set[str]]:
    """A history that ends with a tool result, and the user's words that its windows must have."""
    history = user(REQUEST, format)
    standing, newest = REQUEST, REQUEST
    for number in range(draw(st.integers(1, 8))):
        kind = draw(st.sampled_from(["tool", "tool", "tool", "request", "go-ahead"]))
        if kind == "tool" or number == 0:
            history += tool_turn(output(draw(st.sampled_from(TYPES)), draw(SIZES)), format, number)
            continue
        newest = draw(st.sampled_from(GO_AHEADS))
        if kind == "request":
            standing = newest = f"Write a test for module_{number}.py that covers empty input."
        history += answer(f"Part {number} is done.", format) + user(newest, format)
    history += tool_turn(output(draw(st.sampled_from(TYPES)), draw(SIZES)), format, 99)
    return history, {REQUEST, standing, newest}


SIZES = st.sampled_from([10, 300, 3_000, 30_000])
BUDGETS = st.integers(500, 4_000)


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("preset", PRESETS)
@EVERY
@given(data=st.data())
def test_the_newest_message_and_the_standing_request_are_verbatim_in_every_window(
    preset: str, format: Format, data: st.DataObject
) -> None:
    history, words = data.draw(sessions(format))
    for window in windows(history, data.draw(BUDGETS), format, preset):
        assert words <= set(texts(window))
        assert window.tokens <= window.budget
        assert not window.manifest.warnings


def command_turn(result: str, format: Format, number: int) -> list[Any]:
    """A command in a fenced block, and its output as a message of the user."""
    command = f"Next step.\n```bash\ncat part_{number}.txt\n```"
    return answer(command, format) + user(result, format)


@st.composite
def command_sessions(draw: st.DrawFn, format: Format) -> tuple[list[Any], set[str]]:
    """Like `sessions`, without tool calls: commands are fenced blocks."""
    history = user(REQUEST, format)
    standing, newest = REQUEST, REQUEST
    for number in range(draw(st.integers(1, 8))):
        history += command_turn(output(draw(st.sampled_from(TYPES)), draw(SIZES)), format, number)
    if draw(st.booleans()):
        newest = draw(st.sampled_from(GO_AHEADS))
        if draw(st.booleans()):
            standing = newest = "Write a test for the parser that covers empty input."
        history += answer("That part is done.", format) + user(newest, format)
        history += command_turn(output(draw(st.sampled_from(TYPES)), draw(SIZES)), format, 97)
        history += command_turn(output(draw(st.sampled_from(TYPES)), draw(SIZES)), format, 98)
    history += command_turn(output(draw(st.sampled_from(TYPES)), draw(SIZES)), format, 99)
    return history, {REQUEST, standing, newest}


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("preset", PRESETS)
@EVERY
@given(data=st.data())
def test_the_output_of_a_fenced_command_displaces_no_words_of_the_user(
    preset: str, format: Format, data: st.DataObject
) -> None:
    history, words = data.draw(command_sessions(format))
    for window in windows(history, data.draw(BUDGETS), format, preset):
        assert words <= set(texts(window))
        assert window.tokens <= window.budget
        assert not window.manifest.warnings


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("preset", PRESETS)
@EVERY
@given(data=st.data())
def test_a_message_that_must_be_cut_leaves_room_for_the_standing_request(
    preset: str, format: Format, data: st.DataObject
) -> None:
    history = user(REQUEST, format)
    for number in range(data.draw(st.integers(0, 5))):
        history += tool_turn(output("log", data.draw(SIZES)), format, number)
    budget = data.draw(BUDGETS)
    paste = "Here is the trace. " + "Frame 7 is at line 1 of module x. " * budget + "Which part is wrong?"
    for window in windows(
        [*history, *answer("Show me.", format), *user(paste, format)], budget, format, preset
    ):
        assert REQUEST in texts(window)
        (shown,) = (text for text in texts(window) if text.startswith("Here is the trace. "))
        assert shown.endswith("Which part is wrong?")
        (warning,) = window.manifest.warnings
        assert "newest user message" in warning


@pytest.mark.parametrize("preset", PRESETS)
def test_a_request_that_must_be_cut_leaves_room_for_the_open_turn_and_what_was_done(preset: str) -> None:
    long = f"{REQUEST} " + " ".join(f"Row {n} is item_{n}." for n in range(3_000))
    history = user(long, "openai")
    for number in range(40):
        history += tool_turn(output("log", 1_000), "openai", number)
    failure = "\n".join(f"test_{n} passed" for n in range(300)) + "\nFAILED test_last: KeyError: 'amount'"
    history += tool_turn(failure, "openai", 99)
    for window in windows(history, 6_000, "openai", preset, own=False):
        parts = window.manifest.parts
        assert 0.5 * 6_000 < parts["requests"] <= 0.6 * 6_000
        assert "KeyError: 'amount'" in window.messages[-1]["content"]
        assert parts["requests"] + parts["open turn"] < 0.85 * 6_000


@pytest.mark.parametrize("preset", PRESETS)
def test_a_standing_request_that_is_cut_or_left_out_is_warned_of(preset: str) -> None:
    long = f"{REQUEST} " + " ".join(f"Row {n} is item_{n}." for n in range(1_000))
    history = [*user(long, "openai"), *answer("All rows are read.", "openai")]
    for request, done in (
        ("Write a test for the parser.", "cut"),
        ("Look at this. " + "word " * 1_950, "left"),
    ):
        for window in windows([*history, *user(request, "openai")], 2_000, "openai", preset):
            (warning,) = window.manifest.warnings
            assert "standing request (message 1)" in warning
            assert done in warning.split(":")[-1]
            assert request in texts(window)


@pytest.mark.parametrize("type", TYPES)
@pytest.mark.parametrize("preset", PRESETS)
def test_a_large_tool_result_does_not_displace_the_request(preset: str, type: str) -> None:
    for size in (10_000, 100_000):
        history = [*user(REQUEST, "openai"), *tool_turn(output(type, size), "openai", 1)]
        for window in windows(history, 2_000, "openai", preset):
            assert REQUEST in texts(window)
            assert window.messages[-1]["role"] == "tool"


@pytest.mark.parametrize("preset", PRESETS)
def test_the_only_request_of_a_long_run_is_not_turned_into_a_record(preset: str) -> None:
    history = user(REQUEST, "openai")
    for number in range(40):
        history += tool_turn(output("log", 2_000), "openai", number)
    for window in windows(history, 8_000, "openai", preset):
        assert REQUEST in texts(window)


@pytest.mark.parametrize("preset", PRESETS)
def test_a_message_that_exceeds_the_room_is_cut_at_its_middle_with_a_warning(preset: str) -> None:
    long = f"{REQUEST} " + " ".join(f"Row {n} is item_{n}." for n in range(2_000)) + " That was the last row."
    for history in (user(long, "openai"), [*user(long, "openai"), *tool_turn("ok", "openai", 1)]):
        for window in windows(history, 1_000, "openai", preset):
            (text,) = (text for text in texts(window) if text.startswith(REQUEST))
            assert text.endswith("That was the last row.")
            assert "characters cut" in text
            assert any("newest user message" in warning for warning in window.manifest.warnings)
            assert window.tokens > 700


@pytest.mark.parametrize("preset", PRESETS)
def test_a_call_that_needs_all_the_room_is_answered_without_the_request(preset: str) -> None:
    history = [*user(REQUEST, "openai"), *tool_turn("ok", "openai", 1)]
    history[1]["tool_calls"][0]["function"]["arguments"] = json.dumps({"text": "word " * 300})
    least = foveal.count_tokens(history[1:])
    for window in windows(history, least + 20, "openai", preset):
        assert window.messages[-2:] == history[-2:]
        assert window.manifest.warnings


@pytest.mark.parametrize("preset", PRESETS)
def test_the_open_turn_leaves_room_for_what_came_before(preset: str) -> None:
    history = user(REQUEST, "openai")
    for number in range(30):
        history += tool_turn(output("log", 3_000), "openai", number)
    history += tool_turn(output("csv", 100_000), "openai", 99)
    for window in windows(history, 8_000, "openai", preset, own=False):
        assert window.manifest.parts["open turn"] <= 0.6 * 8_000
