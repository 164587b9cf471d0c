"""What is an error, and what resolved it. Read the test names: they are the spec."""

from __future__ import annotations

import time
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foveal.model import Message, Role, Text, ToolCall, ToolResult
from foveal.pipeline.summarize.failures import MAX_OPEN, FailureTracker, ResolvedError, error_lines

NULL = "TypeError: user is null at auth.js:45"


def said(role: Role, text: str) -> Message:
    return Message(role=role, parts=(Text(text=text),), format="plain")


def call(command: str, id: str = "c1") -> Message:
    return Message(role="assistant", parts=(ToolCall(id=id, name="run", arguments=command),), format="openai")


def result(text: str, id: str = "c1", *, error: bool = False) -> Message:
    part = ToolResult(call_id=id, parts=(Text(text=text),), error=error)
    return Message(role="tool", parts=(part,), format="openai")


def links(messages: Sequence[Message], *, first: int = 0) -> tuple[ResolvedError, ...]:
    tracker = FailureTracker()
    found = [each for seq, message in enumerate(messages, first) for each in tracker.read(message, seq)]
    return tuple(sorted(found, key=lambda each: (each.error_seq, each.resolution_seq)))


def places(*messages: Message) -> list[tuple[int, int]]:
    return [(each.error_seq, each.resolution_seq) for each in links(messages)]


@pytest.mark.parametrize(
    "line",
    [
        NULL,
        "ERROR: relation does not exist",
        "2026-01-02 10:00:01 [error] upstream gone",
        "fatal: not a git repository",
        "java.io.IOException: broken pipe",
        "bash: frob: command not found",
        "process exited with code 1",
        "FAILED tests/test_auth.py::test_login - AssertionError",
        "connect: Connection refused",
        "npm ERR! missing script",
        "tests/test_auth.py::test_login FAILED",
    ],
)
def test_a_line_that_reports_an_error_is_one(line: str) -> None:
    assert len(error_lines(f"starting\n{line}\nbye")) == 1


@pytest.mark.parametrize(
    "line",
    [
        "def handle_error(self):",
        "3 passed",
        "the error handler works",
        "exit code 0",
        "terror: no",
        "FAIL",
        "Exit code 1",
    ],
)
def test_a_line_that_only_has_such_a_word_is_none(line: str) -> None:
    assert error_lines(line) == ()


def test_code_that_handles_errors_reports_none() -> None:
    listing = (
        "import sys\ndef run(path):\n    try:\n        return open(path)\n    except OSError:\n        raise"
    )
    assert error_lines(listing) == ()
    assert error_lines('   11→if err != nil {\n   12→\tt.Fatalf("stop failed: %v", err)\n   13→}') == ()


def test_the_same_error_at_another_time_and_address_is_the_same() -> None:
    one, other = "10:00:01 Error: gone at 0x7f3a for 42", "  11:59:58 Error:  gone at 0x11 for 1042"
    assert error_lines(one) == error_lines(other)


def test_saying_that_it_is_fixed_resolves_it() -> None:
    assert places(result(NULL), said("assistant", "Fixed: auth.js now checks for null.")) == [(0, 1)]


def test_the_user_may_say_it_too() -> None:
    assert places(said("user", f"I get {NULL}"), said("user", "Never mind, it works now.")) == []
    assert places(said("user", f"I get {NULL}"), said("user", "Great, it works now.")) == [(0, 1)]


@pytest.mark.parametrize(
    "text",
    [
        "It is not fixed.",
        "Is it fixed?",
        "It should be fixed by tomorrow.",
        "Still not resolved.",
        "It isn't solved.",
    ],
)
def test_hoping_asking_and_denying_resolve_nothing(text: str) -> None:
    assert places(result(NULL), said("assistant", text)) == []


def test_what_a_tool_prints_resolves_nothing_by_its_words() -> None:
    assert places(result(NULL), result("All errors are fixed.", id="c9")) == []


def test_pasted_text_resolves_nothing() -> None:
    assert places(result(NULL), said("user", "The page says:\nThis is fixed.")) == []


def test_the_same_call_without_an_error_resolves_it() -> None:
    assert places(call("npm test"), result(NULL), call(" npm  test", "c2"), result("ok", "c2")) == [(1, 3)]


def test_another_call_without_an_error_does_not() -> None:
    assert places(call("npm test"), result(NULL), call("ls", "c2"), result("ok", "c2")) == []


def test_a_result_that_is_marked_as_an_error_is_one_whatever_it_says() -> None:
    again = (call("frob", "c2"), result("done", "c2"))
    assert places(call("frob"), result("nope\nsee above", error=True), *again) == [(1, 3)]


def test_a_result_that_is_marked_as_an_error_resolves_nothing() -> None:
    again = (call("frob", "c2"), result("", "c2", error=True))
    assert places(call("frob"), result(NULL), *again) == []


def test_of_several_errors_the_one_that_is_named_is_meant() -> None:
    other = result("ConnectionError: redis is down")
    assert places(result(NULL), other, said("assistant", "Fixed the null in auth.js.")) == [(0, 2)]


def test_where_none_is_named_the_newest_is_meant() -> None:
    other = result("ConnectionError: redis is down")
    assert places(result(NULL), other, said("assistant", "That did it.")) == [(1, 2)]


def test_the_first_message_that_resolves_it_counts() -> None:
    fixed = said("assistant", "Fixed.")
    assert places(result(NULL), fixed, fixed) == [(0, 1)]


def test_an_error_that_comes_back_is_resolved_again() -> None:
    fixed = said("assistant", "Fixed.")
    assert places(result(NULL), fixed, result(NULL), fixed) == [(0, 1), (2, 3)]


def test_positions_count_from_where_the_stretch_starts() -> None:
    found = links([result("Error: gone"), said("assistant", "Fixed.")], first=100)
    assert found == (ResolvedError(error_seq=100, resolution_seq=101, line="error: gone"),)


def test_of_too_many_open_errors_the_oldest_are_given_up() -> None:
    names = [one + other for one in "abcdef" for other in "uvwxyz"]
    errors, fixed = [result(f"Error: {name} is gone") for name in names], said("assistant", "Fixed au.")
    assert places(*errors[:MAX_OPEN], fixed) == [(0, MAX_OPEN)]
    assert places(*errors[: MAX_OPEN + 1], fixed) == [(MAX_OPEN, MAX_OPEN + 1)]


@given(
    st.lists(
        st.sampled_from([result(NULL), said("assistant", "Fixed."), call("x"), result("ok")]), max_size=12
    )
)
def test_a_resolution_always_comes_after_its_error(messages: list[Message]) -> None:
    assert all(error < resolution for error, resolution in places(*messages))


@pytest.mark.parametrize("piece", ["a", " ", "[", ":", "Error", "0", "a.", "exit "])
def test_a_million_characters_take_no_time(piece: str) -> None:
    text = piece * (1_000_000 // len(piece))
    started = time.process_time()
    links([result(text), said("user", text), said("assistant", text)])
    assert time.process_time() - started < 1
