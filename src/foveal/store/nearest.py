"""A vector in → the contents whose vectors point the same way, by an exact scan.

The vectors of an embedder are held in memory, up to a bound, and caught up with the file before each scan;
what does not fit is read from the file. What was erased is overwritten with zeros.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import apsw

from foveal.store.hits import OF_SESSION

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

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
