"""One SQLite connection, shared by the threads of a process: transactions in, whole changes out.

Every block under `writing` happened whole or did not happen. Reads see one moment, and always what this
process wrote before.

An error of SQLite or of the file system in, one of ours out, with the place and what to do.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

import apsw

from foveal.errors import InputError, StoreBusyError, StoreDamagedError, StoreError


@contextmanager
def translated(place: str, wait_seconds: float) -> Iterator[None]:
    """Raise whatever goes wrong inside as an error of this package that names `place`."""
    try:
        yield
    except apsw.Error as error:
        raise _ours(error, place, wait_seconds) from error
    except OSError as error:
        raise StoreError(
            f"{place}: {error.strerror or error}",
            remedy="choose a place you may write to with `--store PATH` or `FOVEAL_STORE`",
        ) from error


def _ours(error: apsw.Error, place: str, wait_seconds: float) -> StoreError | InputError:
    match error:
        case apsw.BusyError() | apsw.LockedError():
            return StoreBusyError(
                f"{place} is locked by another process; waited {wait_seconds:g} s",
                remedy="try again when the other process is done, or name another store",
            )
        case apsw.NotADBError() | apsw.CorruptError():
            return StoreDamagedError(
                f"{place} is not a Foveal store or is damaged ({error})",
                remedy="restore a copy made with `foveal backup`, or name another file",
            )
        case apsw.FullError():
            return StoreError(
                f"{place}: the disk is full; nothing of this change was stored",
                remedy="free some space on that disk and try again",
            )
        case apsw.TooBigError():
            return InputError(
                f"{place}: a message is larger than the 1,000,000,000 bytes that a store can hold",
                remedy="split the message, or keep its file outside and send a reference",
            )
        case _:
            return _unusable(error, place)


def _unusable(error: apsw.Error, place: str) -> StoreError:
    match error:
        case apsw.ReadOnlyError():
            return StoreError(
                f"{place} is read-only; nothing was stored",
                remedy="make the file and its folder writable, or choose another place with `--store PATH`",
            )
        case apsw.CantOpenError():
            return StoreError(
                f"{place} cannot be opened",
                remedy="check that it is a file, not a folder, and that you may read and write it",
            )
        case apsw.ConnectionClosedError():
            return StoreError(f"{place} is closed", remedy="open the store again")
        case _:
            return StoreError(
                f"{place}: {error}; nothing of this change was stored",
                remedy="check the disk's health and free space, then run `foveal verify`",
            )


class Database:
    def __init__(self, connection: apsw.Connection, place: str, *, wait_seconds: float) -> None:
        self.place = place
        self._connection = connection
        self.wait_seconds = wait_seconds
        self._lock = threading.RLock()
        self._within: int | None = None
        """The thread that has a block open; what it opens inside costs next to nothing."""
        self._inner = _Inner(self, connection)

    def using(self) -> AbstractContextManager[apsw.Connection]:
        """The bare connection, for what SQLite refuses to do inside a transaction."""
        return self._block("")

    def reading(self) -> AbstractContextManager[apsw.Connection]:
        return self._block("BEGIN")

    def writing(self) -> AbstractContextManager[apsw.Connection]:
        # IMMEDIATE takes the write lock first: a transaction that starts as a reader may be refused later.
        return self._block("BEGIN IMMEDIATE")

    def _block(self, begin: str) -> AbstractContextManager[apsw.Connection]:
        inside = self._within == threading.get_ident()
        if inside and (not begin or self._connection.in_transaction):  # the outer one decides
            return self._inner
        return self._outer(begin)

    @contextmanager
    def _outer(self, begin: str) -> Iterator[apsw.Connection]:
        with self._lock, translated(self.place, self.wait_seconds):
            before, self._within = self._within, threading.get_ident()
            try:
                with transaction(self._connection, begin) if begin else nullcontext():
                    yield self._connection
            finally:
                self._within = before


class _Inner:
    """A block inside another: errors become ours, all else is the outer one's."""

    def __init__(self, database: Database, connection: apsw.Connection) -> None:
        self._database, self._connection = database, connection

    def __enter__(self) -> apsw.Connection:
        return self._connection

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if error is not None:
            with translated(self._database.place, self._database.wait_seconds):
                raise error


@contextmanager
def transaction(db: apsw.Connection, begin: str) -> Iterator[None]:
    if db.in_transaction:  # the outer one decides
        yield
        return
    db.execute(begin)
    try:
        yield
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:  # a full disk makes SQLite roll back by itself
            db.execute("ROLLBACK")
        raise


def undecided(db: apsw.Connection) -> bool:
    """Is a change under way that may still be undone? Nothing read now may be remembered."""
    return db.txn_state("main") == apsw.SQLITE_TXN_WRITE
