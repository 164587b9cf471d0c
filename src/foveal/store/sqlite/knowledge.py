"""The port for what is known, on SQLite: memories, things, bundles, predictions of one tenant."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import apsw

from foveal.store.port_knowledge import (
    BundleRecord,
    MemoryRecord,
    Mention,
    MentioningMessage,
    PredictionRecord,
    ThingRecord,
    Unread,
    WarmupRecord,
)
from foveal.store.sqlite import memories, things
from foveal.store.sqlite.connection import Database
from foveal.store.sqlite.sessions import head_of


class SqliteKnowledge:
    """See `foveal.store.port_knowledge.Knowledge`, which says what each method promises."""

    def __init__(self, database: Database, tenant: int, forget_log: Callable[[], None]) -> None:
        self._database = database
        self._tenant = tenant
        self._forget_log = forget_log
        """Takes what was overwritten out of the write-ahead log."""

    def memories(self) -> Sequence[MemoryRecord]:
        with self._database.reading() as db:
            return memories.read_memories(db, self._tenant)

    def save_memory(
        self, record: MemoryRecord, *, session: int | None = None, digest: str = ""
    ) -> MemoryRecord | None:
        with self._database.writing() as db:
            self._known(db, session)
            kept = memories.save_memory(db, self._tenant, record, session=session, digest=digest)
        if record.number:
            self._forget_log()
        return kept

    def forget_memory(self, number: int, *, now: float) -> bool:
        with self._database.writing() as db:
            gone = memories.forget_memory(db, self._tenant, number, now)
        self._forget_log()
        return gone

    def unread(self, *, limit: int, session: int | None = None) -> Sequence[Unread]:
        with self._database.reading() as db:
            self._known(db, session)
            return things.unread(db, self._tenant, limit, session)

    def save_mentions(self, session: int, by_digest: Mapping[str, Sequence[Mention]]) -> None:
        with self._database.writing() as db:
            self._known(db, session)
            things.save(db, self._tenant, session, by_digest)

    def things(self, kind: str = "") -> Sequence[ThingRecord]:
        with self._database.reading() as db:
            return things.read(db, self._tenant, kind)

    def mentioned(self, session: int) -> Mapping[int, int]:
        with self._database.reading() as db:
            self._known(db, session)
            return things.mentioned(db, self._tenant, session)

    def messages_mentioning(self, thing: int, *, limit: int) -> Sequence[MentioningMessage]:
        with self._database.reading() as db:
            return things.messages_mentioning(db, self._tenant, thing, limit)

    def change_thing(self, number: int, *, name: str = "", hidden: bool = False) -> bool:
        with self._database.writing() as db:
            changed = things.change(db, self._tenant, number, name=name, hidden=hidden)
        self._forget_log()
        return changed

    def forget_count(self) -> int:
        with self._database.using() as db:
            return memories.forget_count(db, self._tenant)

    def bundles(self, subjects: Sequence[tuple[str, str]], depth: str) -> Sequence[BundleRecord]:
        with self._database.reading() as db:
            return memories.read_bundles(db, self._tenant, subjects, depth)

    def save_bundles(self, made: Sequence[BundleRecord], *, as_of: int) -> bool:
        with self._database.writing() as db:
            return memories.save_bundles(db, self._tenant, made, as_of=as_of)

    def save_predictions(self, session: int | None, made: Sequence[PredictionRecord]) -> None:
        with self._database.writing() as db:
            self._known(db, session)
            memories.save_predictions(db, self._tenant, session, made)

    def predictions(self, session: int | None = None, *, limit: int = 1000) -> Sequence[PredictionRecord]:
        with self._database.reading() as db:
            self._known(db, session)
            return memories.predictions(db, self._tenant, session, limit)

    def warmup(self, session: int) -> WarmupRecord:
        with self._database.reading() as db:
            self._known(db, session)
            return memories.warmup(db, session)

    def save_warmup(self, session: int, record: WarmupRecord) -> None:
        with self._database.writing() as db:
            self._known(db, session)
            memories.save_warmup(db, session, record)

    def _known(self, db: apsw.Connection, session: int | None) -> None:
        """Refuse the number of a session that is not this tenant's."""
        if session is not None:
            head_of(db, self._tenant, session)
