"""Store vectors by content, find contents without one, and find the nearest by an exact scan.

A scan keeps the vectors of an embedder in memory, up to a bound, and reads new ones from the file before each
search; what does not fit is read from the file every time. Erased vectors are overwritten with zeros.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import apsw

from foveal.errors import InputError
from foveal.store.decode import damaged
from foveal.store.port import Content, Head
from foveal.store.sqlite.connection import read_records, read_row, read_rows
from foveal.store.sqlite.search import CONTENTS_OF_SESSION, PRIVATE_CONTENTS
from foveal.store.sqlite.sessions import branch_slices

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]
    Numbers = NDArray[np.int64]

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
MOST_BYTES = 1 << 28
"""Vectors kept in memory for each embedder: 262,144 of 256 dimensions."""
_ROWS = 1024
_ONE_THREAD = 1 << 18
"""Numbers multiplied at once; for more, BLAS starts threads that wait for each other on a busy machine."""
_AFTER = """
    SELECT id, content, vector FROM vectors WHERE tenant = ? AND embedder = ? AND id > ? ORDER BY id LIMIT ?
"""
_ALIVE = "SELECT id FROM vectors WHERE tenant = ? AND embedder = ? AND id <= ?"
_WIPES = "SELECT wipes FROM tenants WHERE id = ?"


def read(
    db: apsw.Connection, head: Head, embedder: str, *, start: int, stop: int | None
) -> list[bytes | None]:
    return [
        vector
        for each in branch_slices(db, head, start, stop)
        for (vector,) in read_rows(db, _READ, (embedder, *each), bytes | None)
    ]


def save(db: apsw.Connection, tenant: int, embedder: str, vectors: Mapping[str, bytes]) -> None:
    size = vector_size(db, tenant, embedder) or len(next(iter(vectors.values()), b""))
    for digest, vector in vectors.items():
        check(vector, embedder, size)
        db.execute(_SAVE, (embedder, vector, tenant, digest))


def vector_size(db: apsw.Connection, tenant: int, embedder: str) -> int | None:
    """The size in bytes of this embedder's vectors; None if it has none."""
    row = next(read_rows(db, _SIZE, (tenant, embedder), int), None)
    if row is not None and (not row[0] or row[0] % 4):
        raise damaged(f"a vector of embedder {embedder!r} has {row[0]:,} bytes")
    return row[0] if row else None


def check(vector: bytes, embedder: str, size: int) -> None:
    """Raise `InputError` for a vector of another size."""
    if len(vector) != size or not size or size % 4:
        raise InputError(
            f"a vector has {len(vector):,} bytes; those of embedder {embedder!r} have {size:,}, four for each"
            " dimension",
            remedy="give every embedder its own name, and pass its vectors as float32",
        )


@dataclass(slots=True, kw_only=True)
class MissingVectors:
    """Finds contents without a vector, and remembers how far it has come so that no call reads all of them.

    Every content up to `done` has a vector, and every one after `low` up to `high`. Erasing one invalidates
    this, because its number may be given to a new content.
    """

    tenant: int
    embedder: str
    done: int = 0
    low: int = 0
    high: int = 0
    wipes: int = 0

    def next_contents(self, db: apsw.Connection, limit: int) -> list[Content]:
        """Contents without a vector, newest first; the same ones again until their vectors are saved."""
        wipes, newest = read_row(db, _STATE, (self.tenant,), int, int)
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
        return [content for number in found for content in read_records(db, Content, _CONTENT, (number,))]

    def _between(self, db: apsw.Connection, low: int, high: int, limit: int) -> list[int]:
        bounds = (self.tenant, self.embedder, low, high, limit)
        return [number for (number,) in read_rows(db, _MISSING, bounds, int)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """Some vectors of one embedder, with their ids and the numbers of their contents."""

    ids: Numbers
    contents: Numbers
    vectors: Floats


@dataclass(slots=True, kw_only=True)
class VectorScan:
    """The vectors of one embedder and tenant, as far as they are in memory."""

    tenant: int
    embedder: str
    most_bytes: int = MOST_BYTES
    blocks: list[Block] = field(default_factory=list)
    wipes: int = 0

    def nearest(
        self, db: apsw.Connection, vector: bytes, *, session: int | None, limit: int, floor: float
    ) -> list[tuple[int, float]]:
        """The nearest contents with a cosine above the floor, as (number, cosine), best first."""
        import numpy as np

        self._catch_up(db)
        query = np.frombuffer(vector, dtype="<f4")
        near = [_above(block, query, floor) for block in (*self.blocks, *self._not_in_memory(db))]
        if not near or limit < 1:
            return []
        contents = np.concatenate([each[0] for each in near])
        scores = np.concatenate([each[1] for each in near])
        if session is None:
            inside = ~np.isin(contents, [content for (content,) in read_rows(db, PRIVATE_CONTENTS, (), int)])
        else:
            inside = np.isin(
                contents, [content for (content,) in read_rows(db, CONTENTS_OF_SESSION, (session,), int)]
            )
        contents, scores = contents[inside], scores[inside]
        if len(scores) > limit:
            inside = scores >= np.partition(scores, -limit)[-limit]
            contents, scores = contents[inside], scores[inside]
        best = np.lexsort((-contents, -scores))[:limit]
        return [(int(contents[at]), float(scores[at])) for at in best]

    def _catch_up(self, db: apsw.Connection) -> None:
        (wipes,) = read_row(db, _WIPES, (self.tenant,), int)
        if wipes != self.wipes:
            self._blank_erased(db)
            self.wipes = wipes
        for block in _read_blocks(db, self.tenant, self.embedder, after=self._last()):
            if self._bytes() + block.vectors.nbytes > self.most_bytes:
                return
            self._add(block)

    def _add(self, block: Block) -> None:
        """Add a block, merged with earlier ones that are not larger: few blocks, few copies."""
        while self.blocks and len(self.blocks[-1].ids) <= min(len(block.ids), _ROWS // 2):
            block = _joined(self.blocks.pop(), block)
        self.blocks.append(block)

    def _blank_erased(self, db: apsw.Connection) -> None:
        import numpy as np

        alive = [id for (id,) in db.execute(_ALIVE, (self.tenant, self.embedder, self._last()))]
        for block in self.blocks:
            block.vectors[~np.isin(block.ids, alive)] = 0

    def _not_in_memory(self, db: apsw.Connection) -> Iterator[Block]:
        return _read_blocks(db, self.tenant, self.embedder, after=self._last())

    def _last(self) -> int:
        return int(self.blocks[-1].ids[-1]) if self.blocks else 0

    def _bytes(self) -> int:
        return sum(block.vectors.nbytes for block in self.blocks)


def _read_blocks(db: apsw.Connection, tenant: int, embedder: str, *, after: int) -> Iterator[Block]:
    """The vectors with ids above `after`, a thousand at a time."""
    import numpy as np

    size = vector_size(db, tenant, embedder)
    while rows := list(read_rows(db, _AFTER, (tenant, embedder, after, _ROWS), int, int, bytes)):
        ids, contents, vectors = zip(*rows, strict=True)
        if any(len(vector) != size for vector in vectors):
            raise damaged(f"the vectors of embedder {embedder!r} are not all of one size")
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


def _above(block: Block, query: Floats, floor: float) -> tuple[Numbers, Floats]:
    import numpy as np

    step = max(1, _ONE_THREAD // len(query))
    parts = [block.vectors[at : at + step] @ query for at in range(0, len(block.ids), step)]
    scores: Floats = np.concatenate(parts)
    near = scores > floor
    return block.contents[near], scores[near]
