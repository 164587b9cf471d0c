"""What was built and compressed in → the same out again, newest first: a session's own book-keeping."""

from __future__ import annotations

import apsw

from foveal.store.base import BuildRecord, CompressionRecord

_SAVE = """
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


def save(db: apsw.Connection, tenant: int, session: int, build: BuildRecord) -> int:
    """Its number; 0 where the tenant has no such session."""
    row = (build.created_at, build.preset, build.model, build.budget, build.tokens, build.manifest)
    number: int | None = db.execute(_SAVE, (session, tenant, *row)).get
    return number or 0


def amend(db: apsw.Connection, session: int, number: int, manifest: str) -> None:
    db.execute(_AMEND, (manifest, session, number))
    db.execute(_AMENDED, (session,))


def read(
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
