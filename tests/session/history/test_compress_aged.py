"""What the background compresses at a time, and what it does not look at again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from foveal import Foveal, Session
from foveal.session.history import stand_ins
from foveal.session.history.compress import BATCH, NOTES_MOST, compress_aged

TOPIC = "the login flow of src/auth.js drops the session cookie when the token expires"


@pytest.fixture
def fov(tmp_path: Path) -> Iterator[Foveal]:
    """A store without work in the background."""
    with Foveal(tmp_path / "f.db") as fov:
        fov._resources.worker.close()
        yield fov


def aged(fov: Foveal, texts: list[str]) -> Session:
    session = fov.session("aged", model="gpt-5", preset="fifth")
    session.extend(
        [{"role": "user", "content": text, "timestamp": 1_000.0} for text in texts], format="plain"
    )
    session.add("user", "What is next?")
    return session


def notes(session: Session) -> int:
    return session.stats().stand_ins


def test_a_few_notes_are_written_at_a_time_until_none_is_due(fov: Foveal) -> None:
    session = aged(fov, [f"Message {number}: {20 * TOPIC}." for number in range(100)])
    written = []
    while compress_aged(session._state)[0]:
        written.append(notes(session))
    assert written[0] == BATCH
    assert (len(written) > 1, len(written)) == (True, -(-written[-1] // BATCH))
    assert sum(not entry.absence for entry in session.entries()) == 2  # the first request and the newest


def test_what_is_not_worth_a_note_is_read_once(fov: Foveal, monkeypatch: pytest.MonkeyPatch) -> None:
    session, read, write_note = aged(fov, ["ok", "yes", "fine"]), list[object](), stand_ins.write_note

    def counted(*arguments: Any, **options: Any) -> stand_ins.Note | None:
        read.append(arguments)
        return write_note(*arguments, **options)

    monkeypatch.setattr(stand_ins, "write_note", counted)
    for _ in range(3):
        assert not compress_aged(session._state)[0]
    assert len(read) == 1
    session.add("user", f"And this: {TOPIC}, day after day.", timestamp=1_000.0)
    session.add("user", "What is next?")
    compress_aged(session._state)
    assert len(read) > 1


@pytest.mark.parametrize("plain", [0, 20, 40])
def test_a_build_writes_no_more_notes_than_it_may(fov: Foveal, plain: int) -> None:
    session = fov.session("decided", model="gpt-5", preset="fifth")
    for number in range(400):
        # Stretches with so many decisions need several notes each, those without only one.
        decided = (
            "" if number < plain else f"We decided on version {number} of the library for service {number}."
        )
        session.add("user", f"{decided} Round {number}: {2 * TOPIC}.")
    session.add("user", "What is next?")
    session.build(budget=3_000)
    assert NOTES_MOST - 2 < notes(session) <= NOTES_MOST


def test_the_numbers_of_a_preset_are_read_once(fov: Foveal) -> None:
    resources = fov._resources
    assert resources.fifth is resources.fifth
    assert resources.reploid is resources.reploid
