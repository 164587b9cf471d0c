"""What `fifth` compresses in the background: what is past its age, in its own sessions, while it is quiet."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from foveal import Foveal, Session
from foveal.events import Event, Reported
from foveal.presets import PRESETS
from foveal.session.summaries import library
from foveal.store import SessionRecord
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
    session.add("user", "Find out why users are logged out.", timestamp=at)
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
    assert absent(session) == [f"m{number}" for number in range(2, 14)]
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


@pytest.fixture
def left(tmp_path: Path) -> Path:
    """A store whose session has something past its age, left by a process that has ended."""
    with Foveal(tmp_path / "f.db") as fov:
        fov._resources.worker.close()
        talk(fov, at=LONG_AGO)
    return tmp_path / "f.db"


def test_opening_a_session_and_reading_it_changes_nothing(left: Path) -> None:
    with Foveal(left) as fov:
        for session in (fov.open("talk"), fov.session("talk"), fov.session("talk", preset="fifth")):
            session.stats()
            session.search("cookie")
        time.sleep(1)
        assert absent(fov.open("talk")) == []


@pytest.mark.parametrize("change", [lambda s: s.add("user", "And now?"), lambda s: s.build(budget=20_000)])
def test_a_write_or_a_build_is_enough(left: Path, change: Callable[[Session], object]) -> None:
    with Foveal(left) as fov:
        session, deadline = fov.session("talk"), time.monotonic() + SOON
        change(session)
        while not absent(session) and time.monotonic() < deadline:
            time.sleep(0.4)
        assert len(absent(session)) == 12


def test_a_preset_of_another_name_that_compresses_does_so(
    left: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(PRESETS, "foveal", replace(PRESETS["foveal"], manages="compress"))
    with Foveal(left) as fov:
        session = fov.session("other")  # of the default preset, without one of its own
        session.extend(
            [{"role": "user", "content": f"{n}: {TOPIC}", "timestamp": LONG_AGO} for n in range(24)]
        )
        assert fov.settle()
        assert absent(session)


def test_a_change_does_not_make_it_read_all_sessions(fov: Foveal, monkeypatch: pytest.MonkeyPatch) -> None:
    def listed() -> tuple[SessionRecord, ...]:
        raise AssertionError("all sessions were read")

    monkeypatch.setattr(fov._store, "sessions", listed)
    session = talk(fov, at=LONG_AGO)
    assert fov._resources.worker.drain(SOON)
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


def test_what_was_restored_is_not_compressed_again_before_it_is_past_its_age_again(tmp_path: Path) -> None:
    with Foveal(tmp_path / "f.db") as fov:
        session = talk(fov, at=LONG_AGO)
        assert fov.settle()
        assert len(session.restore()) == 12
        assert (fov.settle(), absent(session), session.compress().ids) == (True, [], ())
        fork = fov.fork("talk", "fork")
        session.sync([{"role": "user", "content": "Another beginning."}])
        assert (fov.settle(), absent(session), absent(fork)) == (True, [], [])
    brief = {"fifth": {"working_minutes": 0.01}}
    with Foveal(tmp_path / "f.db") as later, Foveal(tmp_path / "f.db", numbers=brief) as much_later:
        assert (later.settle(), absent(later.open("fork"))) == (True, [])
        time.sleep(0.7)
        assert (much_later.settle(), len(absent(much_later.open("fork")))) == (True, 12)


@pytest.mark.parametrize("queued", [library.QUEUED, 2])
def test_notes_of_every_session_get_the_models_summary(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, queued: int
) -> None:
    monkeypatch.setattr(library, "QUEUED", queued)
    with (
        ModelServer(Reply(text=WRITTEN)) as server,
        Foveal(tmp_path / "f.db", summary_url=server.url, summary_model="small") as fov,
    ):
        sessions = [fov.session(f"talk {number}", model="gpt-5", preset="fifth") for number in range(8)]
        for session in sessions:
            for number in range(24):
                text = f"{session.name}, message {number}: {TOPIC}, day after day after day. "
                session.add("user", 4 * text, timestamp=LONG_AGO)
            session.add("user", "What is next?")
        assert fov.settle()
        found = [note for session in sessions for note in notes(session)]
        assert (len(found) >= 8, [note for note in found if WRITTEN not in note]) == (True, [])


def test_the_model_is_asked_for_what_the_background_compresses(tmp_path: Path) -> None:
    with (
        ModelServer(Reply(text=WRITTEN)) as server,
        Foveal(tmp_path / "f.db", summary_url=server.url, summary_model="small") as fov,
    ):
        session, deadline = talk(fov, at=LONG_AGO), time.monotonic() + SOON
        while not any(WRITTEN in note for note in notes(session)) and time.monotonic() < deadline:
            time.sleep(0.4)
        assert [WRITTEN in note for note in notes(session)] == [True]


def test_a_model_that_fails_leaves_the_extracts(tmp_path: Path) -> None:
    with ModelServer(Reply(text=WRITTEN)) as server:
        pass
    with Foveal(tmp_path / "f.db", summary_url=server.url, summary_model="small") as fov:
        session = talk(fov)
        session.build(budget=400)
        before = notes(session)
        fov.settle(seconds=5)
        assert notes(session) == before != []
