"""Overwrite what erased rows leave in the file and its log, once for many changes and outside of them.

SQLite zeroes a row that is deleted. But when pages are split or joined, rows move, and a copy stays in the
unused part of the page they were on, until something else is written there. So the file has to be rewritten.

The file counts the changes that erased something, and up to which of them it was rewritten and its log
emptied: what a process does not finish is left to the next one that opens the store.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import closing

import apsw

from foveal.errors import StoreBusyError, StoreError
from foveal.store.deadline import unlimited, within
from foveal.store.sqlite.connection import Database, read_rows, translated_errors

REWRITTEN_MOST = 1 << 29
"""Bytes of a file that is rewritten when something is erased: of a larger one, only backups are."""
WAIT = 100
"""Milliseconds to wait for readers before the log is emptied: until then, no process can write."""
_COUNTS = "SELECT erased, rewritten, emptied FROM remains"
_ERASED = """
    INSERT INTO remains (id, erased) VALUES (1, 1) ON CONFLICT (id) DO UPDATE SET erased = erased + 1
"""
_REWRITTEN = "UPDATE remains SET rewritten = max(rewritten, ?)"
_EMPTIED = "UPDATE remains SET emptied = max(emptied, ?)"


class Remains:
    """What erased rows may have left in the file of a database."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._lock = threading.Lock()
        self._report: Callable[[], None] = lambda: None
        with database.using() as db:
            erased, _, emptied = _counts(db)
        self._pending = erased > emptied
        """Whether this process has to look for something to overwrite."""

    def report_to(self, report: Callable[[], None]) -> None:
        """Call `report` when there is something to overwrite, and now if there is already."""
        self._report = report
        if self._pending:
            report()

    def add(self, db: apsw.Connection) -> None:
        """Record, in the transaction that erases something, that the file has to be rewritten."""
        db.execute(_ERASED)
        self._pending = True
        self._report()

    def overwrite(self) -> None:
        """Rewrite the file and empty its log; raises `StoreBusyError` if others prevent it for now.

        It uses a connection of its own: readers of this process do not wait for it either.
        """
        with self._lock:
            if not self._pending:
                return
            with within(unlimited()), self._database.using() as db:  # after the transaction that erases
                erased, _, emptied = _counts(db)
                self._pending = False
            if erased == emptied or not self._database.path:
                return
            try:
                self._overwrite(self._database.path)
            except BaseException:
                self._pending = True
                raise

    def _overwrite(self, path: str) -> None:
        wait = self._database.wait_seconds
        with (
            translated_errors(path, wait),
            closing(apsw.Connection(path, flags=apsw.SQLITE_OPEN_READWRITE)) as db,
        ):
            db.set_busy_timeout(round(wait * 1000))
            erased, rewritten, _ = _counts(db)
            if rewritten < erased:
                if db.pragma("page_count") * db.pragma("page_size") <= REWRITTEN_MOST:
                    db.execute("VACUUM")
                db.execute(_REWRITTEN, (erased,))
            db.set_busy_timeout(WAIT)
            ((busy, _, _),) = db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            if busy:
                raise StoreBusyError(
                    f"the log of {path} still has copies of what was erased: another process is reading",
                    remedy="let the other process finish; the log is emptied afterwards",
                )
            db.execute(_EMPTIED, (erased,))

    def close(self) -> None:
        """Overwrite now what is left, unless others prevent it: then the next process does."""
        try:
            self.overwrite()
        except StoreError as error:
            if not isinstance(error, StoreBusyError) and not isinstance(error.__cause__, apsw.FullError):
                raise
        finally:
            self._pending = False


def _counts(db: apsw.Connection) -> tuple[int, int, int]:
    for erased, rewritten, emptied in read_rows(db, _COUNTS, (), int, int, int):
        return erased, rewritten, emptied
    return 0, 0, 0  # nothing was ever erased
