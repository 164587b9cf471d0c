"""Nested blocks are one transaction, and errors of SQLite are raised as our own."""

from __future__ import annotations

from dataclasses import dataclass

import apsw
import pytest

from foveal.errors import StoreDamagedError
from foveal.store.sqlite.connection import Database, read_records


@dataclass(frozen=True, kw_only=True)
class Pair:
    a: int
    b: int = 0


@pytest.fixture
def database() -> Database:
    found = Database(apsw.Connection(":memory:"), "here", wait_seconds=0.1)
    with found.writing() as db:
        db.execute("CREATE TABLE things (name)")
    return found


def names(database: Database) -> list[str]:
    with database.reading() as db:
        return [name for (name,) in db.execute("SELECT name FROM things")]


def test_nested_blocks_are_rolled_back_with_the_outer_one(database: Database) -> None:
    def fail() -> None:
        with database.writing() as db:
            db.execute("INSERT INTO things VALUES ('inside')")
        raise LookupError

    with pytest.raises(LookupError), database.writing():
        fail()
    assert names(database) == []


def test_an_sqlite_error_is_translated_inside_the_block(database: Database) -> None:
    def fail() -> None:
        with database.reading():
            raise apsw.CorruptError

    with database.writing() as db:
        db.execute("INSERT INTO things VALUES ('kept')")
        with pytest.raises(StoreDamagedError, match="here"):
            fail()
    assert names(database) == ["kept"]


def test_a_transaction_inside_a_bare_block_is_a_transaction(database: Database) -> None:
    with database.using(), database.writing() as db:
        assert db.in_transaction
    with database.using() as db:
        assert not db.in_transaction


@pytest.mark.parametrize("sql", ["SELECT 1 AS a, 2 AS b", "SELECT 2 AS b, 1 AS a"])
def test_columns_are_matched_to_fields_by_name(database: Database, sql: str) -> None:
    with database.reading() as db:
        for _ in range(2):
            assert read_records(db, Pair, sql, ()) == [Pair(a=1, b=2)]
        assert read_records(db, Pair, f"{sql} WHERE 0", ()) == []


@pytest.mark.parametrize("sql", ["SELECT 1 AS a", "SELECT 1 AS a, 2 AS c", "SELECT 1 AS a, 2 AS b, 3 AS c"])
def test_columns_that_are_not_the_fields_are_refused(database: Database, sql: str) -> None:
    with database.reading() as db:
        for _ in range(2):
            with pytest.raises(TypeError, match="Pair has the fields"):
                read_records(db, Pair, sql, ())
