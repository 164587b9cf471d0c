"""One SQLite connection, shared by the threads of a process: transactions in, whole changes out.

Every block under `writing` happened whole or did not happen. Reads see one moment, and always what this
process wrote before.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

import apsw

from foveal.store.faults import translated


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
