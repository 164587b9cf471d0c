"""Decisions, constraints and corrections in, by session and content → those of a session, in order.

Equal words may be a record in one session and an echo of a tool in another: no session takes over another's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import apsw

from foveal.store.base import Content, Head, TypedRecord
from foveal.store.history import pieces
from foveal.store.storing import storable

_READ = """
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
_SAVE = "INSERT INTO records (session, content, number, kind, text) VALUES (?, ?, ?, ?, ?)"
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


def read(db: apsw.Connection, head: Head, start: int, stop: int | None) -> list[TypedRecord]:
    return [
        TypedRecord(seq=seq, digest=digest, role=role, kind=kind, text=text)
        for piece in pieces(db, head, start, stop)
        for seq, digest, role, kind, text in db.execute(_READ, piece)
    ]


def save(
    db: apsw.Connection, tenant: int, session: int, records: Mapping[str, Sequence[tuple[str, str]]]
) -> None:
    for digest, found in records.items():
        content = held(db, tenant, session, digest)
        if content is None:  # erased while it was read
            continue
        db.execute("DELETE FROM records WHERE session = ? AND content = ?", (session, content))
        numbered = enumerate((_MINED, *found))
        rows = [(session, content, number, kind, storable(text)) for number, (kind, text) in numbered]
        db.executemany(_SAVE, rows)


def held(db: apsw.Connection, tenant: int, session: int, digest: str) -> int | None:
    """The number of a content that the session holds; None where it does not, or no longer."""
    content: int | None = db.execute(_HELD, (tenant, digest, session)).get
    return content


def unmined(db: apsw.Connection, session: int, limit: int) -> list[Content]:
    return [
        Content(digest=digest, format=wire, body=body)
        for digest, wire, body in db.execute(_UNMINED, (session, limit))
    ]
