"""A fork begins as the session did, with its marks, and goes its own way."""

from __future__ import annotations

from typing import Any

import pytest

from foveal import Foveal, InputError, NotFoundError, Session


def original(fov: Foveal) -> Session:
    session = fov.session("first", model="gpt-5", preset="omar")
    session.extend([{"role": "user", "content": text} for text in ("one", "two", "three")])
    session.add("user", "four", important=True, kind="rag_document_chunk", level="permanent")
    session.pin("m1")
    session.forget("m2")
    session.forget("m3", erase=False)
    return session


def test_everything_is_copied_except_erased_messages() -> None:
    with Foveal(":memory:") as fov:
        session = original(fov)
        fork = fov.fork("first", "second")
        assert fork.export() == session.export()
        assert (fork.model, fork.preset, fork.format) == (session.model, session.preset, session.format)


def test_marks_are_copied() -> None:
    with Foveal(":memory:") as fov:
        original(fov)
        first, left, last = fov.fork("first", "second").entries()
    assert (first.pinned, left.absence) == (True, "left out")
    assert (last.important, last.kind, last.level) == (True, "rag_document_chunk", "permanent")


def test_only_the_requested_number_of_messages_is_copied() -> None:
    with Foveal(":memory:") as fov:
        original(fov)
        assert len(fov.fork("first", "second", messages=1).entries()) == 1
        assert fov.fork("first", "third", messages=0).entries() == ()


def test_neither_session_sees_later_messages_of_the_other() -> None:
    with Foveal(":memory:") as fov:
        session = original(fov)
        fork = fov.fork("first", "second")
        fork.add("user", "another way")
        assert len(session.entries()) == 4
        fov.delete("first")
        assert fork.export()[0] == {"role": "user", "content": "one"}


def test_messages_that_a_note_covers_are_shown_again() -> None:
    with Foveal(":memory:") as fov:
        session = fov.session("long")
        session.extend([{"role": "user", "content": f"step {number}"} for number in range(20)])
        assert session.summarize(2).ids
        assert not any(entry.absence for entry in fov.fork("long", "again").entries())


def test_a_name_that_is_taken_is_refused_and_nothing_is_created() -> None:
    with Foveal(":memory:") as fov:
        original(fov)
        with pytest.raises(InputError, match="there is a session 'first' already"):
            fov.fork("first", "first")
        assert len(fov.sessions()) == 1


@pytest.mark.parametrize("given", [{"new": " "}, {"new": "b", "messages": -1}, {"new": "b", "messages": "2"}])
def test_invalid_arguments_are_refused_and_nothing_is_created(given: Any) -> None:
    with Foveal(":memory:") as fov:
        fov.session("a").add("user", "hello")
        with pytest.raises(InputError):
            fov.fork("a", **given)
        assert [record.name for record in fov.sessions()] == ["a"]


def test_a_session_that_does_not_exist_is_neither_opened_nor_forked() -> None:
    with Foveal(":memory:") as fov:
        for attempt in (lambda: fov.open("none"), lambda: fov.fork("none", "other")):
            with pytest.raises(NotFoundError):
                attempt()
        assert fov.sessions() == ()
