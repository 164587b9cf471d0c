"""Share one SQLite connection among the threads of a process: transactions, errors, rows as records.

A block under `writing` takes effect completely or not at all. A block under `reading` sees one state of the
file, including everything that this process wrote before. Errors of SQLite and of the file system are raised
as this package's own, with the file and a remedy.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import fields
from functools import lru_cache
from sys import intern
from typing import Any, TypeVar, cast

import apsw

from foveal.errors import InputError, StoreBusyError, StoreDamagedError, StoreError, StoreTimeoutError
from foveal.store.deadline import current_deadline
from foveal.store.decode import Check, check_of, checked, damaged, declared

T = TypeVar("T")

CHECK = 20_000
"""Instructions of SQLite's virtual machine between two looks at the clock: a few milliseconds."""
_COLUMNS: dict[tuple[type, str], list[str]] = {}
"""The columns of each query, compared with the fields of its record when it first finds a row."""


def read_records(
    db: apsw.Connection, record: type[T], sql: str, bindings: tuple[Any, ...] | dict[str, Any]
) -> list[T]:
    """Run a query whose columns have the names of the fields of `record`; returns a record for each row.

    SQLite returns booleans as 0 and 1.
    """
    rows = db.execute(sql, bindings)
    try:
        columns = _COLUMNS.get((record, sql)) or _columns(rows, record, sql)
    except apsw.ExecutionCompleteError:  # no row was found
        return []
    kinds = declared(cast("Any", record))
    flags = [name for name in columns if kinds[name] is bool]
    found = (dict(zip(columns, row, strict=True)) for row in rows)
    return [checked(record(**(values | _flags(values, flags)))) for values in found]


def _flags(values: dict[str, Any], names: list[str]) -> dict[str, Any]:
    return {name: bool(values[name]) if values[name] in (0, 1) else values[name] for name in names}


def read_rows(
    db: apsw.Connection, sql: str, bindings: tuple[Any, ...] | dict[str, Any], *kinds: Any
) -> Iterator[tuple[Any, ...]]:
    """Run a query whose columns are of these types, and return its rows."""
    checks = _checks(kinds)
    for row in db.execute(sql, bindings):
        for at, fits in enumerate(checks):
            if not fits(row[at]):
                raise damaged(f"column {at + 1} of a row is an invalid {type(row[at]).__name__}")
        yield row


def read_row(
    db: apsw.Connection, sql: str, bindings: tuple[Any, ...] | dict[str, Any], *kinds: Any
) -> tuple[Any, ...]:
    """The first row of a query that always finds one."""
    row = next(read_rows(db, sql, bindings, *kinds), None)
    if row is None:
        raise damaged("a row is missing")
    return row


@lru_cache(maxsize=256)
def _checks(kinds: tuple[Any, ...]) -> tuple[Check, ...]:
    return tuple(map(check_of, kinds))


def _columns(rows: apsw.Cursor, record: type, sql: str) -> list[str]:
    """The names of the columns, which must be those of the fields."""
    columns = [intern(name) for name, _ in rows.get_description()]  # names in code are interned: faster
    names = {field.name for field in fields(record)}
    if names != set(columns):
        raise TypeError(f"{record.__name__} has the fields {sorted(names)}, the query {sorted(columns)}")
    _COLUMNS[record, sql] = columns
    return columns


@contextmanager
def translated_errors(file: str, wait_seconds: float) -> Iterator[None]:
    """Raise errors of SQLite and of the file system as this package's own, with the name of the file."""
    try:
        yield
    except apsw.Error as error:
        raise _ours(error, file, wait_seconds) from error
    except UnicodeDecodeError as error:  # of a text that SQLite returned
        raise damaged(f"{file} holds a text that is not UTF-8") from error
    except OSError as error:
        raise StoreError(
            f"{file}: {error.strerror or error}",
            remedy="choose a path you can write to with `--store PATH` or `FOVEAL_STORE`",
        ) from error


def _ours(error: apsw.Error, file: str, wait_seconds: float) -> StoreError | InputError:
    match error:
        case apsw.BusyError() | apsw.LockedError():
            return StoreBusyError(
                f"{file} is locked by another process; waited {wait_seconds:g} s",
                remedy="retry when the other process is done, or use another store",
            )
        case (
            apsw.NotADBError()
            | apsw.CorruptError()
            | apsw.SQLError()  # what we ask for is valid: a table, a column or its definition is not
            | apsw.ConstraintError()
            | apsw.MismatchError()
            | apsw.SchemaChangeError()
        ):
            return StoreDamagedError(
                f"{file} is not a Foveal store or is damaged ({error})",
                remedy="restore a copy made with `foveal backup`, or name another file",
            )
        case apsw.InterruptError():
            return _stopped(file)
        case apsw.FullError():
            return StoreError(
                f"{file}: the disk is full; nothing of this change was stored",
                remedy="free some space on that disk and retry",
            )
        case apsw.TooBigError():
            return InputError(
                f"{file}: a message is larger than the 1,000,000,000 bytes a store can hold",
                remedy="split the message, or send a reference to a file instead",
            )
        case _:
            return _unusable(error, file)


def _stopped(file: str) -> StoreTimeoutError:
    deadline = current_deadline()
    limit = "" if deadline is None else f" of {deadline.seconds:g} s"
    return StoreTimeoutError(
        f"{file}: reading was stopped after its limit{limit}, or because its client is gone",
        remedy="ask for less: fewer words, one session, fewer results",
    )


def _unusable(error: apsw.Error, file: str) -> StoreError:
    match error:
        case apsw.ReadOnlyError():
            return StoreError(
                f"{file} is read-only; nothing was stored",
                remedy="make the file and its folder writable, or choose another path with `--store PATH`",
            )
        case apsw.CantOpenError():
            return StoreError(
                f"{file} cannot be opened",
                remedy="check that it is a file, not a folder, and that you can read and write it",
            )
        case apsw.ConnectionClosedError():
            return StoreError(f"{file} is closed", remedy="open the store again")
        case _:
            return StoreError(
                f"{file}: {error}; nothing of this change was stored",
                remedy="check the disk's health and free space, then run `foveal verify`",
            )


class Database:
    """A connection that nests blocks: only the outermost block of a thread begins and commits."""

    def __init__(self, connection: apsw.Connection, file: str, *, wait_seconds: float) -> None:
        self.file = file
        self._connection = connection
        self.wait_seconds = wait_seconds
        self._lock = threading.RLock()
        self._owner: int | None = None
        """The thread that has a block open; its nested blocks cost next to nothing."""
        self._nested = _NestedBlock(self, connection)
        self._changing = False
        connection.set_progress_handler(self._is_late, CHECK)

    @property
    def path(self) -> str:
        """The file on disk; empty for a store in memory."""
        return self._connection.db_filename("main")

    def using(self) -> AbstractContextManager[apsw.Connection]:
        """The connection without a transaction, for single statements and those SQLite refuses inside one."""
        return self._block("")

    def reading(self) -> AbstractContextManager[apsw.Connection]:
        return self._block("BEGIN")

    def writing(self) -> AbstractContextManager[apsw.Connection]:
        # IMMEDIATE takes the write lock first: a transaction that starts as a reader may be refused later.
        return self._block("BEGIN IMMEDIATE")

    def _block(self, begin: str) -> AbstractContextManager[apsw.Connection]:
        nested = self._owner == threading.get_ident()
        if nested and (not begin or self._connection.in_transaction):
            return self._nested
        return self._outermost(begin)

    @contextmanager
    def _outermost(self, begin: str) -> Iterator[apsw.Connection]:
        with self._lock, translated_errors(self.file, self.wait_seconds):
            before, self._owner = self._owner, threading.get_ident()
            self._changing = begin == "BEGIN IMMEDIATE"
            try:
                with transaction(self._connection, begin) if begin else nullcontext():
                    yield self._connection
            finally:
                self._owner = before

    def _is_late(self) -> bool:
        """Called by SQLite while a query runs; True stops it."""
        deadline = current_deadline()
        return deadline is not None and deadline.passed and not self._changing


class _NestedBlock:
    """A block inside another: it translates errors and leaves commit and rollback to the outer one."""

    def __init__(self, database: Database, connection: apsw.Connection) -> None:
        self._database, self._connection = database, connection

    def __enter__(self) -> apsw.Connection:
        return self._connection

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if error is not None:
            with translated_errors(self._database.file, self._database.wait_seconds):
                raise error


@contextmanager
def transaction(db: apsw.Connection, begin: str) -> Iterator[None]:
    """Begin and commit, or roll back on an error; inside another transaction do neither."""
    if db.in_transaction:
        yield
        return
    try:
        db.execute(begin)  # which may be stopped after it has begun
        yield
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:  # a full disk makes SQLite roll back by itself
            db.execute("ROLLBACK")
        raise


def has_uncommitted_changes(db: apsw.Connection) -> bool:
    """Whether a write transaction is open: what is read now may be rolled back and must not be cached."""
    return db.txn_state("main") == apsw.SQLITE_TXN_WRITE
