"""One SQLite connection, shared by the threads of a process: transactions in, whole changes out.

Every block under `writing` happened whole or did not happen. Reads see one moment, and always what this
process wrote before.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import apsw

from foveal.store.faults import translated


class Database:
    def __init__(self, connection: apsw.Connection, place: str, *, wait_seconds: float) -> None:
        self.place = place
        self._connection = connection
        self.wait_seconds = wait_seconds
        self._lock = threading.RLock()

    @contextmanager
    def using(self) -> Iterator[apsw.Connection]:
        """The bare connection, for what SQLite refuses to do inside a transaction."""
        with self._lock, translated(self.place, self.wait_seconds):
            yield self._connection

    @contextmanager
    def reading(self) -> Iterator[apsw.Connection]:
        with self.using() as db, transaction(db, "BEGIN"):
            yield db

    @contextmanager
    def writing(self) -> Iterator[apsw.Connection]:
        # IMMEDIATE takes the write lock first: a transaction that starts as a reader may be refused later.
        with self.using() as db, transaction(db, "BEGIN IMMEDIATE"):
            yield db


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
