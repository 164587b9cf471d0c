"""A summary and what it covers in → the same under its key, until something it covers is erased.

A summary of summaries covers what they cover: when one below goes, so does every one above it.

Decisions, constraints and corrections in, by session and content → those of a session, in order.

Equal words may be a record in one session and an echo of a tool in another: no session takes over another's.

A task's beginning and end in → the stretches of a session that belong together, each with its summary.

At most one task is open. A summary that covers something erased or edited is taken away, to be made again.

What was built and compressed in → the same out again, newest first: a session's own book-keeping.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
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
from foveal.store.sqlite.messages import storable
from foveal.store.sqlite.sessions import pieces

_READ_SUMMARIES = """
    SELECT key, text, tokens, writer, level, created_at FROM summaries
    WHERE tenant = ? AND key IN (SELECT value FROM json_each(?))
"""
_SAVE_SUMMARIES = """
    INSERT INTO summaries (tenant, key, text, hash, tokens, writer, level, created_at)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (tenant, key) DO UPDATE
    SET text = excluded.text, hash = excluded.hash, tokens = excluded.tokens, writer = excluded.writer,
        level = excluded.level, created_at = excluded.created_at
    WHERE writer = 'extractive' AND excluded.writer = 'llm'
    RETURNING id
"""
_SOURCES = """
    SELECT contents.id, summaries.id
    FROM json_each(?2) AS named
    LEFT JOIN contents
        ON contents.tenant = ?1 AND contents.digest = named.value AND contents.body IS NOT NULL
    LEFT JOIN summaries
        ON summaries.tenant = ?1 AND summaries.key = named.value AND contents.id IS NULL
    ORDER BY named.key
"""
_LINK = "INSERT INTO summary_sources (summary, number, content, below) VALUES (?, ?, ?, ?)"
_FORGET_SUMMARIES = """
    WITH RECURSIVE gone (id) AS (
        SELECT summary FROM summary_sources WHERE content = ?
        UNION
        SELECT sources.summary FROM gone JOIN summary_sources AS sources ON sources.below = gone.id
    )
    DELETE FROM summaries WHERE id IN (SELECT id FROM gone)
"""


def read_summaries(db: apsw.Connection, tenant: int, keys: Sequence[str]) -> dict[str, SummaryRecord]:
    return {
        key: SummaryRecord(key=key, text=text, tokens=tokens, by=by, level=level, created_at=created_at)
        for key, text, tokens, by, level, created_at in db.execute(
            _READ_SUMMARIES, (tenant, json.dumps(list(keys)))
        )
    }


def save_summary(db: apsw.Connection, tenant: int, record: SummaryRecord, sources: Sequence[str]) -> bool:
    """Keep it, unless a source is gone: what was erased while it was made must not come back in it."""
    found = list(db.execute(_SOURCES, (tenant, json.dumps(list(sources)))))
    if not found or (None, None) in found:
        return False
    text = storable(record.text)
    row = (record.key, text, text_hash(text), record.tokens, record.by, record.level, record.created_at)
    summary = db.execute(_SAVE_SUMMARIES, (tenant, *row)).get
    if summary is not None:
        db.execute("DELETE FROM summary_sources WHERE summary = ?", (summary,))
        links = [(summary, number, *source) for number, source in enumerate(found)]
        db.executemany(_LINK, links)
    return True


def forget_summaries(db: apsw.Connection, contents: Sequence[tuple[int]]) -> None:
    """Delete the summaries that cover a content, at every level."""
    db.executemany(_FORGET_SUMMARIES, contents)


def text_hash(text: str) -> str:
    return sha256(text.encode()).hexdigest()


_READ_RECORDS = """
    SELECT e.seq, e.digest, e.role, r.kind, r.text
    FROM entries e JOIN branches b ON b.id = e.branch
    JOIN records r ON r.session = b.session AND r.content = e.content
    WHERE e.branch = ? AND e.seq >= ? AND e.seq < ? AND e.absence <> 'erased' AND r.number > 0
    ORDER BY e.seq, r.number
"""
_HELD = """
    SELECT id FROM contents WHERE tenant = ? AND digest = ? AND body IS NOT NULL AND EXISTS (
        SELECT 1 FROM entries JOIN branches ON branches.id = entries.branch
        WHERE entries.content = contents.id AND branches.session = ? AND entries.absence <> 'erased'
    )
"""
_SAVE_RECORDS = "INSERT INTO records (session, content, number, kind, text) VALUES (?, ?, ?, ?, ?)"
_UNMINED = """
    SELECT digest, format, body FROM contents
    WHERE body IS NOT NULL AND id IN (
        SELECT entries.content FROM entries JOIN branches ON branches.id = entries.branch
        WHERE branches.session = ?1 AND entries.absence <> 'erased'
    ) AND NOT EXISTS (SELECT 1 FROM records WHERE session = ?1 AND content = contents.id)
    ORDER BY id DESC LIMIT ?2
"""
_MINED = ("", "")
"""Kind and text of number 0: the content was read."""


def read_records(db: apsw.Connection, head: Head, start: int, stop: int | None) -> list[TypedRecord]:
    return [
        TypedRecord(seq=seq, digest=digest, role=role, kind=kind, text=text)
        for piece in pieces(db, head, start, stop)
        for seq, digest, role, kind, text in db.execute(_READ_RECORDS, piece)
    ]


def save_records(
    db: apsw.Connection, tenant: int, session: int, records: Mapping[str, Sequence[tuple[str, str]]]
) -> None:
    for digest, found in records.items():
        content = recorded_place(db, tenant, session, digest)
        if content is None:  # erased while it was read
            continue
        db.execute("DELETE FROM records WHERE session = ? AND content = ?", (session, content))
        numbered = enumerate((_MINED, *found))
        rows = [(session, content, number, kind, storable(text)) for number, (kind, text) in numbered]
        db.executemany(_SAVE_RECORDS, rows)


def recorded_place(db: apsw.Connection, tenant: int, session: int, digest: str) -> int | None:
    """The number of a content that the session holds; None where it does not, or no longer."""
    content: int | None = db.execute(_HELD, (tenant, digest, session)).get
    return content


def unmined(db: apsw.Connection, session: int, limit: int) -> list[Content]:
    return [
        Content(digest=digest, format=wire, body=body)
        for digest, wire, body in db.execute(_UNMINED, (session, limit))
    ]


_COLUMNS = "number, name, started_at, ended_at, first, last, summary"
_START_TASK = f"""
    INSERT INTO tasks (session, number, name, started_at, first)
    SELECT ?1, coalesce(max(number), 0) + 1, ?2, ?3, ?4 FROM tasks WHERE session = ?1
    RETURNING {_COLUMNS}
"""  # noqa: S608 — constants
_END_TASK = f"""
    UPDATE tasks SET ended_at = ?, last = ? WHERE session = ? AND ended_at IS NULL RETURNING {_COLUMNS}
"""  # noqa: S608 — constants
_READ_TASKS = f"""
    SELECT {_COLUMNS} FROM tasks WHERE session = ? AND left_behind = 0 ORDER BY number
"""  # noqa: S608 — constants
_SAVE_TASKS = """
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
_FORGET_TASKS = "UPDATE tasks SET summary = NULL WHERE session = ?1 AND first <= ?2 AND last >= ?2"


def start_task(db: apsw.Connection, session: int, head: Head, *, name: str, now: float) -> TaskRecord:
    end_task(db, session, head, now=now)
    return _task(*db.execute(_START_TASK, (session, storable(name), now, head.length)).get)


def end_task(db: apsw.Connection, session: int, head: Head, *, now: float) -> TaskRecord | None:
    row = db.execute(_END_TASK, (now, head.length - 1, session)).get
    return None if row is None else _task(*row)


def read_tasks(db: apsw.Connection, session: int) -> list[TaskRecord]:
    return [_task(*row) for row in db.execute(_READ_TASKS, (session,))]


def save_task_summary(db: apsw.Connection, session: int, number: int, text: str) -> bool:
    return db.execute(_SAVE_TASKS, (storable(text), session, number)).get is not None


def fork_tasks(db: apsw.Connection, session: int, at: int) -> None:
    """The history goes on otherwise from `at`: the open task with it, one that ended before it as it was."""
    db.execute(_FORK_TASKS, {"session": session, "at": at})


def forget_tasks(db: apsw.Connection, session: int, seqs: Sequence[int]) -> None:
    """Take away the summaries that cover one of these messages."""
    db.executemany(_FORGET_TASKS, [(session, seq) for seq in seqs])


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


_SAVE_BUILD = """
    INSERT INTO builds (session, number, created_at, preset, model, budget, tokens, manifest)
    SELECT id, 1 + coalesce((SELECT max(number) FROM builds WHERE session = id), 0), ?3, ?4, ?5, ?6, ?7, ?8
    FROM sessions WHERE id = ?1 AND tenant = ?2
    RETURNING number
"""
_AMEND = "UPDATE builds SET manifest = ? WHERE session = ? AND number = ?"
_AMENDED = "UPDATE sessions SET amended = amended + 1 WHERE id = ?"
_BUILDS = """
    SELECT number, created_at, preset, model, budget, tokens, manifest FROM builds
    WHERE session = ? AND number >= ? AND number <= ? ORDER BY number DESC LIMIT ?
"""
_LAST = 2**63 - 1
_SAVE_COMPRESSION = """
    INSERT INTO compressions (session, number, created_at, original, compressed, seconds, what)
    SELECT ?1, coalesce(max(number), 0) + 1, ?2, ?3, ?4, ?5, ?6 FROM compressions WHERE session = ?1
"""
_COMPRESSIONS = """
    SELECT created_at, original, compressed, seconds, what FROM compressions
    WHERE session = ? ORDER BY number DESC LIMIT ?
"""


def save_build(db: apsw.Connection, tenant: int, session: int, build: BuildRecord) -> int:
    """Its number; 0 where the tenant has no such session."""
    row = (build.created_at, build.preset, build.model, build.budget, build.tokens, build.manifest)
    number: int | None = db.execute(_SAVE_BUILD, (session, tenant, *row)).get
    return number or 0


def amend_build(db: apsw.Connection, session: int, number: int, manifest: str) -> None:
    db.execute(_AMEND, (manifest, session, number))
    db.execute(_AMENDED, (session,))


def read_builds(
    db: apsw.Connection, session: int, first: int | None = None, *, last: int | None = None, limit: int
) -> list[BuildRecord]:
    """The builds of a session from one number to another, newest first."""
    return [
        BuildRecord(
            number=build,
            created_at=created_at,
            preset=preset,
            model=model,
            budget=budget,
            tokens=tokens,
            manifest=manifest,
        )
        for build, created_at, preset, model, budget, tokens, manifest in (
            db.execute(
                _BUILDS,
                (session, 0 if first is None else first, _LAST if last is None else last, limit),
            )
        )
    ]


def save_compression(db: apsw.Connection, session: int, record: CompressionRecord) -> None:
    row = (record.created_at, record.original, record.compressed, record.seconds, record.what)
    db.execute(_SAVE_COMPRESSION, (session, *row))


def compressions(db: apsw.Connection, session: int, limit: int) -> list[CompressionRecord]:
    return [
        CompressionRecord(
            created_at=created_at, original=original, compressed=compressed, seconds=seconds, what=what
        )
        for created_at, original, compressed, seconds, what in db.execute(_COMPRESSIONS, (session, limit))
    ]
