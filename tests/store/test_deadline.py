"""Reading stops at its deadline, with an error that says so; a change is completed."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import apsw
import pytest

from foveal import StoreTimeoutError
from foveal.store import deadline as deadlines
from foveal.store import open_store
from foveal.store.deadline import Deadline, within
from foveal.store.sqlite import connection
from foveal.store.sqlite.connection import Database

ENDLESS = "WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n"
LONG = ENDLESS.replace("FROM n)", "FROM n WHERE x < 300000)")


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    with closing(apsw.Connection(str(tmp_path / "a.db"))) as found:
        yield Database(found, "a.db", wait_seconds=1.0)


def test_a_query_that_does_not_end_is_stopped(database: Database) -> None:
    with pytest.raises(StoreTimeoutError, match=r"0\.05 s") as stopped, within(Deadline(0.05)):  # noqa: SIM117
        with database.reading() as db:
            list(db.execute(ENDLESS))
    assert "ask for less" in stopped.value.remedy


def test_without_a_deadline_nothing_is_stopped_however_long_it_takes(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = itertools.count(step=50.0)
    monkeypatch.setattr(time, "monotonic", lambda: next(clock))
    with database.reading() as db:
        for _ in range(3):
            assert db.execute(LONG).get == 300_000
    with pytest.raises(StoreTimeoutError), within(Deadline(600)), database.reading() as db:
        list(db.execute(ENDLESS))


def test_a_query_that_nobody_waits_for_is_stopped(database: Database) -> None:
    deadline = Deadline(600)
    timer = threading.Timer(0.05, deadline.stop)
    timer.start()
    with pytest.raises(StoreTimeoutError), within(deadline), database.reading() as db:
        list(db.execute(ENDLESS))
    timer.join()


def test_the_store_can_be_used_afterwards(database: Database) -> None:
    with pytest.raises(StoreTimeoutError), within(Deadline(0)), database.reading() as db:
        list(db.execute(ENDLESS))
    with database.writing() as db:
        assert db.execute("SELECT 1").get == 1


def test_a_change_is_completed_after_the_deadline(database: Database) -> None:
    with within(Deadline(0)), database.writing() as db:
        db.execute("CREATE TABLE done (x)")
        assert db.execute(LONG).get == 300_000


def test_maintenance_has_no_deadline(database: Database) -> None:
    with within(Deadline(0)), within(deadlines.unlimited()), database.reading() as db:
        assert db.execute(LONG).get == 300_000


def test_a_backup_has_no_deadline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "CHECK", 1)
    with closing(open_store(tmp_path / "store.db")) as store:
        store.session("a", now=0.0)
        with within(Deadline(0)):
            store.backup(str(tmp_path / "copy.db"))
    with closing(open_store(tmp_path / "copy.db")) as copy:
        assert [each.name for each in copy.sessions()] == ["a"]
