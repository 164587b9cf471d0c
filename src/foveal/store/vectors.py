"""Vectors in, by the content they stand for → those of a session, in order; and the contents without one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import apsw

from foveal.errors import InputError
from foveal.store.base import Content, Head
from foveal.store.history import pieces

_READ = """
    SELECT iif(e.absence = 'erased', NULL, v.vector)
    FROM entries e LEFT JOIN vectors v ON v.content = e.content AND v.embedder = ?
    WHERE e.branch = ? AND e.seq >= ? AND e.seq < ? ORDER BY e.seq
"""
_SAVE = """
    INSERT INTO vectors (tenant, embedder, content, vector)
    SELECT tenant, ?, id, ? FROM contents WHERE tenant = ? AND digest = ? AND body IS NOT NULL
    ON CONFLICT (content, embedder) DO NOTHING
"""
_SIZE = "SELECT length(vector) FROM vectors WHERE tenant = ? AND embedder = ? LIMIT 1"
_MISSING = """
    SELECT id FROM contents
    WHERE tenant = ?1 AND body IS NOT NULL AND id > ?3 AND id <= ?4
        AND NOT EXISTS (SELECT 1 FROM vectors WHERE vectors.content = contents.id AND embedder = ?2)
    ORDER BY id DESC LIMIT ?5
"""
_CONTENT = "SELECT digest, format, body FROM contents WHERE id = ?"
_STATE = """
    SELECT wipes, (SELECT coalesce(max(id), 0) FROM contents WHERE tenant = ?1 AND body IS NOT NULL)
    FROM tenants WHERE id = ?1
"""


def read(
    db: apsw.Connection, head: Head, embedder: str, *, start: int, stop: int | None
) -> list[bytes | None]:
    return [
        vector
        for piece in pieces(db, head, start, stop)
        for (vector,) in db.execute(_READ, (embedder, *piece))
    ]


def save(db: apsw.Connection, tenant: int, embedder: str, vectors: Mapping[str, bytes]) -> None:
    size = size_of(db, tenant, embedder) or len(next(iter(vectors.values()), b""))
    for digest, vector in vectors.items():
        check(vector, embedder, size)
        db.execute(_SAVE, (embedder, vector, tenant, digest))


def size_of(db: apsw.Connection, tenant: int, embedder: str) -> int | None:
    """How many bytes a vector of this embedder has, if there is one."""
    size: int | None = db.execute(_SIZE, (tenant, embedder)).get
    return size


def check(vector: bytes, embedder: str, size: int) -> None:
    if len(vector) != size or not size or size % 4:
        raise InputError(
            f"a vector of {len(vector):,} bytes, where those of embedder {embedder!r} have {size:,}, four for"
            " each dimension",
            remedy="give every embedder a name of its own, and its vectors as float32",
        )


@dataclass(slots=True, kw_only=True)
class Progress:
    """How far the search for contents without a vector has come, so that no call looks at all of them.

    Every content up to `done` has a vector, and every one after `low` up to `high`, until one is erased: its
    number may be given again.
    """

    tenant: int
    embedder: str
    done: int = 0
    low: int = 0
    high: int = 0
    wipes: int = 0

    def missing(self, db: apsw.Connection, limit: int) -> list[Content]:
        """Contents without a vector, newest first. They are given again until their vectors are saved."""
        wipes, newest = db.execute(_STATE, (self.tenant,)).get
        if wipes != self.wipes:
            self.done, self.low, self.high, self.wipes = 0, 0, 0, wipes
        found = self._between(db, self.high, newest, limit)
        if found and len(found) >= limit:
            self.low, self.high = found[0], newest
        if not found:
            self.low = newest if self.low == self.high else self.low
            self.high = newest
            found = self._between(db, self.done, self.low, limit)
            self.low, self.done = (found[0], self.done) if found else (newest, newest)
        return [_content(db, number) for number in found]

    def _between(self, db: apsw.Connection, low: int, high: int, limit: int) -> list[int]:
        place = (self.tenant, self.embedder, low, high, limit)
        return [number for (number,) in db.execute(_MISSING, place)]


def _content(db: apsw.Connection, number: int) -> Content:
    digest, wire, body = db.execute(_CONTENT, (number,)).get
    return Content(digest=digest, format=wire, body=body)
