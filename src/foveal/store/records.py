"""Decisions, constraints and corrections in, by the content that says them → those of a session, in order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import apsw

from foveal.store.base import Content, Head, TypedRecord
from foveal.store.history import pieces
from foveal.store.storing import storable

_READ = """
    SELECT e.seq, e.digest, e.role, r.kind, r.text
    FROM entries e JOIN records r ON r.content = e.content
    WHERE e.branch = ? AND e.seq >= ? AND e.seq < ? AND e.absence <> 'erased'
    ORDER BY e.seq, r.number
"""
_MINED = """
    UPDATE contents SET mined = 1 WHERE tenant = ? AND digest = ? AND body IS NOT NULL RETURNING id
"""
_SAVE = "INSERT INTO records (content, number, kind, text) VALUES (?, ?, ?, ?)"
_UNMINED = """
    SELECT digest, format, body FROM contents
    WHERE tenant = ?1 AND body IS NOT NULL AND mined = 0 AND (?2 IS NULL OR EXISTS (
        SELECT 1 FROM entries JOIN branches ON branches.id = entries.branch
        WHERE entries.content = contents.id AND branches.session = ?2 AND entries.absence <> 'erased'
    ))
    ORDER BY id DESC LIMIT ?3
"""


def read(db: apsw.Connection, head: Head, start: int, stop: int | None) -> list[TypedRecord]:
    return [
        TypedRecord(seq=seq, digest=digest, role=role, kind=kind, text=text)
        for piece in pieces(db, head, start, stop)
        for seq, digest, role, kind, text in db.execute(_READ, piece)
    ]


def save(db: apsw.Connection, tenant: int, records: Mapping[str, Sequence[tuple[str, str]]]) -> None:
    for digest, found in records.items():
        content = db.execute(_MINED, (tenant, digest)).get
        if content is None:  # erased while it was read
            continue
        db.execute("DELETE FROM records WHERE content = ?", (content,))
        rows = [(content, number, kind, storable(text)) for number, (kind, text) in enumerate(found)]
        db.executemany(_SAVE, rows)


def unmined(db: apsw.Connection, tenant: int, *, session: int | None, limit: int) -> list[Content]:
    return [
        Content(digest=digest, format=wire, body=body)
        for digest, wire, body in db.execute(_UNMINED, (tenant, session, limit))
    ]
