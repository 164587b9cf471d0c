"""A private message is in its own session only: in no other session's window, search or knowledge."""

from __future__ import annotations

from typing import Any

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
