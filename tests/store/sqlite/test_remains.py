"""The file is rewritten once for many erased messages, never as a part of another call."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import apsw
import pytest

from foveal import Foveal, StoreBusyError
from foveal.errors import StoreDamagedError
from foveal.events import Event, Warned
from foveal.store import Store, open_store
from foveal.store.deadline import Deadline, within
from foveal.store.sqlite import connection, remains
from foveal.testing import draft

SECRET = "xyzzyplugh"
READER = """
import apsw, sys
reader = apsw.Connection(sys.argv[1])
list(reader.execute("BEGIN; SELECT count(*) FROM entries"))
print("reading", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def rewrites(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every VACUUM of this process from here on."""
    seen: list[str] = []

    def traced(statement: dict[str, object]) -> None:
        if str(statement["sql"]).startswith("VACUUM"):
            seen.append(str(statement["sql"]))

    def hook(db: apsw.Connection) -> None:
        db.trace_v2(apsw.SQLITE_TRACE_STMT, traced)

    monkeypatch.setattr(apsw, "connection_hooks", [*apsw.connection_hooks, hook])
    return seen


@contextmanager
def another_process_reading(path: Path) -> Iterator[None]:
    with subprocess.Popen(
        [sys.executable, "-c", READER, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as reader:
        assert reader.stdin is not None
        assert reader.stdout is not None
        assert reader.stdout.readline() == b"reading\n"
        yield
        reader.stdin.close()


def filled(path: Path, count: int = 20) -> tuple[Store, int]:
    store = open_store(path)
    session = store.session("work", now=0.0).id
    store.append(session, [draft(f"{SECRET} {number}") for number in range(count)], counter="words")
    return store, session


def holds_secret(path: Path) -> bool:
    return any(SECRET[3:].encode() in file.read_bytes() for file in path.parent.iterdir())


def erase_all(store: Store, session: int, count: int = 20) -> None:
    for number in range(1, count + 1):
        store.erase(session, f"m{number}")


def test_erasing_reading_and_adding_rewrite_nothing(tmp_path: Path, rewrites: list[str]) -> None:
    store, session = filled(tmp_path / "a.db")
    with closing(store):
        erase_all(store, session)
        with store.transaction(write=False):
            assert len(store.search(SECRET)) == 0
        with store.transaction():
            store.append(session, [draft("more")], counter="words")
        assert store.head(session).length == 21
        assert rewrites == []


def test_many_erased_messages_cost_one_rewrite(tmp_path: Path, rewrites: list[str]) -> None:
    store, session = filled(tmp_path / "a.db")
    with closing(store):
        erase_all(store, session)
        store.overwrite_remains()
        store.overwrite_remains()
        assert (rewrites, holds_secret(tmp_path / "a.db")) == (["VACUUM"], False)
    assert rewrites == ["VACUUM"]


def test_closing_overwrites_what_is_left(tmp_path: Path, rewrites: list[str]) -> None:
    store, session = filled(tmp_path / "a.db")
    erase_all(store, session)
    store.close()
    store.close()
    assert (rewrites, holds_secret(tmp_path / "a.db")) == (["VACUUM"], False)


def test_a_reader_in_another_process_costs_no_second_rewrite(tmp_path: Path, rewrites: list[str]) -> None:
    store, session = filled(tmp_path / "a.db")
    with closing(store):
        with another_process_reading(tmp_path / "a.db"):
            erase_all(store, session)
            for _ in range(3):
                with pytest.raises(StoreBusyError, match="another process is reading"):
                    store.overwrite_remains()
                store.append(session, [draft("more")], counter="words")
                store.entries(session)
            assert rewrites == ["VACUUM"]
        store.overwrite_remains()
        assert (rewrites, holds_secret(tmp_path / "a.db")) == (["VACUUM"], False)


def test_what_a_killed_process_left_is_overwritten_by_the_next(tmp_path: Path, rewrites: list[str]) -> None:
    code = f"""
import os
from foveal.store import open_store
from foveal.testing import draft
store = open_store({str(tmp_path / "a.db")!r})
session = store.session("work", now=0.0).id
store.append(session, [draft("{SECRET}")], counter="words")
store.erase(session, "m1")
os._exit(0)
"""
    subprocess.run([sys.executable, "-c", code], check=True)
    assert holds_secret(tmp_path / "a.db")
    with Foveal(tmp_path / "a.db", embedder="none") as fov:
        assert fov.settle()
        assert (rewrites, holds_secret(tmp_path / "a.db")) == (["VACUUM"], False)


def test_what_was_rolled_back_causes_no_rewrite(tmp_path: Path, rewrites: list[str]) -> None:
    store, session = filled(tmp_path / "a.db")
    with closing(store):
        with suppress(ZeroDivisionError), store.transaction():
            store.erase(session, "m1")
            raise ZeroDivisionError
        store.overwrite_remains()
    assert rewrites == []


def test_a_large_file_is_not_rewritten_but_its_log_is_emptied(
    tmp_path: Path, rewrites: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remains, "REWRITTEN_MOST", 10_000)
    store, session = filled(tmp_path / "a.db")
    with closing(store):
        erase_all(store, session)
        store.overwrite_remains()
        assert rewrites == []
        assert (tmp_path / "a.db-wal").stat().st_size < 50_000


def test_the_deadline_of_a_request_stops_no_rewrite(
    tmp_path: Path, rewrites: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "CHECK", 1)
    store, session = filled(tmp_path / "a.db")
    with closing(store):
        erase_all(store, session)
        with within(Deadline(0)):
            store.overwrite_remains()
    assert rewrites == ["VACUUM"]


def test_damage_is_an_error_and_not_taken_for_a_busy_file(tmp_path: Path) -> None:
    store, session = filled(tmp_path / "a.db", 400)
    with closing(apsw.Connection(str(tmp_path / "a.db"))) as db:
        db.pragma("writable_schema", 1)
        page = db.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'bills'").get
        size = db.pragma("page_size")
    store.erase(session, "m1")
    with closing(apsw.Connection(str(tmp_path / "a.db"))) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    with (tmp_path / "a.db").open("r+b") as file:
        file.seek((page - 1) * size)
        file.write(b"\xff" * size)
    with pytest.raises(StoreDamagedError):
        store.close()


def test_forget_is_followed_by_one_rewrite_in_the_background(tmp_path: Path, rewrites: list[str]) -> None:
    with Foveal(tmp_path / "a.db", embedder="none") as fov:
        session = fov.session("work", model="gpt-5")
        for number in range(5):
            session.add("user", f"{SECRET} {number}")
        fov.remember(f"I live in {SECRET}.")
        for each in session.entries():
            session.forget(each.id)
        fov.forget_memory(fov.profile().memories[0].id)
        assert fov.settle()
        assert not holds_secret(tmp_path / "a.db")
        assert len(rewrites) in (1, 2, 3)  # by how long the calls took


def test_a_reader_that_prevents_it_is_reported(tmp_path: Path) -> None:
    told: list[Event] = []
    with Foveal(tmp_path / "a.db", embedder="none") as fov:
        fov.subscribe(told.append)
        session = fov.session("work", model="gpt-5")
        session.add("user", SECRET)
        with another_process_reading(tmp_path / "a.db"):
            session.forget("m1")
            assert not fov.settle()
        assert any("erasing" in event.text for event in told if isinstance(event, Warned))
    assert not holds_secret(tmp_path / "a.db")
