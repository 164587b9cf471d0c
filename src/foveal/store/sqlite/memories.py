"""A memory in → the same under its key, until its owner or the last message that said it goes.

Bundles and predictions in → the same out again: the bundles by subject, the ledger newest first.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

import apsw

from foveal.store.port_knowledge import BundleRecord, MemoryRecord, PredictionRecord, WarmupRecord
from foveal.store.sqlite.derived import recorded_place
from foveal.store.sqlite.messages import storable

_READ_MEMORIES = """
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


def read_memories(db: apsw.Connection, tenant: int) -> list[MemoryRecord]:
    return [_memory(*row) for row in db.execute(f"{_READ_MEMORIES} ORDER BY id", (tenant,))]


def save_memory(
    db: apsw.Connection, tenant: int, record: MemoryRecord, *, session: int | None, digest: str
) -> MemoryRecord | None:
    content = None if session is None else recorded_place(db, tenant, session, digest)
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
    return _memory(*db.execute(f"{_READ_MEMORIES} AND id = ?", (tenant, number)).get)


def _say(db: apsw.Connection, number: int, session: int | None, content: int, *, alone: bool) -> None:
    """Note the message that said it; `alone`: the words are that message's, not those of earlier ones."""
    db.execute(_SOURCE, (number, session, content))
    if alone:
        db.execute(_OTHERS, (number, session, content))


def _added(db: apsw.Connection, tenant: int, record: MemoryRecord) -> int:
    row = (record.kind, storable(record.text), record.origin, record.confirmed, record.explicit)
    number: int = db.execute(_ADD, (tenant, record.key, *row, record.created_at, record.updated_at)).get
    return number


def _changed(db: apsw.Connection, tenant: int, record: MemoryRecord) -> int:
    row = (record.kind, storable(record.text), record.origin, record.confirmed, record.explicit)
    changed = db.execute(_CHANGE, (tenant, record.number, record.key, *row, record.updated_at)).get
    if changed is not None:
        db.execute(FORGOTTEN, (tenant,))
    return changed or 0


def forget_memory(db: apsw.Connection, tenant: int, number: int, now: float) -> bool:
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
        explicit=bool(told),
        session=session,
        created_at=created_at,
        updated_at=updated_at,
    )


_FORGOTTEN = "SELECT forgotten FROM tenants WHERE id = ?"
_READ_BUNDLES = """
    SELECT bundles.kind, bundles.subject, depth, text, tokens, version, compiled_at
    FROM json_each(?3) AS wanted CROSS JOIN bundles
        ON bundles.tenant = ?1 AND bundles.kind = wanted.value ->> 0
        AND bundles.subject = wanted.value ->> 1 AND bundles.depth = ?2
"""
_SAVE_BUNDLE = "INSERT OR REPLACE INTO bundles VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
_PREDICT = """
    INSERT INTO predictions (tenant, session, kind, subject, probability, made_at, outcome, seconds)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?)
"""
_SETTLE = """
    UPDATE predictions SET probability = ?, outcome = ?, seconds = ?
    WHERE tenant = ? AND session IS ? AND id = ?
"""
_PREDICTIONS = """
    SELECT id, kind, subject, probability, made_at, outcome, seconds, session FROM predictions
    WHERE tenant = ?1 AND (?2 IS NULL OR session = ?2) ORDER BY id DESC LIMIT ?3
"""
_SAVE_WARMUP = "INSERT OR REPLACE INTO warmups (session, missed, saved, stopped) VALUES (?, ?, ?, ?)"


def forget_count(db: apsw.Connection, tenant: int) -> int:
    number: int = db.execute(_FORGOTTEN, (tenant,)).get
    return number


def read_bundles(
    db: apsw.Connection, tenant: int, subjects: Sequence[tuple[str, str]], depth: str
) -> list[BundleRecord]:
    wanted = json.dumps([(kind, storable(subject)) for kind, subject in subjects])
    return [
        BundleRecord(
            kind=kind,
            subject=subject,
            depth=depth,
            text=text,
            tokens=tokens,
            version=version,
            compiled_at=compiled_at,
        )
        for kind, subject, depth, text, tokens, version, compiled_at in (
            db.execute(_READ_BUNDLES, (tenant, depth, wanted))
        )
    ]


def save_bundles(db: apsw.Connection, tenant: int, bundles: Sequence[BundleRecord], *, as_of: int) -> bool:
    if forget_count(db, tenant) != as_of:
        return False
    rows = [
        (tenant, b.kind, storable(b.subject), b.depth, storable(b.text), b.tokens, b.version, b.compiled_at)
        for b in bundles
    ]
    db.executemany(_SAVE_BUNDLE, rows)
    return True


def save_predictions(
    db: apsw.Connection, tenant: int, session: int | None, made: Sequence[PredictionRecord]
) -> None:
    for each in made:
        told = (each.outcome, each.seconds)
        if each.number:
            db.execute(_SETTLE, (each.probability, *told, tenant, session, each.number))
        else:
            row = (each.kind, storable(each.subject), each.probability, each.made_at)
            db.execute(_PREDICT, (tenant, session, *row, *told))


def predictions(db: apsw.Connection, tenant: int, session: int | None, limit: int) -> list[PredictionRecord]:
    return [
        PredictionRecord(
            number=number,
            kind=kind,
            subject=subject,
            probability=probability,
            made_at=made_at,
            outcome=outcome,
            seconds=seconds,
            session=of,
        )
        for number, kind, subject, probability, made_at, outcome, seconds, of in (
            db.execute(_PREDICTIONS, (tenant, session, limit))
        )
    ]


def warmup(db: apsw.Connection, session: int) -> WarmupRecord:
    row = db.execute("SELECT missed, saved, stopped FROM warmups WHERE session = ?", (session,)).fetchone()
    if row is None:
        return WarmupRecord()
    missed, saved, stopped = row
    return WarmupRecord(missed=missed, saved=saved, stopped=bool(stopped))


def save_warmup(db: apsw.Connection, session: int, record: WarmupRecord) -> None:
    db.execute(_SAVE_WARMUP, (session, record.missed, record.saved, record.stopped))
