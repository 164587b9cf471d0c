"""A task's beginning and end in → the stretches of a session that belong together, each with its summary.

At most one task is open. A summary that covers something erased or edited is taken away, to be made again.
"""

from __future__ import annotations

from collections.abc import Sequence

import apsw

from foveal.store.base import Head, TaskRecord
from foveal.store.storing import storable

_COLUMNS = "number, name, started_at, ended_at, first, last, summary"
_START = f"""
    INSERT INTO tasks (session, number, name, started_at, first)
    SELECT ?1, coalesce(max(number), 0) + 1, ?2, ?3, ?4 FROM tasks WHERE session = ?1
    RETURNING {_COLUMNS}
"""  # noqa: S608 — constants
_END = f"""
    UPDATE tasks SET ended_at = ?, last = ? WHERE session = ? AND ended_at IS NULL RETURNING {_COLUMNS}
"""  # noqa: S608 — constants
_READ = f"""
    SELECT {_COLUMNS} FROM tasks WHERE session = ? AND left_behind = 0 ORDER BY number
"""  # noqa: S608 — constants
_SAVE = """
    UPDATE tasks SET summary = ?
    WHERE session = ? AND number = ? AND ended_at IS NOT NULL AND left_behind = 0 RETURNING number
"""
_FORK = """
    UPDATE tasks
    SET left_behind = first >= :at AND ended_at IS NOT NULL,
        first = iif(ended_at IS NULL, min(first, :at), first),
        last = iif(first < :at, min(last, :at - 1), last),
        summary = iif(first < :at AND last >= :at, NULL, summary)
    WHERE session = :session AND left_behind = 0
"""
_FORGET = "UPDATE tasks SET summary = NULL WHERE session = ?1 AND first <= ?2 AND last >= ?2"


def start(db: apsw.Connection, session: int, head: Head, *, name: str, now: float) -> TaskRecord:
    end(db, session, head, now=now)
    return _task(*db.execute(_START, (session, storable(name), now, head.length)).get)


def end(db: apsw.Connection, session: int, head: Head, *, now: float) -> TaskRecord | None:
    row = db.execute(_END, (now, head.length - 1, session)).get
    return None if row is None else _task(*row)


def read(db: apsw.Connection, session: int) -> list[TaskRecord]:
    return [_task(*row) for row in db.execute(_READ, (session,))]


def save_summary(db: apsw.Connection, session: int, number: int, text: str) -> bool:
    return db.execute(_SAVE, (storable(text), session, number)).get is not None


def fork(db: apsw.Connection, session: int, at: int) -> None:
    """The history goes on otherwise from `at`: the open task with it, one that ended before it as it was."""
    db.execute(_FORK, {"session": session, "at": at})


def forget(db: apsw.Connection, session: int, seqs: Sequence[int]) -> None:
    """Take away the summaries that cover one of these messages."""
    db.executemany(_FORGET, [(session, seq) for seq in seqs])


def _task(  # noqa: PLR0913, PLR0917 — one for each column, in their order
    number: int,
    name: str,
    started_at: float,
    ended_at: float | None,
    first: int,
    last: int | None,
    summary: str | None,
) -> TaskRecord:
    return TaskRecord(
        number=number,
        name=name,
        started_at=started_at,
        ended_at=ended_at,
        first=first,
        last=last,
        summary=summary,
    )
