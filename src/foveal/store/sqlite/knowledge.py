"""Implement the knowledge port on SQLite."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

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
from foveal.store.sqlite.remains import Remains
from foveal.store.sqlite.sessions import head_of


class SqliteKnowledge:
    """Implements `foveal.store.port_knowledge.Knowledge`, which documents each method."""

    def __init__(self, database: Database, tenant: int, remains: Remains) -> None:
        self._database = database
        self._tenant = tenant
        self._remains = remains

    def memories(self) -> Sequence[MemoryRecord]:
        with self._database.reading() as db:
            return memories.read_memories(db, self._tenant)

    def save_memory(
        self, record: MemoryRecord, *, session: int | None = None, digest: str = ""
    ) -> MemoryRecord | None:
        with self._database.writing() as db:
            self._check_session(db, session)
            saved = memories.save_memory(db, self._tenant, record, session=session, digest=digest)
            if saved and record.number:
                self._remains.add(db)
        return saved

    def forget_memory(self, number: int, *, now: float) -> bool:
        with self._database.writing() as db:
            forgotten = memories.forget_memory(db, self._tenant, number, now)
            if forgotten:
                self._remains.add(db)
        return forgotten

    def unread(self, *, limit: int, session: int | None = None) -> Sequence[Unread]:
        with self._database.reading() as db:
            self._check_session(db, session)
            return things.unread(db, self._tenant, limit, session)

    def save_mentions(self, session: int, by_digest: Mapping[str, Sequence[Mention]]) -> None:
        with self._database.writing() as db:
            self._check_session(db, session)
            things.save_mentions(db, self._tenant, session, by_digest)

    def things(self, kind: str = "") -> Sequence[ThingRecord]:
        with self._database.reading() as db:
            return things.read_things(db, self._tenant, kind)

    def mentioned(self, session: int) -> Mapping[int, int]:
        with self._database.reading() as db:
            self._check_session(db, session)
            return things.mentioned(db, self._tenant, session)

    def messages_mentioning(self, thing: int, *, limit: int) -> Sequence[MentioningMessage]:
        with self._database.reading() as db:
            return things.messages_mentioning(db, self._tenant, thing, limit)

    def change_thing(self, number: int, *, name: str = "", hidden: bool = False) -> bool:
        with self._database.writing() as db:
            changed = things.change_thing(db, self._tenant, number, name=name, hidden=hidden)
            if changed:
                self._remains.add(db)
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
            self._check_session(db, session)
            memories.save_predictions(db, self._tenant, session, made)

    def predictions(self, session: int | None = None, *, limit: int = 1000) -> Sequence[PredictionRecord]:
        with self._database.reading() as db:
            self._check_session(db, session)
            return memories.read_predictions(db, self._tenant, session, limit)

    def warmup(self, session: int) -> WarmupRecord:
        with self._database.reading() as db:
            self._check_session(db, session)
            return memories.read_warmup(db, session)

    def save_warmup(self, session: int, record: WarmupRecord) -> None:
        with self._database.writing() as db:
            self._check_session(db, session)
            memories.save_warmup(db, session, record)

    def _check_session(self, db: apsw.Connection, session: int | None) -> None:
        """Raise `NotFoundError` unless the session is this tenant's."""
        if session is not None:
            head_of(db, self._tenant, session)
