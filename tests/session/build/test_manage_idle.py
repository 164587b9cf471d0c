"""What `fifth` compresses in the background: what is past its age, in its own sessions, while it is quiet."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from foveal import Foveal, Session
from foveal.events import Event, Reported
from foveal.testing.model_server import ModelServer, Reply

TOPIC = "the login flow of src/auth.js drops the session cookie when the token expires"
LONG_AGO = 1_000.0
SOON = 20.0


@pytest.fixture
def brief(tmp_path: Path) -> Iterator[Foveal]:
    """A store where working memory is compressed after a second and a half."""
    with Foveal(tmp_path / "f.db", numbers={"fifth": {"working_minutes": 0.025}}) as fov:
        yield fov


def talk(fov: Foveal, preset: str = "fifth", at: float | None = None) -> Session:
    session = fov.session("talk", model="gpt-5", preset=preset)
    for number in range(12):
        session.add("user", f"Message {number}: {TOPIC}, day after day after day.", timestamp=at)
    session.add("user", "What is next?")
    return session


def absent(session: Session) -> list[str]:
    return [entry.id for entry in session.entries() if entry.absence]


def test_what_is_past_its_age_is_compressed_without_being_asked(brief: Foveal) -> None:
    session, deadline = talk(brief), time.monotonic() + SOON
    assert absent(session) == []
    while len(absent(session)) < 12 and time.monotonic() < deadline:
        time.sleep(0.3)
    assert absent(session) == [f"m{number}" for number in range(1, 13)]
    assert session.stats().last_compression is not None
    assert len(session.restore()) == 12


def test_only_what_is_past_its_age_is_compressed(fov: Foveal) -> None:
    session = talk(fov)
    assert fov.settle()
    assert absent(session) == []


def test_session_memory_has_its_own_age(fov: Foveal) -> None:
    session = fov.session("talk", model="gpt-5", preset="fifth")
    for level in ("session", "working"):
        for number in range(12):
            session.add("user", f"{level} {number}: {TOPIC}.", level=level, timestamp=time.time() - 600)
    session.add("user", "What is next?")
    assert fov.settle()
    assert absent(session) == [f"m{number}" for number in range(13, 25)]


@pytest.mark.parametrize("preset", ["", "foveal", "recent", "reploid"])
def test_sessions_of_other_presets_are_left_alone(fov: Foveal, preset: str) -> None:
    session = talk(fov, preset, LONG_AGO)
    session.build(preset="recent")
    assert fov.settle()
    assert absent(session) == []


def test_what_a_closed_process_left_is_done_by_the_next_one_and_never_twice(tmp_path: Path) -> None:
    events: list[Event] = []
    with Foveal(tmp_path / "f.db") as fov:
        talk(fov, at=LONG_AGO)
    for _ in range(2):
        with Foveal(tmp_path / "f.db") as fov:
            fov.subscribe(events.append)
            assert fov.settle()
            assert len(absent(fov.session("talk"))) == 12
    assert [event.name for event in events if isinstance(event, Reported)] == ["context:compressed"]


def test_two_processes_compress_it_once(tmp_path: Path) -> None:
    with Foveal(tmp_path / "f.db") as one, Foveal(tmp_path / "f.db") as other:
        session = talk(one, at=LONG_AGO)
        assert (one.settle(), other.settle()) == (True, True)
        assert session.stats().summaries == 1


def test_a_deleted_session_is_forgotten(fov: Foveal) -> None:
    talk(fov, at=LONG_AGO)
    fov.delete("talk")
    assert fov.settle()


def test_opening_a_session_is_enough(tmp_path: Path) -> None:
    with Foveal(tmp_path / "f.db") as fov:
        talk(fov, at=LONG_AGO)
    with Foveal(tmp_path / "f.db") as fov:
        session, deadline = fov.session("talk"), time.monotonic() + SOON
        while not absent(session) and time.monotonic() < deadline:
            time.sleep(0.4)
        assert len(absent(session)) == 12


WRITTEN = "The login in src/auth.js loses its cookie, says the model."


def notes(session: Session) -> list[str]:
    return [entry.stand_in for entry in session.entries() if entry.stand_in]


def test_a_model_writes_the_notes_of_a_build_later(tmp_path: Path) -> None:
    with (
        ModelServer(Reply(text=WRITTEN)) as server,
        Foveal(tmp_path / "f.db", summary_url=server.url, summary_model="small") as fov,
    ):
        session = talk(fov)
        session.build(budget=400)
        assert notes(session)
        assert WRITTEN not in notes(session)[0]
        assert fov.settle()
        assert WRITTEN in notes(session)[0]
        asked = len(server.received)
        session.build(budget=400)
        assert (fov.settle(), len(server.received)) == (True, asked)


def test_a_model_that_fails_leaves_the_extracts(tmp_path: Path) -> None:
    with ModelServer(Reply(text=WRITTEN)) as server:
        pass
    with Foveal(tmp_path / "f.db", summary_url=server.url, summary_model="small") as fov:
        session = talk(fov)
        session.build(budget=400)
        before = notes(session)
        fov.settle(seconds=5)
        assert notes(session) == before != []
