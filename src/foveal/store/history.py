"""A session's branches in, its messages in order out.

A fork shares its prefix: a branch holds what comes from `fork_at` on, and everything before is read from
its parent. Every branch in a chain adds at least one message, so a slice costs what it returns.
"""

from __future__ import annotations

import json

import apsw

from foveal.errors import NotFoundError
from foveal.model import Absence, Entry, Kind, Role
from foveal.store.base import Content, Head

CHAIN = """
    chain (session, branch, stop) AS (
        SELECT id, branch, length FROM sessions WHERE {sessions}
        UNION ALL
        SELECT chain.session, branches.parent, branches.fork_at
        FROM chain JOIN branches ON branches.id = chain.branch WHERE branches.parent IS NOT NULL
    )
"""
"""The branches on which the messages of some sessions lie, each up to where the next one takes over."""

_ENTRIES = """
    SELECT seq, id, digest, role, calls, answers, tokens, counter, kind, pinned, important, absence,
           created_at
    FROM entries WHERE branch = ? AND seq >= ? AND seq < ? ORDER BY seq
"""
_MESSAGES = """
    SELECT e.digest, e.format, iif(e.absence = 'erased', NULL, coalesce(e.body, c.body))
    FROM entries e JOIN contents c ON c.id = e.content
    WHERE e.branch = ? AND e.seq >= ? AND e.seq < ? ORDER BY e.seq
"""


def head_of(db: apsw.Connection, tenant: int, session: int) -> Head:
    row = db.execute(
        "SELECT branch, length, version FROM sessions WHERE id = ? AND tenant = ?", (session, tenant)
    ).fetchone()
    if row is None:
        raise NotFoundError(f"no session has the number {session}", remedy="see `foveal sessions`")
    return Head(branch=row[0], length=row[1], version=row[2])


def read_entries(db: apsw.Connection, head: Head, start: int, stop: int | None) -> list[Entry]:
    return [_entry(*row) for piece in _pieces(db, head, start, stop) for row in db.execute(_ENTRIES, piece)]


def _entry(  # noqa: PLR0913, PLR0917 — one for each column, in their order
    seq: int,
    own: str | None,
    digest: str,
    role: Role,
    calls: str,
    answers: str,
    tokens: int,
    counter: str,
    kind: Kind | None,
    pinned: int,
    important: int,
    absence: Absence,
    created_at: float,
) -> Entry:
    return Entry(
        seq=seq,
        id=own or generated_id(seq),
        digest=digest,
        role=role,
        calls=unpacked(calls),
        answers=unpacked(answers),
        tokens=tokens,
        counter=counter,
        kind=kind,
        pinned=bool(pinned),
        important=bool(important),
        absence=absence,
        created_at=created_at,
    )


def read_messages(db: apsw.Connection, head: Head, start: int, stop: int | None) -> list[Content | None]:
    return [
        None if body is None else Content(digest=digest, format=wire, body=body)
        for piece in _pieces(db, head, start, stop)
        for digest, wire, body in db.execute(_MESSAGES, piece)
    ]


def branch_of(db: apsw.Connection, head: Head, seq: int) -> int:
    """The branch whose row is the session's message at `seq`."""
    if not 0 <= seq < head.length:
        raise NotFoundError(
            f"no message {seq}: the session has {head.length}", remedy="count from 0, or see `foveal stats`"
        )
    ((branch, _, _),) = _pieces(db, head, seq, seq + 1)
    return branch


def _pieces(db: apsw.Connection, head: Head, start: int, stop: int | None) -> list[tuple[int, int, int]]:
    """Which rows of which branches make up the slice: `(branch, start, stop)`, oldest first."""
    found: list[tuple[int, int, int]] = []
    branch, start = head.branch, max(start, 0)
    stop = head.length if stop is None else min(stop, head.length)
    while start < stop:
        parent, fork_at = _branch(db, branch)
        if fork_at < stop:
            found.append((branch, max(start, fork_at), stop))
        branch, stop = parent, min(stop, fork_at)
    return found[::-1]


def _branch(db: apsw.Connection, branch: int) -> tuple[int, int]:
    parent, fork_at = db.execute("SELECT parent, fork_at FROM branches WHERE id = ?", (branch,)).get
    return parent, fork_at


def generated_id(seq: int) -> str:
    return f"m{seq + 1}"


def unpacked(ids: str) -> tuple[str, ...]:
    return tuple(json.loads(ids)) if ids else ()


def fork(db: apsw.Connection, session: int, head: Head, at: int) -> int:
    """A new branch that shares the first `at` messages."""
    parent: int | None = head.branch
    while parent is not None:
        grandparent, fork_at = _branch(db, parent)
        if fork_at < at:
            break
        parent = grandparent
    db.execute("INSERT INTO branches (session, parent, fork_at) VALUES (?, ?, ?)", (session, parent, at))
    return db.last_insert_rowid()
