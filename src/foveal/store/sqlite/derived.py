"""Store what is derived from messages: summaries, typed records, tasks, compressions and builds.

A summary of summaries covers what they cover: when one is deleted, so is every summary above it. Typed
records belong to one session, because the same words can be a user's decision in one session and a tool's
output in another. At most one task of a session is open.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import astuple
from hashlib import sha256

import apsw

from foveal.store.port import (
    BuildRecord,
    CompressionRecord,
    Content,
    Head,
    SummaryRecord,
    TaskRecord,
    TypedRecord,
)
from foveal.store.sqlite.connection import read_records
from foveal.store.sqlite.messages import storable
from foveal.store.sqlite.sessions import branch_slices

_SUMMARIES = """
    SELECT key, text, tokens, writer AS "by", level, created_at FROM summaries
    WHERE tenant = ? AND key IN (SELECT value FROM json_each(?))
"""
_SAVE_SUMMARY = """
    INSERT INTO summaries (tenant, key, text, hash, tokens, writer, level, created_at)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (tenant, key) DO UPDATE
    SET text = excluded.text, hash = excluded.hash, tokens = excluded.tokens, writer = excluded.writer,
        level = excluded.level, created_at = excluded.created_at
    WHERE writer = 'extractive' AND excluded.writer = 'llm'
    RETURNING id
"""
_SUMMARY_SOURCES = """
    SELECT contents.id, summaries.id
    FROM json_each(?2) AS named
    LEFT JOIN contents
        ON contents.tenant = ?1 AND contents.digest = named.value AND contents.body IS NOT NULL
    LEFT JOIN summaries
        ON summaries.tenant = ?1 AND summaries.key = named.value AND contents.id IS NULL
    ORDER BY named.key
"""
_LINK_SOURCE = "INSERT INTO summary_sources (summary, number, content, below) VALUES (?, ?, ?, ?)"
_DELETE_SUMMARIES = """
    WITH RECURSIVE gone (id) AS (
        SELECT summary FROM summary_sources WHERE content = ?
        UNION
        SELECT sources.summary FROM gone JOIN summary_sources AS sources ON sources.below = gone.id
    )
    DELETE FROM summaries WHERE id IN (SELECT id FROM gone)
"""

_RECORDS = """
    SELECT e.seq, e.digest, e.role, r.kind, r.text
    FROM entries e JOIN branches b ON b.id = e.branch
    JOIN records r ON r.session = b.session AND r.content = e.content
    WHERE e.branch = ? AND e.seq >= ? AND e.seq < ? AND e.absence <> 'erased' AND r.number > 0
    ORDER BY e.seq, r.number
"""
_CONTENT_IN_SESSION = """
    SELECT id FROM contents WHERE tenant = ? AND digest = ? AND body IS NOT NULL AND EXISTS (
        SELECT 1 FROM entries JOIN branches ON branches.id = entries.branch
        WHERE entries.content = contents.id AND branches.session = ? AND entries.absence <> 'erased'
    )
"""
_SAVE_RECORD = "INSERT INTO records (session, content, number, kind, text) VALUES (?, ?, ?, ?, ?)"
_UNMINED = """
    SELECT digest, format, body FROM contents
    WHERE body IS NOT NULL AND id IN (
        SELECT entries.content FROM entries JOIN branches ON branches.id = entries.branch
        WHERE branches.session = ?1 AND entries.absence <> 'erased'
    ) AND NOT EXISTS (SELECT 1 FROM records WHERE session = ?1 AND content = contents.id)
    ORDER BY id DESC LIMIT ?2
"""
_MINED = ("", "")
"""Kind and text of record 0, which says that the content was mined."""

_TASK = "number, name, started_at, ended_at, first, last, summary"
_TASKS = f"""
    SELECT {_TASK} FROM tasks WHERE session = ? AND left_behind = 0 ORDER BY number
"""  # noqa: S608 — constants
_START_TASK = f"""
    INSERT INTO tasks (session, number, name, started_at, first)
    SELECT ?1, coalesce(max(number), 0) + 1, ?2, ?3, ?4 FROM tasks WHERE session = ?1
    RETURNING {_TASK}
"""  # noqa: S608 — constants
_END_TASK = f"""
    UPDATE tasks SET ended_at = ?, last = ? WHERE session = ? AND ended_at IS NULL RETURNING {_TASK}
"""  # noqa: S608 — constants
_SAVE_TASK_SUMMARY = """
    UPDATE tasks SET summary = ?
    WHERE session = ? AND number = ? AND ended_at IS NOT NULL AND left_behind = 0 RETURNING number
"""
_FORK_TASKS = """
    UPDATE tasks
    SET left_behind = first >= :at AND ended_at IS NOT NULL,
        first = iif(ended_at IS NULL, min(first, :at), first),
        last = iif(first < :at, min(last, :at - 1), last),
        summary = iif(first < :at AND last >= :at, NULL, summary)
    WHERE session = :session AND left_behind = 0
"""
_DELETE_TASK_SUMMARIES = "UPDATE tasks SET summary = NULL WHERE session = ?1 AND first <= ?2 AND last >= ?2"

_COMPRESSIONS = """
    SELECT created_at, original, compressed, seconds, what FROM compressions
    WHERE session = ? ORDER BY number DESC LIMIT ?
"""
_SAVE_COMPRESSION = """
    INSERT INTO compressions (session, number, created_at, original, compressed, seconds, what)
    SELECT ?1, coalesce(max(number), 0) + 1, ?2, ?3, ?4, ?5, ?6 FROM compressions WHERE session = ?1
"""

_BUILDS = """
    SELECT number, created_at, preset, model, budget, tokens, manifest FROM builds
    WHERE session = ?1 AND number >= coalesce(?2, 0) AND number <= coalesce(?3, 9223372036854775807)
    ORDER BY number DESC LIMIT ?4
"""
_SAVE_BUILD = """
    INSERT INTO builds (session, number, created_at, preset, model, budget, tokens, manifest)
    SELECT id, 1 + coalesce((SELECT max(number) FROM builds WHERE session = id), 0), ?3, ?4, ?5, ?6, ?7, ?8
    FROM sessions WHERE id = ?1 AND tenant = ?2
    RETURNING number
"""
_AMEND_BUILD = "UPDATE builds SET manifest = ? WHERE session = ? AND number = ?"
_COUNT_AMENDMENT = "UPDATE sessions SET amended = amended + 1 WHERE id = ?"


def read_summaries(db: apsw.Connection, tenant: int, keys: Sequence[str]) -> dict[str, SummaryRecord]:
    found = read_records(db, SummaryRecord, _SUMMARIES, (tenant, json.dumps(list(keys))))
    return {record.key: record for record in found}


def save_summary(db: apsw.Connection, tenant: int, record: SummaryRecord, sources: Sequence[str]) -> bool:
    """Store a summary, unless a source is gone: erased content must not come back in a late summary."""
    found = list(db.execute(_SUMMARY_SOURCES, (tenant, json.dumps(list(sources)))))
    if not found or (None, None) in found:
        return False
    text = storable(record.text)
    row = (record.key, text, text_hash(text), record.tokens, record.by, record.level, record.created_at)
    summary = db.execute(_SAVE_SUMMARY, (tenant, *row)).get
    if summary is not None:
        db.execute("DELETE FROM summary_sources WHERE summary = ?", (summary,))
        links = [(summary, number, *source) for number, source in enumerate(found)]
        db.executemany(_LINK_SOURCE, links)
    return True


def delete_summaries(db: apsw.Connection, contents: Sequence[tuple[int]]) -> None:
    """Delete the summaries that cover one of the contents, at every level."""
    db.executemany(_DELETE_SUMMARIES, contents)


def text_hash(text: str) -> str:
    return sha256(text.encode()).hexdigest()


def read_typed_records(db: apsw.Connection, head: Head, start: int, stop: int | None) -> list[TypedRecord]:
    slices = branch_slices(db, head, start, stop)
    return [record for each in slices for record in read_records(db, TypedRecord, _RECORDS, each)]


def save_typed_records(
    db: apsw.Connection, tenant: int, session: int, records: Mapping[str, Sequence[tuple[str, str]]]
) -> None:
    for digest, found in records.items():
        content = content_in_session(db, tenant, session, digest)
        if content is None:  # erased while it was mined
            continue
        db.execute("DELETE FROM records WHERE session = ? AND content = ?", (session, content))
        numbered = enumerate((_MINED, *found))
        rows = [(session, content, number, kind, storable(text)) for number, (kind, text) in numbered]
        db.executemany(_SAVE_RECORD, rows)


def content_in_session(db: apsw.Connection, tenant: int, session: int, digest: str) -> int | None:
    """The number of a content that the session has; None if it has no such message, or erased it."""
    content: int | None = db.execute(_CONTENT_IN_SESSION, (tenant, digest, session)).get
    return content


def unmined(db: apsw.Connection, session: int, limit: int) -> list[Content]:
    return read_records(db, Content, _UNMINED, (session, limit))


def read_tasks(db: apsw.Connection, session: int) -> list[TaskRecord]:
    return read_records(db, TaskRecord, _TASKS, (session,))


def start_task(db: apsw.Connection, session: int, head: Head, *, name: str, now: float) -> TaskRecord:
    end_task(db, session, head, now=now)
    (task,) = read_records(db, TaskRecord, _START_TASK, (session, storable(name), now, head.length))
    return task


def end_task(db: apsw.Connection, session: int, head: Head, *, now: float) -> TaskRecord | None:
    ended = read_records(db, TaskRecord, _END_TASK, (now, head.length - 1, session))
    return ended[0] if ended else None


def save_task_summary(db: apsw.Connection, session: int, number: int, text: str) -> bool:
    return db.execute(_SAVE_TASK_SUMMARY, (storable(text), session, number)).get is not None


def fork_tasks(db: apsw.Connection, session: int, at: int) -> None:
    """Adjust tasks to a fork: later ones are dropped, one that spans `at` is cut, the open one goes on."""
    db.execute(_FORK_TASKS, {"session": session, "at": at})


def delete_task_summaries(db: apsw.Connection, session: int, seqs: Sequence[int]) -> None:
    """Delete the task summaries that cover one of these messages."""
    db.executemany(_DELETE_TASK_SUMMARIES, [(session, seq) for seq in seqs])


def read_compressions(db: apsw.Connection, session: int, limit: int) -> list[CompressionRecord]:
    return read_records(db, CompressionRecord, _COMPRESSIONS, (session, limit))


def save_compression(db: apsw.Connection, session: int, record: CompressionRecord) -> None:
    db.execute(_SAVE_COMPRESSION, (session, *astuple(record)))


def read_builds(
    db: apsw.Connection, session: int, first: int | None = None, *, last: int | None = None, limit: int
) -> list[BuildRecord]:
    """The builds of a session from one number to another, newest first."""
    return read_records(db, BuildRecord, _BUILDS, (session, first, last, limit))


def save_build(db: apsw.Connection, tenant: int, session: int, build: BuildRecord) -> int:
    """Store a build and return its number; 0 if the tenant has no such session."""
    _, *row = astuple(build)  # the store gives it its number
    number: int | None = db.execute(_SAVE_BUILD, (session, tenant, *row)).get
    return number or 0


def amend_build(db: apsw.Connection, session: int, number: int, manifest: str) -> None:
    db.execute(_AMEND_BUILD, (manifest, session, number))
    db.execute(_COUNT_AMENDMENT, (session,))
