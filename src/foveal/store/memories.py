"""A memory in → the same under its key, until its owner or the last message that said it goes."""

from __future__ import annotations

import apsw

from foveal.store.knowledge import MemoryRecord
from foveal.store.records import held
from foveal.store.storing import storable

_READ = """
    SELECT id, key, kind, text, origin, confirmed, told, coalesce((
        SELECT sessions.name FROM memory_sources JOIN sessions ON sessions.id = memory_sources.session
        WHERE memory_sources.memory = memories.id ORDER BY sessions.id LIMIT 1
    ), ''), created_at, updated_at
    FROM memories WHERE tenant = ? AND forgotten = 0
"""
_KNOWN = "SELECT id, forgotten, updated_at FROM memories WHERE tenant = ? AND key = ?"
_ADD = """
    INSERT INTO memories (tenant, key, kind, text, origin, confirmed, told, created_at, updated_at)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id
"""
_CHANGE = """
    UPDATE memories
    SET key = ?3, kind = ?4, text = ?5, origin = ?6, confirmed = ?7, told = ?8, updated_at = ?9
    WHERE tenant = ?1 AND id = ?2 AND forgotten = 0 RETURNING id
"""
_FORGET = """
    UPDATE memories SET text = '', forgotten = 1, updated_at = ?
    WHERE tenant = ? AND id = ? AND forgotten = 0 RETURNING id
"""
_AGAIN = """
    SELECT 1 FROM entries e JOIN branches ON branches.id = e.branch
    WHERE branches.session = ?1 AND e.content = ?2 AND e.created_at > ?3 AND (
        EXISTS (SELECT 1 FROM entries WHERE branch = e.branch AND content = ?2 AND created_at <= ?3)
        OR NOT EXISTS (
            SELECT 1 FROM entries JOIN branches AS own ON own.id = entries.branch
            WHERE own.session = ?1 AND content = ?2 AND created_at <= ?3
        )
    )
"""
"""Said since; a history that was written anew on another branch says nothing again."""
_UNREAD = """
    DELETE FROM mentions WHERE number = 0
        AND (session, content) IN (SELECT session, content FROM memory_sources WHERE memory = ?)
"""
"""So that the same message said again is read; those of before are behind where reading goes on."""
_SOURCE = "INSERT OR IGNORE INTO memory_sources (memory, session, content) VALUES (?, ?, ?)"
_OTHERS = "DELETE FROM memory_sources WHERE memory = ? AND (session, content) <> (?, ?)"
FORGOTTEN = "UPDATE tenants SET forgotten = forgotten + 1 WHERE id = ?"


def read(db: apsw.Connection, tenant: int) -> list[MemoryRecord]:
    return [_memory(*row) for row in db.execute(f"{_READ} ORDER BY id", (tenant,))]


def save(
    db: apsw.Connection, tenant: int, record: MemoryRecord, *, session: int | None, digest: str
) -> MemoryRecord | None:
    content = None if session is None else held(db, tenant, session, digest)
    if session is not None and content is None:
        return None
    known, forgotten, changed_at = db.execute(_KNOWN, (tenant, record.key)).get or (0, 0, 0.0)
    if forgotten:
        if session is not None and db.execute(_AGAIN, (session, content, changed_at)).get is None:
            return None
        # Its owner says it again: under a new number, for the old one was said to be gone.
        db.execute("DELETE FROM memories WHERE id = ?", (known,))
        known = 0
    if record.number:
        number = _changed(db, tenant, record) if known in (0, record.number) else 0
    else:
        number = known or _added(db, tenant, record)
    if not number:
        return None
    if content is not None:
        _say(db, number, session, content, alone=bool(record.number))
    return _memory(*db.execute(f"{_READ} AND id = ?", (tenant, number)).get)


def _say(db: apsw.Connection, number: int, session: int | None, content: int, *, alone: bool) -> None:
    """Note the message that said it; `alone`: the words are that message's, not those of earlier ones."""
    db.execute(_SOURCE, (number, session, content))
    if alone:
        db.execute(_OTHERS, (number, session, content))


def _added(db: apsw.Connection, tenant: int, record: MemoryRecord) -> int:
    row = (record.kind, storable(record.text), record.origin, record.confirmed, record.told)
    number: int = db.execute(_ADD, (tenant, record.key, *row, record.created_at, record.updated_at)).get
    return number


def _changed(db: apsw.Connection, tenant: int, record: MemoryRecord) -> int:
    row = (record.kind, storable(record.text), record.origin, record.confirmed, record.told)
    changed = db.execute(_CHANGE, (tenant, record.number, record.key, *row, record.updated_at)).get
    if changed is not None:
        db.execute(FORGOTTEN, (tenant,))
    return changed or 0


def forget(db: apsw.Connection, tenant: int, number: int, now: float) -> bool:
    if db.execute(_FORGET, (now, tenant, number)).get is None:
        return False
    db.execute(_UNREAD, (number,))
    db.execute("DELETE FROM memory_sources WHERE memory = ?", (number,))
    db.execute(FORGOTTEN, (tenant,))
    return True


def _memory(  # noqa: PLR0913, PLR0917 — one for each column, in their order
    number: int,
    key: str,
    kind: str,
    text: str,
    origin: str,
    confirmed: int,
    told: int,
    session: str,
    created_at: float,
    updated_at: float,
) -> MemoryRecord:
    return MemoryRecord(
        number=number,
        key=key,
        kind=kind,
        text=text,
        origin=origin,
        confirmed=bool(confirmed),
        told=bool(told),
        session=session,
        created_at=created_at,
        updated_at=updated_at,
    )
