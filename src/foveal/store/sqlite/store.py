"""Implement the store port on SQLite: one file in WAL mode, shared by any number of threads and processes."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import accumulate, takewhile

import apsw

from foveal.errors import InputError, NotFoundError
from foveal.events import Event, Reported, payload
from foveal.model import Absence, Entry, Role
from foveal.store.port import (
    BuildRecord,
    Checked,
    CompressionRecord,
    Content,
    Draft,
    Found,
    Head,
    Located,
    LoggedEvent,
    SessionRecord,
    SummaryRecord,
    TaskRecord,
    TypedRecord,
)
from foveal.store.sqlite import derived, erase, messages, sessions, vectors
from foveal.store.sqlite.connection import (
    Database,
    has_uncommitted_changes,
    read_records,
    read_row,
    read_rows,
)
from foveal.store.sqlite.knowledge import SqliteKnowledge
from foveal.store.sqlite.maintenance import backup, verify
from foveal.store.sqlite.migrate import tenant_number
from foveal.store.sqlite.pools import SqlitePools
from foveal.store.sqlite.remains import Remains
from foveal.store.sqlite.search import PRIVATE_CONTENTS, hits, search
from foveal.store.sqlite.vectors import MissingVectors, VectorScan

_EXTEND = """
    UPDATE sessions
    SET version = version + (branch <> ?1), branch = ?1, length = ?2, format = coalesce(format, ?3)
    WHERE id = ?4
"""
_BY_PREFIX = """
    SELECT digest, format, body FROM contents
    WHERE tenant = ? AND digest >= ? AND digest < ? AND body IS NOT NULL SHARED LIMIT 1
"""
_SHARED = f"AND id NOT IN ({PRIVATE_CONTENTS})"
_COUNTS = """
    SELECT digest, tokens FROM counts
    WHERE tenant = ? AND counter = ? AND digest IN (SELECT value FROM json_each(?))
"""
_SAVE_BILL = "INSERT INTO bills (tenant, model, tokenizer, counted, billed) VALUES (?, ?, ?, ?, ?)"
_BILLS = """
    SELECT counted, billed FROM bills
    WHERE tenant = ? AND model = ? AND tokenizer = ? ORDER BY id DESC LIMIT ?
"""
_MARK = """
    UPDATE entries SET pinned = coalesce(?1, pinned), absence = coalesce(?2, absence),
                       stand_in = iif(?2 IS NULL, stand_in, ?3),
                       noted_by = iif(?2 IS NULL, noted_by, ?4), restored_at = coalesce(?5, restored_at)
    WHERE branch = ?6 AND seq = ?7 AND absence <> 'erased' RETURNING seq
"""
_COUNT_CHANGE = "UPDATE sessions SET version = version + 1 WHERE id = ?"
_LOG = """
    INSERT INTO events (tenant, position, session, created_at, name, payload, retention)
    VALUES (?, ?, ?, ?, ?, ?, ?)
"""
WITH_SESSION, OF_NO_SESSION, TRANSIENT = range(3)
"""How long an event is kept: as long as its session, or until `KEPT` newer ones of its kind are there."""
KEPT = 1_000
_DROP_OLD_EVENTS = """
    DELETE FROM events WHERE tenant = ?1 AND retention > 0 AND retention = ?2 AND position <= (
        SELECT position FROM events WHERE tenant = ?1 AND retention > 0 AND retention = ?2
        ORDER BY position DESC LIMIT 1 OFFSET ?3
    )
"""
_NUMBERED = "UPDATE tenants SET events = events + ? WHERE id = ? RETURNING events"
_EVENTS = """
    SELECT position AS number, created_at, name, session, payload FROM events
    WHERE tenant = ? AND position > ? ORDER BY position LIMIT ?
"""
_EVENT_SIZES = """
    SELECT octet_length(payload) FROM events WHERE tenant = ? AND position > ? ORDER BY position LIMIT ?
"""
_EVENTS_NAMED = """
    SELECT position AS number, created_at, name, session, payload FROM events
    WHERE tenant = ?1 AND name = ?2 AND (?3 IS NULL OR position < ?3) ORDER BY position DESC LIMIT ?4
"""
_NEWEST_EVENT = "SELECT events FROM tenants WHERE id = ?"
_PREFIX = re.compile("[0-9a-f]{8,64}")


class SqliteStore:
    """Implements `foveal.store.port.Store`, which documents each method."""

    def __init__(self, database: Database, tenant: str) -> None:
        self._database = database
        self._remains = Remains(database)
        self._scans: dict[str, VectorScan] = {}
        self._missing_vectors: dict[str, MissingVectors] = {}
        with database.using() as db:
            self._tenant = tenant_number(db, messages.storable(tenant))
        self.pools = SqlitePools(database, self._tenant)
        self.knowledge = SqliteKnowledge(database, self._tenant, self._remains)

    @contextmanager
    def transaction(self, *, write: bool = True) -> Iterator[None]:
        with self._database.writing() if write else self._database.reading():
            yield

    def session(self, name: str, *, now: float, model: str = "", preset: str = "") -> SessionRecord:
        name = messages.storable(name)
        with self._database.reading() as db:
            found = sessions.find(db, self._tenant, name)
        if found and model in ("", found.model) and preset in ("", found.preset):
            return found
        with self._database.writing() as db:
            return sessions.ensure(
                db,
                self._tenant,
                name,
                now=now,
                model=messages.storable(model),
                preset=messages.storable(preset),
            )

    def sessions(self) -> Sequence[SessionRecord]:
        with self._database.reading() as db:
            return sessions.read_all(db, self._tenant)

    def find_session(self, name: str) -> SessionRecord | None:
        with self._database.reading() as db:
            return sessions.find(db, self._tenant, messages.storable(name))

    def head(self, session: int) -> Head:
        with self._database.using() as db:
            return sessions.head_of(db, self._tenant, session)

    def append(
        self, session: int, drafts: Sequence[Draft], *, counter: str, at: int | None = None
    ) -> Sequence[Entry]:
        messages.check(drafts)
        with self._database.writing() as db:
            head = sessions.head_of(db, self._tenant, session)
            start = head.length if at is None else at
            if not 0 <= start <= head.length:
                raise InputError(
                    f"cannot append at {start}: the session has {head.length} messages",
                    remedy="read `head` again and append at its `length` or before",
                )
            branch = head.branch
            if start < head.length:
                branch = sessions.fork(db, session, head, start)
                derived.fork_tasks(db, session, start)
            format = next((d.message.format for d in drafts if d.message.format != "plain"), None)
            db.execute(_EXTEND, (branch, start + len(drafts), format, session))
            target = messages.Target(tenant=self._tenant, session=session, branch=branch, counter=counter)
            return messages.append(db, target, drafts, start=start)

    def entries(self, session: int, *, start: int = 0, stop: int | None = None) -> Sequence[Entry]:
        with self._database.reading() as db:
            head = sessions.head_of(db, self._tenant, session)
            return sessions.read_entries(db, head, start, stop)

    def messages(self, session: int, *, start: int = 0, stop: int | None = None) -> Sequence[Content | None]:
        with self._database.reading() as db:
            head = sessions.head_of(db, self._tenant, session)
            return sessions.read_messages(db, head, start, stop)

    def by_handle(self, handle: str, *, shared: bool = False) -> Content | None:
        prefix = handle.removeprefix("fv-")
        if not _PREFIX.fullmatch(prefix):
            return None
        with self._database.using() as db:
            sql = _BY_PREFIX.replace("SHARED", _SHARED if shared else "")
            found = read_records(db, Content, sql, (self._tenant, prefix, prefix + "g"))
        return found[0] if found else None

    def tokens(self, digests: Sequence[str], counter: str) -> Mapping[str, int]:
        with self._database.using() as db:
            bindings = (self._tenant, counter, json.dumps(list(digests)))
            counts: dict[str, int] = dict(read_rows(db, _COUNTS, bindings, str, int))
            return counts

    def save_tokens(self, counts: Mapping[str, int], counter: str) -> None:
        with self._database.writing() as db:
            rows = [(self._tenant, counter, digest, tokens) for digest, tokens in counts.items()]
            db.executemany(messages.SAVE_COUNT, rows)

    def save_bill(self, model: str, tokenizer: str, *, counted: int, billed: int) -> None:
        with self._database.writing() as db:
            db.execute(_SAVE_BILL, (self._tenant, model, tokenizer, counted, billed))

    def bills(self, model: str, tokenizer: str, *, limit: int) -> Sequence[tuple[int, int]]:
        with self._database.using() as db:
            rows = read_rows(db, _BILLS, (self._tenant, model, tokenizer, limit), int, int)
            return [(counted, billed) for counted, billed in rows][::-1]

    def mark(  # noqa: PLR0913 — every mark that an entry has, by name
        self,
        session: int,
        seq: int,
        *,
        pinned: bool | None = None,
        absence: Absence | None = None,
        stand_in: str = "",
        noted_by: int | None = None,
        restored_at: float | None = None,
    ) -> None:
        if absence == "erased":
            raise InputError("`mark` cannot erase", remedy="call `erase`, which cannot be undone")
        with self._database.writing() as db:
            branch = sessions.branch_of(db, sessions.head_of(db, self._tenant, session), seq)
            changed = db.execute(_MARK, (pinned, absence, stand_in, noted_by, restored_at, branch, seq)).get
            if changed is None:
                raise NotFoundError(f"message {seq} was erased", remedy="add it again")
            db.execute(_COUNT_CHANGE, (session,))

    def locate(self, session: int, name: str) -> Located | None:
        with self._database.reading() as db:
            return sessions.locate(db, self._tenant, session, messages.storable(name))

    def erase(self, session: int, id: str) -> Sequence[str]:
        with self._database.writing() as db:
            head = sessions.head_of(db, self._tenant, session)
            message = sessions.locate(db, self._tenant, session, messages.storable(id))
            if message is None:
                raise NotFoundError(
                    f"there is no message {id!r}", remedy="`search` gives ids and handles", see="messages"
                )
            erased = erase.erase(db, self._tenant, session, head=head, message=message)
            self._remains.add(db)
            db.execute(_COUNT_CHANGE, (session,))
        return erased

    def delete_session(self, session: int) -> None:
        with self._database.writing() as db:
            self._check_session(db, session)
            erase.delete_session(db, self._tenant, session)
            self._remains.add(db)

    def overwrite_remains(self) -> None:
        self._remains.overwrite()

    def when_erased(self, call: Callable[[], None]) -> None:
        self._remains.report_to(call)

    def private_messages(self, session: int) -> Sequence[tuple[Content, Role]]:
        with self._database.using() as db:
            return sessions.private_messages(db, session)

    def hide(self, session: int, texts: Sequence[tuple[Role, str]]) -> None:
        with self._database.writing() as db:
            sessions.hide(db, session, sessions.head_of(db, self._tenant, session), texts)

    def search(self, query: str, *, session: int | None = None, limit: int = 10) -> Sequence[Found]:
        with self._database.reading() as db:
            self._check_session(db, session)
            return search(db, query, tenant=self._tenant, session=session, limit=limit)

    def nearest(
        self,
        vector: bytes,
        embedder: str,
        *,
        session: int | None = None,
        limit: int = 20,
        floor: float = 0.45,
    ) -> Sequence[Found]:
        with self._database.reading() as db:
            self._check_session(db, session)
            size = vectors.vector_size(db, self._tenant, embedder)
            if size is None:
                return ()
            vectors.check(vector, embedder, size)
            near = self._scan(db, embedder).nearest(db, vector, session=session, limit=limit, floor=floor)
            return hits(db, near, session=session, limit=limit)

    def summary(self, key: str) -> SummaryRecord | None:
        return self.summaries([key]).get(key)

    def summaries(self, keys: Sequence[str]) -> Mapping[str, SummaryRecord]:
        with self._database.using() as db:
            return derived.read_summaries(db, self._tenant, keys)

    def save_summary(self, record: SummaryRecord, sources: Sequence[str]) -> bool:
        with self._database.writing() as db:
            return derived.save_summary(db, self._tenant, record, sources)

    def vectors(
        self, session: int, embedder: str, *, start: int = 0, stop: int | None = None
    ) -> Sequence[bytes | None]:
        with self._database.reading() as db:
            head = sessions.head_of(db, self._tenant, session)
            return vectors.read(db, head, embedder, start=start, stop=stop)

    def save_vectors(self, by_digest: Mapping[str, bytes], embedder: str) -> None:
        with self._database.writing() as db:
            vectors.save(db, self._tenant, embedder, by_digest)

    def unembedded(self, embedder: str, *, limit: int) -> Sequence[Content]:
        with self._database.reading() as db:
            return self._missing(db, embedder).next_contents(db, limit)

    def records(self, session: int, *, start: int = 0, stop: int | None = None) -> Sequence[TypedRecord]:
        with self._database.reading() as db:
            return derived.read_typed_records(db, sessions.head_of(db, self._tenant, session), start, stop)

    def save_records(self, session: int, by_digest: Mapping[str, Sequence[tuple[str, str]]]) -> None:
        with self._database.writing() as db:
            self._check_session(db, session)
            derived.save_typed_records(db, self._tenant, session, by_digest)

    def unmined(self, session: int, *, limit: int) -> Sequence[Content]:
        with self._database.reading() as db:
            self._check_session(db, session)
            return derived.unmined(db, session, limit)

    def start_task(self, session: int, name: str, *, now: float) -> TaskRecord:
        with self._database.writing() as db:
            head = sessions.head_of(db, self._tenant, session)
            return derived.start_task(db, session, head, name=name, now=now)

    def end_task(self, session: int, *, now: float) -> TaskRecord | None:
        with self._database.writing() as db:
            return derived.end_task(db, session, sessions.head_of(db, self._tenant, session), now=now)

    def save_task_summary(self, session: int, number: int, text: str) -> bool:
        with self._database.writing() as db:
            self._check_session(db, session)
            return derived.save_task_summary(db, session, number, text)

    def tasks(self, session: int) -> Sequence[TaskRecord]:
        with self._database.reading() as db:
            self._check_session(db, session)
            return derived.read_tasks(db, session)

    def save_compression(self, session: int, record: CompressionRecord) -> None:
        with self._database.writing() as db:
            self._check_session(db, session)
            derived.save_compression(db, session, record)

    def compressions(self, session: int, *, limit: int = 1000) -> Sequence[CompressionRecord]:
        with self._database.reading() as db:
            self._check_session(db, session)
            return derived.read_compressions(db, session, limit)

    def save_build(self, session: int, build: BuildRecord) -> int:
        with self._database.writing() as db:
            number = derived.save_build(db, self._tenant, session, build)
            if not number:
                self._check_session(db, session)
            return number

    def amend_build(self, session: int, number: int, manifest: str) -> None:
        with self._database.writing() as db:
            self._check_session(db, session)
            derived.amend_build(db, session, number, manifest)

    def build(self, session: int, number: int | None = None) -> BuildRecord | None:
        with self._database.reading() as db:
            self._check_session(db, session)
            return next(iter(derived.read_builds(db, session, number, last=number, limit=1)), None)

    def builds(self, session: int, *, limit: int = 50, before: int | None = None) -> Sequence[BuildRecord]:
        with self._database.reading() as db:
            self._check_session(db, session)
            return derived.read_builds(db, session, last=None if before is None else before - 1, limit=limit)

    def log(self, session: str, events: Sequence[Event], *, now: float) -> None:
        if not events:
            return
        name = messages.storable(session)
        with self._database.writing() as db:
            (last,) = read_row(db, _NUMBERED, (len(events), self._tenant), int)
            known = sessions.find(db, self._tenant, name) is not None
            retained = [_retention(event, has_session=known) for event in events]
            rows = zip(events, retained, range(last - len(events) + 1, last + 1), strict=True)
            db.executemany(
                _LOG,
                [
                    (self._tenant, number, name, now, event.name, json.dumps(payload(event)), retention)
                    for event, retention, number in rows
                ],
            )
            for retention in {*retained} - {WITH_SESSION}:
                db.execute(_DROP_OLD_EVENTS, (self._tenant, retention, KEPT))

    def events(self, *, after: int = 0, limit: int = 1000, size: int | None = None) -> Sequence[LoggedEvent]:
        with self._database.using() as db:
            if size is not None:
                sizes = accumulate(
                    each for (each,) in read_rows(db, _EVENT_SIZES, (self._tenant, after, limit), int)
                )
                limit = max(1, sum(1 for _ in takewhile(lambda total: total <= size, sizes)))
            return read_records(db, LoggedEvent, _EVENTS, (self._tenant, after, limit))

    def events_named(self, name: str, *, before: int | None = None, limit: int = 50) -> Sequence[LoggedEvent]:
        with self._database.using() as db:
            return read_records(db, LoggedEvent, _EVENTS_NAMED, (self._tenant, name, before, limit))

    def newest_event(self) -> int:
        with self._database.using() as db:
            return int(read_row(db, _NEWEST_EVENT, (self._tenant,), int)[0])

    def verify(self) -> Checked:
        return verify(self._database, self._tenant)

    def backup(self, path: str) -> None:
        backup(self._database, path)

    def close(self) -> None:
        try:
            self._remains.close()
        finally:
            with self._database.using() as db:
                db.close()

    def _check_session(self, db: apsw.Connection, session: int | None) -> None:
        """Raise `NotFoundError` unless the session is this tenant's."""
        if session is not None:
            sessions.head_of(db, self._tenant, session)

    def _scan(self, db: apsw.Connection, embedder: str) -> VectorScan:
        fresh = VectorScan(tenant=self._tenant, embedder=embedder)
        return fresh if has_uncommitted_changes(db) else self._scans.setdefault(embedder, fresh)

    def _missing(self, db: apsw.Connection, embedder: str) -> MissingVectors:
        fresh = MissingVectors(tenant=self._tenant, embedder=embedder)
        return fresh if has_uncommitted_changes(db) else self._missing_vectors.setdefault(embedder, fresh)


def _retention(event: Event, *, has_session: bool) -> int:
    """How long the log keeps an event."""
    if isinstance(event, Reported) and event.transient:
        return TRANSIENT
    return WITH_SESSION if has_session else OF_NO_SESSION
