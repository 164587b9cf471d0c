"""Read and create sessions and their branches, and hide what is private on branches that were left.

A fork shares its prefix: a branch contains the messages from `fork_at` on, and everything before is read from
its parent. Every branch in a chain adds at least one message, so reading a slice costs what it returns.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import cast

import apsw

from foveal.errors import NotFoundError
from foveal.model import Absence, Entry, Format, Kind, Level, Role
from foveal.store.decode import checked, damaged, decoding
from foveal.store.port import Content, Head, Located, SessionRecord
from foveal.store.sqlite.connection import read_row, read_rows
from foveal.wire.jsontext import compact

_SESSIONS = "SELECT id, name, format, model, preset, created_at, branch, length, version FROM sessions"
_ADD_SESSION = "INSERT INTO sessions (tenant, name, created_at, branch) VALUES (?, ?, ?, 0)"
_SAVE_CHOICES = """
    UPDATE sessions SET model = iif(?1 = '', model, ?1), preset = iif(?2 = '', preset, ?2)
    WHERE tenant = ?3 AND name = ?4
"""
_HANDLE = re.compile("fv-[0-9a-f]{8,64}")
_COLUMNS = """
    seq, entries.id, entries.digest, role, calls, answers, tokens, counter, kind, pinned, important, absence,
    created_at, beside, stand_in, noted_by, level, priority, metadata, private,
    restored_at
"""
_ENTRIES = f"""
    SELECT {_COLUMNS}
    FROM entries WHERE branch = ? AND seq >= ? AND seq < ? ORDER BY seq
"""  # noqa: S608 — constants
_ENTRIES_OF_ALL_BRANCHES = f"""
    SELECT {_COLUMNS} FROM entries WHERE branch IN (SELECT id FROM branches WHERE session = ?)
"""  # noqa: S608 — constants
_LOCATE = f"""
    SELECT entries.branch, entries.format,
           iif(absence = 'erased', NULL, coalesce(entries.body, contents.body)), {_COLUMNS}
    FROM entries
    JOIN branches ON branches.id = entries.branch
    JOIN contents ON contents.id = entries.content
    WHERE branches.session = ?1 AND
"""  # noqa: S608 — constants
_OF_HANDLE = """
    entries.content IN (SELECT id FROM contents WHERE tenant = ?2 AND digest >= ?3 AND digest < ?4)
"""
_HEAD = """
    SELECT branch, length, version, format, model, preset, amended,
           coalesce((SELECT max(number) FROM builds WHERE session = sessions.id), 0)
    FROM sessions WHERE id = ? AND tenant = ?
"""
_BRANCH = """
    SELECT parent, fork_at, coalesce((SELECT fork_at FROM branches AS above WHERE id = branches.parent), -1)
    FROM branches WHERE id = ?
"""
_MESSAGES = """
    SELECT e.digest, e.format, iif(e.absence = 'erased', NULL, coalesce(e.body, c.body))
    FROM entries e JOIN contents c ON c.id = e.content
    WHERE e.branch = ? AND e.seq >= ? AND e.seq < ? ORDER BY e.seq
"""
_PRIVATE_MESSAGES = """
    SELECT DISTINCT entries.digest, entries.format, coalesce(entries.body, contents.body), entries.role
    FROM entries JOIN branches ON branches.id = entries.branch JOIN contents ON contents.id = entries.content
    WHERE entries.private AND entries.absence <> 'erased' AND branches.session = ?
"""
_COPIES = """
    SELECT DISTINCT entries.branch, entries.seq
    FROM branches JOIN entries ON entries.branch = branches.id JOIN contents ON contents.id = entries.content
    JOIN json_tree(iif(json_valid(coalesce(entries.body, contents.body)),
                       coalesce(entries.body, contents.body), '{}')) AS field
    WHERE branches.session = ?1 AND branches.id <> ?2 AND NOT entries.private AND entries.absence <> 'erased'
        AND field.type = 'text' AND field.key IN ('content', 'text', 'output')
        AND (entries.role, trim(field.value)) IN (SELECT value ->> 0, value ->> 1 FROM json_each(?3))
"""
_HIDE = "UPDATE entries SET private = 1 WHERE branch = ? AND seq = ?"


def find(db: apsw.Connection, tenant: int, name: str) -> SessionRecord | None:
    found = _read(db, "WHERE tenant = ? AND name = ?", (tenant, name))
    return found[0] if found else None


def read_all(db: apsw.Connection, tenant: int) -> list[SessionRecord]:
    return _read(db, "WHERE tenant = ? ORDER BY id", (tenant,))


def ensure(
    db: apsw.Connection, tenant: int, name: str, *, now: float, model: str, preset: str
) -> SessionRecord:
    """Return the session, creating it if needed; store a given model or preset with it."""
    if not find(db, tenant, name):
        db.execute(_ADD_SESSION, (tenant, name, now))
        number = db.last_insert_rowid()
        db.execute("INSERT INTO branches (session) VALUES (?)", (number,))
        db.execute("UPDATE sessions SET branch = ? WHERE id = ?", (db.last_insert_rowid(), number))
    db.execute(_SAVE_CHOICES, (model, preset, tenant, name))
    (session,) = _read(db, "WHERE tenant = ? AND name = ?", (tenant, name))
    return session


def _read(db: apsw.Connection, where: str, key: tuple[int | str, ...]) -> list[SessionRecord]:
    return [
        checked(
            SessionRecord(
                id=number,
                name=name,
                format=wire,
                model=model,
                preset=preset,
                created_at=created_at,
                head=Head(
                    branch=branch, length=length, version=version, format=wire, model=model, preset=preset
                ),
            )
        )
        for number, name, wire, model, preset, created_at, branch, length, version in (
            db.execute(f"{_SESSIONS} {where}", key)
        )
    ]


def head_of(db: apsw.Connection, tenant: int, session: int) -> Head:
    row = db.execute(_HEAD, (session, tenant)).fetchone()
    if row is None:
        raise NotFoundError(
            f"no session has the number {session}", remedy="`sessions` lists them", see="sessions"
        )
    branch, length, version, format, model, preset, amended, builds = row
    return checked(
        Head(
            branch=branch,
            length=length,
            version=version,
            format=format,
            model=model,
            preset=preset,
            builds=builds,
            amended=amended,
        )
    )


def read_entries(db: apsw.Connection, head: Head, start: int, stop: int | None) -> list[Entry]:
    slices = branch_slices(db, head, start, stop)
    found = [_entry(*row) for each in slices for row in db.execute(_ENTRIES, each)]
    _check_count(slices, len(found))
    return found


def check_entries(db: apsw.Connection, session: int) -> None:
    """Raise `StoreDamagedError` for an entry of any branch that cannot be read."""
    for row in db.execute(_ENTRIES_OF_ALL_BRANCHES, (session,)):
        _entry(*row)


def _check_count(slices: list[tuple[int, int, int]], found: int) -> None:
    """Refuse a history with fewer messages than it has positions."""
    expected = sum(stop - start for _, start, stop in slices)
    if found != expected:
        raise damaged(f"a session has {found:,} of {expected:,} messages from {slices[0][1]} on")


def _entry(  # noqa: PLR0913, PLR0917 — one for each column, in their order
    seq: int,
    id: str,
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
    beside: int,
    stand_in: str,
    noted_by: int | None,
    level: Level | None,
    priority: float | None,
    metadata: str,
    private: int,
    restored_at: float | None,
) -> Entry:
    entry = Entry(
        seq=seq,
        id=id,
        digest=digest,
        role=role,
        calls=_ids(calls),
        answers=_ids(answers),
        tokens=tokens,
        counter=counter,
        kind=kind,
        pinned=bool(pinned),
        important=bool(important),
        absence=absence,
        created_at=created_at,
        beside=bool(beside),
        stand_in=stand_in,
        noted_by=noted_by,
        level=level,
        priority=priority,
        metadata=metadata,
        restored_at=restored_at,
        private=bool(private),
    )
    if metadata:
        with decoding("the metadata of a message"):
            dict(json.loads(metadata).items())
    return checked(entry)


def _ids(ids: str) -> tuple[str, ...]:
    if not ids:
        return ()
    with decoding("the calls of a message"):
        return tuple(json.loads(ids))


def read_messages(db: apsw.Connection, head: Head, start: int, stop: int | None) -> list[Content | None]:
    slices = branch_slices(db, head, start, stop)
    found = [content_of(*row) for each in slices for row in db.execute(_MESSAGES, each)]
    _check_count(slices, len(found))
    return found


def content_of(digest: str, format: Format, body: str | None) -> Content | None:
    """The content of a message; None where it was erased."""
    return None if body is None else checked(Content(digest=digest, format=format, body=body))


def locate(db: apsw.Connection, tenant: int, session: int, name: str) -> Located | None:
    """The message with that id or handle; the current branch comes first, then the newest."""
    head = head_of(db, tenant, session)
    if _HANDLE.fullmatch(name):
        prefix = name.removeprefix("fv-")
        rows = db.execute(_LOCATE + _OF_HANDLE, (session, tenant, prefix, prefix + "g"))
    else:
        rows = db.execute(_LOCATE + "entries.id = ?2", (session, name))
    current = {branch: (start, stop) for branch, start, stop in branch_slices(db, head, 0, None)}
    found: list[tuple[bool, int, int, Located]] = []
    for branch, wire, body, *columns in rows:
        entry = _entry(*columns)
        start, stop = current.get(branch, (0, 0))
        content = content_of(entry.digest, wire, body)
        here = start <= entry.seq < stop
        found.append((here, branch, entry.seq, Located(entry=entry, content=content, current=here)))
    return max(found, key=lambda each: each[:3])[3] if found else None


def on_branch(db: apsw.Connection, head: Head, branch: int, seq: int) -> bool:
    """Whether this entry is on the session's current branch."""
    return any(b == branch and start <= seq < stop for b, start, stop in branch_slices(db, head, 0, None))


def branch_of(db: apsw.Connection, head: Head, seq: int) -> int:
    """The branch that contains the session's message at `seq`."""
    if not 0 <= seq < head.length:
        raise NotFoundError(
            f"there is no message {seq}: the session has {head.length}",
            remedy="count from 0, and give a position below the number of messages",
        )
    ((branch, _, _),) = branch_slices(db, head, seq, seq + 1)
    return branch


def branch_slices(
    db: apsw.Connection, head: Head, start: int, stop: int | None
) -> list[tuple[int, int, int]]:
    """The rows that make up a slice of the session: `(branch, start, stop)`, oldest first."""
    found: list[tuple[int, int, int]] = []
    branch: int | None = head.branch
    start = max(start, 0)
    stop = head.length if stop is None else min(stop, head.length)
    while start < stop:
        parent, fork_at = _branch(db, branch)
        if fork_at < stop:
            assert branch is not None  # a branch without a number is refused
            found.append((branch, max(start, fork_at), stop))
        branch, stop = parent, min(stop, fork_at)
    return found[::-1]


def _branch(db: apsw.Connection, branch: int | None) -> tuple[int | None, int]:
    """A branch's parent and where it forks from it: nowhere without a parent, and later than its parent."""
    parent, fork_at, above = read_row(db, _BRANCH, (branch,), int | None, int, int)
    if not above < fork_at and (parent is not None or fork_at):
        raise damaged(f"branch {branch} has no valid beginning")
    return parent, fork_at


def fork(db: apsw.Connection, session: int, head: Head, at: int) -> int:
    """Add a branch that shares the first `at` messages, and return its number."""
    parent: int | None = head.branch
    while parent is not None:
        grandparent, fork_at = _branch(db, parent)
        if fork_at < at:
            break
        parent = grandparent
    db.execute("INSERT INTO branches (session, parent, fork_at) VALUES (?, ?, ?)", (session, parent, at))
    return db.last_insert_rowid()


def private_messages(db: apsw.Connection, session: int) -> Sequence[tuple[Content, Role]]:
    return [
        (Content(digest=str(digest), format=cast("Format", format), body=str(body)), cast("Role", role))
        for digest, format, body, role in db.execute(_PRIVATE_MESSAGES, (session,))
    ]


def hide(db: apsw.Connection, session: int, head: Head, texts: Sequence[tuple[Role, str]]) -> None:
    given = compact([[role, text] for role, text in texts])
    rows = read_rows(db, _COPIES, (session, head.branch, given), int, int)
    db.executemany(_HIDE, [row for row in rows if not on_branch(db, head, *row)])
