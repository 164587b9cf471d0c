"""Compare messages with a task by meaning, for presets whose scores depend on it.

Nothing here asks a model or uses the network: vectors are static embeddings, which take microseconds,
whichever embedder searches use. Those of a session's messages are read from the store, computed for new
messages only, and kept in memory.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from foveal.errors import ConfigError
from foveal.pipeline.fixed import open_turn
from foveal.pipeline.history import History
from foveal.pipeline.recipe import default_task, items

if TYPE_CHECKING:
    from foveal.presets import Preset
    from foveal.search.embed.static import Static
    from foveal.search.values import Vector
    from foveal.session.state import SessionState

DIGITS = 6
"""Of a similarity: further ones depend on the processor."""


def similarities_to(
    preset: Preset, history: History, task: str, *, state: SessionState | None = None
) -> Mapping[int, float]:
    """How similar messages are to the task, by position, if the preset's scores depend on it.

    `state`: the session that has the messages; None if they are not stored.
    """
    if not preset.compares:
        return {}
    return (Similarity() if state is None else state.part(Similarity)).of(history, task)


class Similarity:
    """Compares messages with a task; it keeps the vectors of the messages that windows may show."""

    def __init__(self, state: SessionState | None = None) -> None:
        """`state`: the session that has the messages; None if they are not stored."""
        self._state = state
        self._vectors: dict[str, Vector] = {}
        """By digest of a message, and by text of a note in place of messages."""
        self._new: dict[str, Vector] = {}
        """Those of messages that are not stored yet."""

    def of(self, history: History, task: str) -> Mapping[int, float]:
        """By position, how similar each message that windows may show is to the task, from 0 to 1.

        Without a task, it is compared with the user's latest message and the open turn. Empty if the session
        has no embedder, or static embeddings are not installed. The caller holds the session's lock.
        """
        turns = items(history)
        task = task or default_task(turns, open_turn(history))
        embedder = self._embedder() if task.strip() else None
        if embedder is None:
            return {}
        keys = {
            item.index: history.stand_in(turn) or history.entries[item.index].digest
            for turn, found in turns.items()
            for item in found
        }
        texts = {keys[item.index]: item.text for found in turns.values() for item in found}
        self._vectors = {key: self._vectors[key] for key in texts if key in self._vectors}
        self._read(history, keys, embedder)
        self._compute(history, texts, embedder)
        query = embedder.embed([task])[0]
        # Row by row: the digits of a product of matrices depend on the number of rows.
        likeness = {key: float((row * query).sum()) for key, row in self._vectors.items()}
        return {seq: round(min(1.0, max(0.0, likeness[key])), DIGITS) for seq, key in keys.items()}

    def save(self) -> None:
        """Store the vectors of new messages, so that they are not computed again."""
        embedder = self._embedder()
        if self._stored and self._new and embedder:
            rows = {digest: row.tobytes() for digest, row in self._new.items()}
            self._stored.store.save_vectors(rows, embedder.name)
        self._new = {}

    @property
    def _stored(self) -> SessionState | None:
        """The session, if its store has vectors of static embeddings."""
        return self._state if self._state and self._state.resources.light else None

    def _embedder(self) -> Static | None:
        """Static embeddings; None if they are not installed, or the session is to have no vectors."""
        from foveal.search.embed.static import static

        try:
            if self._stored and self._stored.resources.embedder is None:
                return None
            return static()
        except ConfigError:
            return None

    def _read(self, history: History, keys: Mapping[int, str], embedder: Static) -> None:
        """Read the vectors that are stored."""
        import numpy as np

        missing = [seq for seq, key in keys.items() if key not in self._vectors]
        if not missing or (stored := self._stored) is None:
            return
        first, last = min(missing), max(missing)
        rows = stored.store.vectors(stored.id, embedder.name, start=first, stop=last + 1)
        for seq in missing:
            row, message = rows[seq - first], history.entries[seq].digest
            if row and len(row) == 4 * embedder.dimensions and keys[seq] == message:
                self._vectors[keys[seq]] = np.frombuffer(row, dtype=np.float32)

    def _compute(self, history: History, texts: Mapping[str, str], embedder: Static) -> None:
        """Compute the vectors that are missing."""
        missing = [key for key in texts if key not in self._vectors]
        rows = dict(zip(missing, embedder.embed([texts[key] for key in missing]), strict=True))
        self._vectors |= rows
        digests = {entry.digest for entry in history.entries} if rows and self._stored else set()
        self._new |= {key: row for key, row in rows.items() if key in digests and texts[key].strip()}
