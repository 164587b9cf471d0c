"""A private message is in its own session only: in no other session's window, search or knowledge."""

from __future__ import annotations

from typing import Any, Literal

import pytest

from foveal import Foveal, Session
from foveal.errors import InputError, NotFoundError

SECRET = "My badge number is 90417 and I live in Ghent."
SHARED = "The badge reader is in the lobby."
CALL = {"id": "c1", "type": "function", "function": {"name": "read", "arguments": "{}"}}


@pytest.fixture
def other(fov: Foveal, session: Session) -> Session:
    session.add("user", SECRET, private=True)
    session.add("user", SHARED)
    other = fov.session("other", model="gpt-5", preset="openscroll")
    other.add("user", "Where is the badge reader, and what is my badge number?")
    fov.settle()
    return other


def handle_of(session: Session) -> str:
    return next(entry.handle for entry in session.entries() if entry.private)


def test_its_own_session_shows_finds_and_recalls_it(session: Session, other: Session) -> None:
    assert SECRET in str(session.build(budget=1_000).messages)
    assert session.search("badge number")[0].text == SECRET
    assert session.recall(handle_of(session))["content"] == SECRET


def test_no_search_in_other_sessions_finds_it(session: Session, other: Session) -> None:
    hits = [
        hit.text for hit in (*other.search("badge", everywhere=True), *other.search("Ghent", everywhere=True))
    ]
    assert SHARED in hits
    assert SECRET not in hits


def test_no_other_session_recalls_it(session: Session, other: Session) -> None:
    with pytest.raises(NotFoundError):
        other.recall(handle_of(session), everywhere=True)


def test_no_window_of_another_session_has_it(other: Session) -> None:
    window = str(other.build(budget=2_000, preset="openscroll").messages)
    assert SHARED in window
    assert "90417" not in window


def test_nothing_in_it_becomes_known_of_the_user(fov: Foveal, session: Session) -> None:
    session.add("user", "My name is Odile Vermeulen.", private=True)
    session.add("user", "My favourite editor is Helix.")
    fov.settle()
    assert "Odile" not in str(fov.profile())
    assert "Helix" in str(fov.profile())


def test_a_fork_of_the_session_does_not_have_it(fov: Foveal, session: Session, other: Session) -> None:
    assert SECRET not in str(fov.fork("work", "copy").export())


def test_an_edited_history_keeps_it_private(session: Session) -> None:
    session.sync([{"role": "user", "content": "a"}, {"role": "user", "content": "b", "private": True}])
    session.sync([{"role": "user", "content": "x"}, {"role": "user", "content": "b", "private": True}])
    assert [entry.private for entry in session.entries()] == [False, True]


def test_a_result_of_a_private_call_is_private(session: Session) -> None:
    session.extend([{"role": "assistant", "content": None, "tool_calls": [CALL], "private": True}])
    session.extend([{"role": "tool", "tool_call_id": "c1", "content": "90417"}])
    session.extend([{"role": "assistant", "content": "done"}])
    assert [entry.private for entry in session.entries()] == [True, True, False]


def test_an_export_can_be_imported_as_private_again(fov: Foveal, session: Session, other: Session) -> None:
    copy = fov.session("copy")
    copy.extend(session.export())
    assert [entry.private for entry in copy.entries()] == [True, False]


Given = Literal["openai", "anthropic", "responses", "gemini", "plain"]
FORMATS: list[Given] = ["openai", "anthropic", "responses", "gemini", "plain"]
RESULT = {"role": "tool", "tool_call_id": "c1", "content": SECRET}
ANSWERED = {
    "openai": {"role": "assistant", "content": "Fine."},
    "plain": {"role": "assistant", "content": "Fine."},
    "responses": {"role": "assistant", "content": "Fine."},
    "anthropic": {"role": "assistant", "content": [{"type": "text", "text": "Fine."}]},
    "gemini": {"role": "model", "parts": [{"text": "Fine."}]},
}


def is_found_elsewhere(fov: Foveal, name: str = "work") -> bool:
    finder = fov.session("finder", model="gpt-5")
    found = finder.search("badge number", everywhere=True)
    return SECRET in str(found) or SECRET in str(fov.fork(name, "copy").export())


@pytest.mark.parametrize("format", FORMATS)
def test_a_window_that_comes_back_keeps_it_private_in_every_format(
    fov: Foveal, session: Session, format: Given
) -> None:
    session.add("user", SECRET, private=True)
    window = session.build(budget=1_000, format=format)
    session.sync([*window.messages, ANSWERED[format]], format=format)
    assert [(entry.role, entry.private) for entry in session.entries()] == [
        ("user", True),
        ("assistant", False),
    ]
    assert not is_found_elsewhere(fov)


@pytest.mark.parametrize("format", ["openai", "plain"])
def test_a_recorded_history_that_repeats_it_is_not_stored_twice(
    fov: Foveal, session: Session, format: Given
) -> None:
    session.extend([{"role": "user", "content": SECRET, "private": True}], format="plain")
    session.resume([{"role": "user", "content": SECRET}, ANSWERED[format]], format=format)
    assert [entry.private for entry in session.entries()] == [True, False]
    assert not is_found_elsewhere(fov)


def test_what_was_private_on_an_earlier_branch_comes_back_as_private(fov: Foveal, session: Session) -> None:
    session.sync([{"role": "user", "content": SECRET, "private": True}], format="plain")
    session.sync([{"role": "user", "content": "other"}], format="plain")
    session.sync([{"role": "user", "content": SECRET}, ANSWERED["plain"]], format="plain")
    assert [entry.private for entry in session.entries()] == [True, False]
    assert not is_found_elsewhere(fov)


def test_a_private_message_that_another_one_quotes_leaves_that_one_as_it_is(session: Session) -> None:
    session.add("user", "Ghent", private=True)
    session.extend([{"role": "user", "content": "Ghent is in Belgium."}, {**ANSWERED["plain"]}])
    assert [entry.private for entry in session.entries()] == [True, False, False]


@pytest.mark.parametrize(
    "first",
    [{"role": "user", "content": SECRET}, {"role": "user", "content": [{"type": "text", "text": SECRET}]}],
)
def test_a_message_that_is_marked_later_is_not_found_on_the_branch_before(
    fov: Foveal, session: Session, first: Any
) -> None:
    session.sync([first, ANSWERED["plain"]], format="plain")
    session.sync([{"role": "user", "content": SECRET, "private": True}, ANSWERED["plain"]], format="plain")
    assert not is_found_elsewhere(fov)


def test_marking_another_session_s_message_hides_nothing_of_this_one(fov: Foveal, session: Session) -> None:
    session.sync([{"role": "user", "content": SECRET}])
    session.sync([{"role": "user", "content": "other"}])
    fov.session("second").sync([{"role": "user", "content": SECRET, "private": True}], format="plain")
    session.sync([{"role": "user", "content": SECRET}])
    assert [entry.private for entry in session.entries()] == [False]


def test_a_result_that_arrives_after_other_words_is_private(fov: Foveal, session: Session) -> None:
    session.extend([{"role": "assistant", "content": None, "tool_calls": [CALL], "private": True}])
    session.add("user", "Be quick.")
    session.extend([RESULT])
    assert [entry.private for entry in session.entries()] == [True, False, True]
    assert not is_found_elsewhere(fov)


def test_a_result_belongs_to_the_latest_call_with_its_id(session: Session) -> None:
    call = {"role": "assistant", "content": None, "tool_calls": [CALL]}
    session.extend([{**call, "private": True}, {**RESULT, "content": "one"}])
    session.extend([{"role": "user", "content": "Again."}, call_of("other"), {**RESULT, "content": "two"}])
    assert [entry.private for entry in session.entries()] == [True, True, False, False, False]


def call_of(name: str) -> dict[str, Any]:
    call = {**CALL, "function": {"name": name, "arguments": "{}"}}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


@pytest.mark.parametrize("private", [True, False])
def test_a_result_without_an_id_belongs_to_the_latest_call_of_its_tool(
    session: Session, private: bool
) -> None:
    session.extend([{**call_of("read"), "private": private}], format="plain")
    response = {"functionResponse": {"name": "read", "response": {"output": SECRET}}}
    session.extend([{"role": "user", "parts": [response]}], format="gemini")
    assert [entry.private for entry in session.entries()] == [private, private]


MARKED = {
    "openai": {"role": "user", "content": SECRET, "private": True},
    "responses": {"role": "user", "content": SECRET, "private": True},
    "anthropic": {"role": "user", "content": [{"type": "text", "text": SECRET}], "private": True},
    "gemini": {"role": "user", "parts": [{"text": SECRET}], "private": True},
    "plain": {"role": "user", "content": SECRET, "private": True},
}


@pytest.mark.parametrize("format", FORMATS)
def test_a_message_of_any_format_can_be_marked(fov: Foveal, session: Session, format: Given) -> None:
    session.extend([MARKED[format]], format=format)
    assert [entry.private for entry in session.entries()] == [True]
    assert not is_found_elsewhere(fov)
    assert session.export() == [MARKED[format]]


@pytest.mark.parametrize("written", FORMATS)
@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("private", [True, False])
def test_no_window_has_the_field_of_any_format(
    session: Session, format: Given, written: Given, private: bool
) -> None:
    session.extend([{**MARKED[format], "private": private}], format=format)
    assert "private" not in str(session.build(budget=1_000, format=written).messages)


def test_a_marked_call_of_responses_is_sent_without_the_field(session: Session) -> None:
    call = {"type": "function_call", "call_id": "c1", "name": "read", "arguments": '{"private": true}'}
    result = {"type": "function_call_output", "call_id": "c1", "output": "x"}
    session.extend([{**call, "private": True}, result], format="responses")
    assert [entry.private for entry in session.entries()] == [True, True]
    assert list(session.build(budget=1_000, format="responses").messages)[-2:] == [call, result]


def test_a_mark_counts_where_a_later_message_shows_the_format(session: Session) -> None:
    call = {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "x", "input": {}}]}
    session.extend([MARKED["plain"], call])
    assert [entry.private for entry in session.entries()] == [True, False]


@pytest.mark.parametrize("format", FORMATS)
def test_an_invalid_mark_is_an_error_in_every_format(session: Session, format: Given) -> None:
    with pytest.raises(InputError, match="`private`"):
        session.extend([{**MARKED[format], "private": "yes"}], format=format)


@pytest.mark.parametrize("wrong", ["yes", 1, []])
def test_private_is_true_or_false(session: Session, wrong: Any) -> None:
    with pytest.raises(InputError, match="`private`"):
        session.add("user", "x", private=wrong)
    with pytest.raises(InputError, match="`private`"):
        session.extend([{"role": "user", "content": "x", "private": wrong}])


def test_providers_never_see_the_field(session: Session) -> None:
    session.add("user", SECRET, private=True)
    for format in ("openai", "anthropic", "responses"):
        assert "private" not in str(session.build(budget=1_000, format=format).messages)
