"""Store memories, bundles, predictions and warm-up totals.

A memory stays until the user forgets it or the last message that said it is erased. Bundles are stored only
if nothing was forgotten while they were compiled.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

import apsw

from foveal.store.port_knowledge import BundleRecord, MemoryRecord, PredictionRecord, WarmupRecord
from foveal.store.sqlite.connection import read_records, read_row, read_rows
from foveal.store.sqlite.derived import content_in_session
from foveal.store.sqlite.messages import storable

_MEMORIES = """
    SELECT id AS number, key, kind, text, origin, confirmed, told AS explicit, coalesce((
        SELECT sessions.name FROM memory_sources JOIN sessions ON sessions.id = memory_sources.session
        WHERE memory_sources.memory = memories.id ORDER BY sessions.id LIMIT 1
    ), '') AS session, created_at, updated_at
    FROM memories WHERE tenant = ? AND forgotten = 0
"""
_BY_KEY = "SELECT id, forgotten, updated_at FROM memories WHERE tenant = ? AND key = ?"
_ADD_MEMORY = """
    INSERT INTO memories (tenant, key, kind, text, origin, confirmed, told, created_at, updated_at)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id
"""
_CHANGE_MEMORY = """
    UPDATE memories
    SET key = ?3, kind = ?4, text = ?5, origin = ?6, confirmed = ?7, told = ?8, updated_at = ?9
    WHERE tenant = ?1 AND id = ?2 AND forgotten = 0 RETURNING id
"""
_FORGET_MEMORY = """
    UPDATE memories SET text = '', forgotten = 1, updated_at = ?
    WHERE tenant = ? AND id = ? AND forgotten = 0 RETURNING id
"""
_SAID_SINCE = """
    SELECT 1 FROM entries e JOIN branches ON branches.id = e.branch
    WHERE branches.session = ?1 AND e.content = ?2 AND e.created_at > ?3 AND (
        EXISTS (SELECT 1 FROM entries WHERE branch = e.branch AND content = ?2 AND created_at <= ?3)
        OR NOT EXISTS (
            SELECT 1 FROM entries JOIN branches AS own ON own.id = entries.branch
            WHERE own.session = ?1 AND content = ?2 AND created_at <= ?3
        )
    )
"""
"""Whether a message was added after a time. A copy on a new branch of an edited history does not count."""
_MARK_UNREAD = """
    DELETE FROM mentions WHERE number = 0
        AND (session, content) IN (SELECT session, content FROM memory_sources WHERE memory = ?)
"""
"""So that the same message is read when it is said again; earlier copies lie before `branches.read_to`."""
_ADD_SOURCE = "INSERT OR IGNORE INTO memory_sources (memory, session, content) VALUES (?, ?, ?)"
_DELETE_OTHER_SOURCES = "DELETE FROM memory_sources WHERE memory = ? AND (session, content) <> (?, ?)"

_BUNDLES = """
    SELECT bundles.kind, bundles.subject, depth, text, tokens, version, compiled_at
    FROM json_each(?3) AS asked CROSS JOIN bundles
        ON bundles.tenant = ?1 AND bundles.kind = asked.value ->> 0
        AND bundles.subject = asked.value ->> 1 AND bundles.depth = ?2
"""
_SAVE_BUNDLE = "INSERT OR REPLACE INTO bundles VALUES (?, ?, ?, ?, ?, ?, ?, ?)"

_PREDICTIONS = """
    SELECT id AS number, kind, subject, probability, made_at, outcome, seconds, session FROM predictions
    WHERE tenant = ?1 AND (?2 IS NULL OR session = ?2) ORDER BY id DESC LIMIT ?3
"""
_ADD_PREDICTION = """
    INSERT INTO predictions (tenant, session, kind, subject, probability, made_at, outcome, seconds)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?)
"""
_CHANGE_PREDICTION = """
    UPDATE predictions SET probability = ?, outcome = ?, seconds = ?
    WHERE tenant = ? AND session IS ? AND id = ?
"""
_WARMUP = "SELECT missed, saved, stopped FROM warmups WHERE session = ?"
_SAVE_WARMUP = "INSERT OR REPLACE INTO warmups (session, missed, saved, stopped) VALUES (?, ?, ?, ?)"


def read_memories(db: apsw.Connection, tenant: int) -> list[MemoryRecord]:
    return read_records(db, MemoryRecord, f"{_MEMORIES} ORDER BY id", (tenant,))


def save_memory(
    db: apsw.Connection, tenant: int, record: MemoryRecord, *, session: int | None, digest: str
) -> MemoryRecord | None:
    content = None if session is None else content_in_session(db, tenant, session, digest)
    if session is not None and content is None:
        return None
    known = read_rows(db, _BY_KEY, (tenant, record.key), int, int, float)
    stored, forgotten, changed_at = next(known, (0, 0, 0.0))
    if forgotten:
        if session is not None and db.execute(_SAID_SINCE, (session, content, changed_at)).get is None:
            return None
        # The user says it again. It gets a new number, because the old one was reported as deleted.
        db.execute("DELETE FROM memories WHERE id = ?", (stored,))
        stored = 0
    if record.number:
        number = _change(db, tenant, record) if stored in (0, record.number) else 0
    else:
        number = stored or _add(db, tenant, record)
    if not number:
        return None
    if content is not None:
        db.execute(_ADD_SOURCE, (number, session, content))
        if record.number:  # the new words are this message's, not those of earlier ones
            db.execute(_DELETE_OTHER_SOURCES, (number, session, content))
    (saved,) = read_records(db, MemoryRecord, f"{_MEMORIES} AND id = ?", (tenant, number))
    return saved


def _add(db: apsw.Connection, tenant: int, record: MemoryRecord) -> int:
    row = (tenant, *_columns(record), record.created_at, record.updated_at)
    number: int = db.execute(_ADD_MEMORY, row).get
    return number


def _change(db: apsw.Connection, tenant: int, record: MemoryRecord) -> int:
    row = (tenant, record.number, *_columns(record), record.updated_at)
    changed: int | None = db.execute(_CHANGE_MEMORY, row).get
    if changed is not None:
        count_forgotten(db, tenant)
    return changed or 0


def _columns(record: MemoryRecord) -> tuple[str | bool, ...]:
    text = storable(record.text)
    return record.key, record.kind, text, record.origin, record.confirmed, record.explicit


def forget_memory(db: apsw.Connection, tenant: int, number: int, now: float) -> bool:
    if db.execute(_FORGET_MEMORY, (now, tenant, number)).get is None:
        return False
    db.execute(_MARK_UNREAD, (number,))
    db.execute("DELETE FROM memory_sources WHERE memory = ?", (number,))
    count_forgotten(db, tenant)
    return True


def count_forgotten(db: apsw.Connection, tenant: int) -> None:
    """Record that something was forgotten; a trigger deletes the tenant's bundles."""
    db.execute("UPDATE tenants SET forgotten = forgotten + 1 WHERE id = ?", (tenant,))


def forget_count(db: apsw.Connection, tenant: int) -> int:
    return int(read_row(db, "SELECT forgotten FROM tenants WHERE id = ?", (tenant,), int)[0])


def read_bundles(
    db: apsw.Connection, tenant: int, subjects: Sequence[tuple[str, str]], depth: str
) -> list[BundleRecord]:
    asked = json.dumps([(kind, storable(subject)) for kind, subject in subjects])
    return read_records(db, BundleRecord, _BUNDLES, (tenant, depth, asked))


def save_bundles(db: apsw.Connection, tenant: int, bundles: Sequence[BundleRecord], *, as_of: int) -> bool:
    if forget_count(db, tenant) != as_of:
        return False
    rows = [
        (tenant, b.kind, storable(b.subject), b.depth, storable(b.text), b.tokens, b.version, b.compiled_at)
        for b in bundles
    ]
    db.executemany(_SAVE_BUNDLE, rows)
    return True


def read_predictions(
    db: apsw.Connection, tenant: int, session: int | None, limit: int
) -> list[PredictionRecord]:
    return read_records(db, PredictionRecord, _PREDICTIONS, (tenant, session, limit))


def save_predictions(
    db: apsw.Connection, tenant: int, session: int | None, made: Sequence[PredictionRecord]
) -> None:
    for each in made:
        result = (each.outcome, each.seconds)
        if each.number:
            db.execute(_CHANGE_PREDICTION, (each.probability, *result, tenant, session, each.number))
        else:
            row = (each.kind, storable(each.subject), each.probability, each.made_at)
            db.execute(_ADD_PREDICTION, (tenant, session, *row, *result))


def read_warmup(db: apsw.Connection, session: int) -> WarmupRecord:
    found = read_records(db, WarmupRecord, _WARMUP, (session,))
    return found[0] if found else WarmupRecord()


def save_warmup(db: apsw.Connection, session: int, record: WarmupRecord) -> None:
    db.execute(_SAVE_WARMUP, (session, record.missed, record.saved, record.stopped))
