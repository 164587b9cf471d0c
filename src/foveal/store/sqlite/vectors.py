"""Vectors in, by the content they stand for → those of a session, in order; and the contents without one.

A vector in → the contents whose vectors point the same way, by an exact scan.

The vectors of an embedder are held in memory, up to a bound, and caught up with the file before each scan;
what does not fit is read from the file. What was erased is overwritten with zeros.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import apsw

from foveal.errors import InputError
from foveal.store.port import Content, Head
from foveal.store.sqlite.search import OF_SESSION
from foveal.store.sqlite.sessions import pieces

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

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


if TYPE_CHECKING:
    Floats = NDArray[np.float32]
    Numbers = NDArray[np.int64]

MOST_BYTES = 1 << 28
"""Of vectors held in memory, for each embedder: 262,144 of 256 dimensions."""
_ROWS = 1024
_ALONE = (
    1 << 18
)  # numbers that one core multiplies by itself: on a busy machine BLAS threads wait for each other
_AFTER = """
    SELECT id, content, vector FROM vectors WHERE tenant = ? AND embedder = ? AND id > ? ORDER BY id LIMIT ?
"""
_ALIVE = "SELECT id FROM vectors WHERE tenant = ? AND embedder = ? AND id <= ?"
_WIPES = "SELECT wipes FROM tenants WHERE id = ?"


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """Some vectors of one embedder, with their numbers and those of their contents."""

    ids: Numbers
    contents: Numbers
    vectors: Floats


@dataclass(slots=True, kw_only=True)
class Scan:
    """The vectors of one embedder and tenant, as far as they were read."""

    tenant: int
    embedder: str
    most_bytes: int = MOST_BYTES
    blocks: list[Block] = field(default_factory=list)
    wipes: int = 0

    def nearest(
        self, db: apsw.Connection, vector: bytes, *, session: int | None, limit: int, floor: float
    ) -> list[tuple[int, float]]:
        """The numbers of the nearest contents above the floor, with their cosines, best first."""
        import numpy as np

        self._catch_up(db)
        wanted = np.frombuffer(vector, dtype="<f4")
        near = [_above(block, wanted, floor) for block in (*self.blocks, *self._beyond(db))]
        if not near or limit < 1:
            return []
        contents = np.concatenate([each[0] for each in near])
        scores = np.concatenate([each[1] for each in near])
        if session is not None:
            inside = np.isin(contents, [content for (content,) in db.execute(OF_SESSION, (session,))])
            contents, scores = contents[inside], scores[inside]
        if len(scores) > limit:
            inside = scores >= np.partition(scores, -limit)[-limit]
            contents, scores = contents[inside], scores[inside]
        best = np.lexsort((-contents, -scores))[:limit]
        return [(int(contents[place]), float(scores[place])) for place in best]

    def _catch_up(self, db: apsw.Connection) -> None:
        wipes = db.execute(_WIPES, (self.tenant,)).get
        if wipes != self.wipes:
            self._blank_erased(db)
            self.wipes = wipes
        for block in _read(db, self.tenant, self.embedder, after=self._last()):
            if self._held() + block.vectors.nbytes > self.most_bytes:
                return
            self._add(block)

    def _add(self, block: Block) -> None:
        """Joined to those before it that are no larger: few blocks, and no vector is copied often."""
        while self.blocks and len(self.blocks[-1].ids) <= min(len(block.ids), _ROWS // 2):
            block = _joined(self.blocks.pop(), block)
        self.blocks.append(block)

    def _blank_erased(self, db: apsw.Connection) -> None:
        import numpy as np

        alive = [id for (id,) in db.execute(_ALIVE, (self.tenant, self.embedder, self._last()))]
        for block in self.blocks:
            block.vectors[~np.isin(block.ids, alive)] = 0

    def _beyond(self, db: apsw.Connection) -> Iterator[Block]:
        return _read(db, self.tenant, self.embedder, after=self._last())

    def _last(self) -> int:
        return int(self.blocks[-1].ids[-1]) if self.blocks else 0

    def _held(self) -> int:
        return sum(block.vectors.nbytes for block in self.blocks)


def _read(db: apsw.Connection, tenant: int, embedder: str, *, after: int) -> Iterator[Block]:
    """The vectors after that one, some thousands at a time."""
    import numpy as np

    while rows := db.execute(_AFTER, (tenant, embedder, after, _ROWS)).fetchall():
        ids, contents, vectors = zip(*rows, strict=True)
        yield Block(
            ids=np.array(ids, dtype=np.int64),
            contents=np.array(contents, dtype=np.int64),
            vectors=np.frombuffer(b"".join(vectors), dtype="<f4").reshape(len(rows), -1).copy(),
        )
        after = ids[-1]


def _joined(first: Block, second: Block) -> Block:
    import numpy as np

    return Block(
        ids=np.concatenate([first.ids, second.ids]),
        contents=np.concatenate([first.contents, second.contents]),
        vectors=np.concatenate([first.vectors, second.vectors]),
    )


def _above(block: Block, wanted: Floats, floor: float) -> tuple[Numbers, Floats]:
    import numpy as np

    step = max(1, _ALONE // len(wanted))
    pieces = [block.vectors[at : at + step] @ wanted for at in range(0, len(block.ids), step)]
    scores: Floats = np.concatenate(pieces)
    near = scores > floor
    return block.contents[near], scores[near]
