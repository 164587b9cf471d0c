"""Verify a store and back it up."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import apsw

from foveal.errors import FovealError, NotFoundError, StoreBusyError, StoreDamagedError, StoreError
from foveal.store.deadline import unlimited, within
from foveal.store.port import Checked
from foveal.store.sqlite.connection import Database, translated_errors
from foveal.store.sqlite.derived import text_hash
from foveal.store.sqlite.migrate import words_of
from foveal.store.sqlite.sessions import branch_slices, check_entries, head_of, read_all
from foveal.wire import address

_BODIES = """
    SELECT digest, body FROM contents WHERE tenant = ?1 AND body IS NOT NULL
    UNION ALL
    SELECT e.digest, e.body FROM entries e JOIN contents c ON c.id = e.content
    WHERE c.tenant = ?1 AND e.body IS NOT NULL
"""
_LOST = """
    SELECT s.name, e.seq FROM entries e
    JOIN branches b ON b.id = e.branch JOIN sessions s ON s.id = b.session
    LEFT JOIN contents c ON c.id = e.content AND c.digest = e.digest AND c.tenant = s.tenant
    WHERE s.tenant = ? AND (c.id IS NULL OR (c.body IS NULL AND e.absence <> 'erased'))
"""
_GAPS = """
    SELECT s.name, b.id, b.fork_at, count(e.seq), coalesce(max(e.seq) + 1, b.fork_at) AS stop
    FROM branches b JOIN sessions s ON s.id = b.session LEFT JOIN entries e ON e.branch = b.id
    WHERE s.tenant = ? GROUP BY b.id
    HAVING count(e.seq) <> stop - b.fork_at OR coalesce(min(e.seq), b.fork_at) <> b.fork_at
        OR (b.id = s.branch AND s.length <> stop)
"""
_UNINDEXED = """
    SELECT digest FROM contents
    WHERE tenant = ? AND body IS NOT NULL AND id NOT IN (SELECT rowid FROM WORDS)
"""
_SUMMARIES = "SELECT key, text, hash FROM summaries WHERE tenant = ?"
_SOURCELESS_SUMMARIES = """
    SELECT key FROM summaries WHERE tenant = ? AND id NOT IN (
        SELECT sources.summary FROM summary_sources sources
        GROUP BY sources.summary HAVING max(sources.number) = count(*) - 1
    )
"""
_DERIVED_OF_ERASED = """
    SELECT what, digest FROM contents JOIN (
        SELECT 'a summary' AS what, content FROM summary_sources WHERE content IS NOT NULL
        UNION ALL SELECT 'a vector', content FROM vectors
        UNION ALL SELECT DISTINCT 'a record', content FROM records
        UNION ALL SELECT DISTINCT 'a mention', content FROM mentions
        UNION ALL SELECT DISTINCT 'a memory', content FROM memory_sources
    ) AS made ON made.content = contents.id WHERE contents.tenant = ? AND contents.body IS NULL
"""
_MIXED_SIZES = """
    SELECT embedder, count(*) FROM vectors WHERE tenant = ?
    GROUP BY embedder HAVING min(length(vector)) <> max(length(vector)) OR max(length(vector)) % 4
"""
_SOURCELESS_KNOWLEDGE = """
    SELECT 'memory', id FROM memories
    WHERE tenant = ?1 AND told = 0 AND forgotten = 0 AND id NOT IN (SELECT memory FROM memory_sources)
    UNION ALL
    SELECT 'thing', id FROM things
    WHERE tenant = ?1 AND id NOT IN (SELECT thing FROM mentions WHERE thing IS NOT NULL)
"""
_MISCOUNTED = """
    SELECT id FROM things WHERE tenant = ? AND (SELECT count(*) FROM mentions WHERE thing = things.id)
        <> (SELECT coalesce(sum(mentions), 0) FROM engagements WHERE thing = things.id)
"""
_INVALID_TASKS = """
    SELECT tasks.number, sessions.name FROM tasks JOIN sessions ON sessions.id = tasks.session
    WHERE sessions.tenant = ? AND ((ended_at IS NULL) <> (last IS NULL) OR last < first - 1 OR first < 0
        OR (left_behind = 0 AND coalesce(last, first - 1) >= length))
"""
_BROKEN_JSON = """
    SELECT 'the record of build', number FROM builds JOIN sessions ON sessions.id = session
    WHERE tenant = ?1 AND NOT json_valid(manifest)
    UNION ALL SELECT 'event', number FROM events WHERE tenant = ?1 AND NOT json_valid(payload)
    UNION ALL
    SELECT 'a list in message', seq FROM entries
    JOIN branches ON branches.id = entries.branch JOIN sessions ON sessions.id = branches.session
    WHERE tenant = ?1 AND NOT (
        json_valid(coalesce(nullif(calls, ''), '[]')) AND json_valid(coalesce(nullif(answers, ''), '[]'))
        AND json_valid(coalesce(nullif(metadata, ''), '{}'))
    )
"""
_SESSIONS = "SELECT count(*) FROM sessions WHERE tenant = ?"
_MESSAGES = """
    SELECT count(*) FROM entries JOIN branches ON branches.id = entries.branch
    JOIN sessions ON sessions.id = branches.session WHERE sessions.tenant = ?
"""


def verify(database: Database, tenant: int) -> Checked:
    """Check the file, recompute the hash of every content of the tenant, and look for gaps."""
    problems: list[str] = []
    counts = [0, 0]

    def count(db: apsw.Connection, tenant: int) -> Iterator[str]:
        counts[:] = [db.execute(sql, (tenant,)).get for sql in (_MESSAGES, _SESSIONS)]
        yield from ()

    for check in (_problems_of_file, _problems_of_rows, _problems, _problems_of_derived, count):
        try:
            with within(unlimited()), database.reading() as db:
                problems.extend(check(db, tenant))
        except StoreBusyError:
            raise
        except StoreError as damage:  # what one check cannot read, another may
            problems.append(damage.what)
    return Checked(messages=counts[0], sessions=counts[1], faults=tuple(dict.fromkeys(problems)))


def _problems_of_file(db: apsw.Connection, _: int) -> Iterator[str]:
    for (problem,) in db.execute("PRAGMA integrity_check"):
        if problem != "ok":
            yield f"the file is damaged: {problem}"
    for table, row, parent, _key in db.execute("PRAGMA foreign_key_check"):
        yield f"row {row} of {table} points to nothing in {parent}"


def _problems_of_rows(db: apsw.Connection, tenant: int) -> Iterator[str]:
    """Rows that SQLite finds valid, and that cannot be read as what they should be."""
    for what, number in db.execute(_BROKEN_JSON, (tenant,)):
        yield f"{what} {number} is not JSON"
    for record in read_all(db, tenant):
        try:
            branch_slices(db, head_of(db, tenant, record.id), 0, None)
        except NotFoundError as error:
            yield error.what
        try:
            check_entries(db, record.id)
        except StoreDamagedError as error:
            yield f"session {record.name!r} has a message that cannot be read: {error.what}"


def _problems(db: apsw.Connection, tenant: int) -> Iterator[str]:
    for digest, body in db.execute(_BODIES, (tenant,)):
        if _address(body) != digest:
            yield f"content {digest[:20]} was changed: its hash differs"
    for name, seq in db.execute(_LOST, (tenant,)):
        yield f"message {seq} of session {name!r} has lost its content"
    for name, branch, fork_at, count, stop in db.execute(_GAPS, (tenant,)):
        yield f"branch {branch} of session {name!r} has {count} messages from {fork_at} to {stop}"
    for (digest,) in db.execute(_UNINDEXED.replace("WORDS", words_of(tenant)), (tenant,)):
        yield f"content {digest[:20]} cannot be found by search: it is not in the index"


def _problems_of_derived(db: apsw.Connection, tenant: int) -> Iterator[str]:
    """Problems of summaries, vectors, typed records, tasks, memories and things."""
    for key, text, hash in db.execute(_SUMMARIES, (tenant,)):
        if text_hash(text) != hash:
            yield f"summary {key[:20]} was changed: its hash differs"
    for (key,) in db.execute(_SOURCELESS_SUMMARIES, (tenant,)):
        yield f"summary {key[:20]} has lost its sources"
    for what, digest in db.execute(_DERIVED_OF_ERASED, (tenant,)):
        yield f"{what} of content {digest[:20]} is still there, though the content was erased"
    for embedder, count in db.execute(_MIXED_SIZES, (tenant,)):
        yield f"the {count} vectors of embedder {embedder!r} are not all of one size"
    for number, name in db.execute(_INVALID_TASKS, (tenant,)):
        yield f"task {number} of session {name!r} has an invalid range of messages"
    for what, number in db.execute(_SOURCELESS_KNOWLEDGE, (tenant,)):
        yield f"{what} {number} is still there, though every message that mentions it is gone"
    for (number,) in db.execute(_MISCOUNTED, (tenant,)):
        yield f"the mentions of thing {number} do not add up"


def _address(body: str) -> str:
    try:
        return address(body)
    except (FovealError, ValueError, RecursionError):
        return ""


def backup(database: Database, path: str) -> None:
    """Copy the whole store, as it is at this moment, to a new file, while others read and write it."""
    copy = Path(os.path.expanduser(path))
    with (
        within(unlimited()),
        database.using() as db,
        translated_errors(str(copy), database.wait_seconds),
    ):
        try:
            os.close(os.open(copy, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        except FileExistsError as error:
            raise StoreError(
                f"{copy} exists; a backup never overwrites a file", remedy="choose a file that does not exist"
            ) from error
        try:
            db.execute("VACUUM INTO ?", (str(copy),))  # a copy of the pages would have remains of erased rows
        except BaseException:
            copy.unlink()
            raise
