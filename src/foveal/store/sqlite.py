"""The port on SQLite: one file in WAL mode, shared by any number of threads and processes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

import apsw

from foveal.errors import InputError, NotFoundError
from foveal.events import Event, payload
from foveal.model import Absence, Entry
from foveal.store import erasing, history, storing
from foveal.store.base import (
    BuildRecord,
    Checked,
    Content,
    Draft,
    Found,
    Head,
    Located,
    LoggedEvent,
    SessionRecord,
)
from foveal.store.database import Database
from foveal.store.schema import tenant_number
from foveal.store.search import search
from foveal.store.upkeep import backup, verify

_SESSION = "SELECT id, name, format, model, preset, created_at, branch, length, version FROM sessions"

_GROW = """
    UPDATE sessions
    SET version = version + (branch <> ?1), branch = ?1, length = ?2, format = coalesce(format, ?3)
    WHERE id = ?4
"""
_BY_PREFIX = """
    SELECT digest, format, body FROM contents
    WHERE tenant = ? AND digest >= ? AND digest < ? AND body IS NOT NULL LIMIT 1
"""
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
                       stand_in = iif(?2 IS NULL, stand_in, ?3)
    WHERE branch = ?4 AND seq = ?5 AND absence <> 'erased' RETURNING seq
"""
_CHANGED = "UPDATE sessions SET version = version + 1 WHERE id = ?"
_SAVE_BUILD = """
    INSERT INTO builds (session, number, created_at, preset, model, budget, tokens, manifest)
    SELECT ?1, coalesce(max(number), 0) + 1, ?2, ?3, ?4, ?5, ?6, ?7 FROM builds WHERE session = ?1
    RETURNING number
"""
_LOG = "INSERT INTO events (tenant, session, created_at, name, payload) VALUES (?, ?, ?, ?, ?)"
_EVENTS = """
    SELECT number, created_at, name, session, payload FROM events
    WHERE tenant = ? AND number > ? ORDER BY number LIMIT ?
"""
_PREFIX = re.compile("[0-9a-f]{8,64}")
_BUILD = "SELECT number, created_at, preset, model, budget, tokens, manifest FROM builds WHERE session = ?"


class SqliteStore:
    """See `foveal.store.base.Store`, which says what each method promises."""

    def __init__(self, database: Database, tenant: str) -> None:
        self._database = database
        self._log_holds_erased = False
        with database.using() as db:
            self._tenant = tenant_number(db, storing.storable(tenant))

    @contextmanager
    def together(self, *, write: bool = True) -> Iterator[None]:
        with self._database.writing() if write else self._database.reading():
            yield
        if self._log_holds_erased:
            self._forget_log()

    def session(self, name: str, *, now: float, model: str = "", preset: str = "") -> SessionRecord:
        key = (self._tenant, storing.storable(name))
        with self._database.reading() as db:
            known = _sessions(db, "WHERE tenant = ? AND name = ?", key)
        if known and model in ("", known[0].model) and preset in ("", known[0].preset):
            return known[0]
        with self._database.writing() as db:
            _ensure(db, key, now)
            db.execute(
                "UPDATE sessions SET model = iif(?1 = '', model, ?1), preset = iif(?2 = '', preset, ?2)"
                " WHERE tenant = ?3 AND name = ?4",
                (storing.storable(model), storing.storable(preset), *key),
            )
            return _sessions(db, "WHERE tenant = ? AND name = ?", key)[0]

    def sessions(self) -> Sequence[SessionRecord]:
        with self._database.reading() as db:
            return _sessions(db, "WHERE tenant = ? ORDER BY id", (self._tenant,))

    def head(self, session: int) -> Head:
        with self._database.using() as db:
            return history.head_of(db, self._tenant, session)

    def append(
        self, session: int, drafts: Sequence[Draft], *, counter: str, at: int | None = None
    ) -> Sequence[Entry]:
        storing.check(drafts)
        with self._database.writing() as db:
            head = history.head_of(db, self._tenant, session)
            start = head.length if at is None else at
            if not 0 <= start <= head.length:
                raise InputError(
                    f"cannot store at {start}: the session has {head.length} messages",
                    remedy="read `head` again and store at its `length` or before",
                )
            branch = head.branch if start == head.length else history.fork(db, session, head, start)
            telling = next((d.message.format for d in drafts if d.message.format != "plain"), None)
            db.execute(_GROW, (branch, start + len(drafts), telling, session))
            target = storing.Target(tenant=self._tenant, session=session, branch=branch, counter=counter)
            return storing.store(db, target, drafts, start=start)

    def entries(self, session: int, *, start: int = 0, stop: int | None = None) -> Sequence[Entry]:
        with self._database.reading() as db:
            head = history.head_of(db, self._tenant, session)
            return history.read_entries(db, head, start, stop)

    def messages(self, session: int, *, start: int = 0, stop: int | None = None) -> Sequence[Content | None]:
        with self._database.reading() as db:
            head = history.head_of(db, self._tenant, session)
            return history.read_messages(db, head, start, stop)

    def by_handle(self, handle: str) -> Content | None:
        prefix = handle.removeprefix("fv-")
        if not _PREFIX.fullmatch(prefix):
            return None
        with self._database.using() as db:
            row = db.execute(_BY_PREFIX, (self._tenant, prefix, prefix + "g")).fetchone()
        return Content(digest=row[0], format=row[1], body=row[2]) if row else None

    def tokens(self, digests: Sequence[str], counter: str) -> Mapping[str, int]:
        with self._database.using() as db:
            return dict(db.execute(_COUNTS, (self._tenant, counter, json.dumps(list(digests)))))

    def save_tokens(self, counts: Mapping[str, int], counter: str) -> None:
        with self._database.writing() as db:
            rows = [(self._tenant, counter, digest, tokens) for digest, tokens in counts.items()]
            db.executemany(storing.COUNT, rows)

    def save_bill(self, model: str, tokenizer: str, *, counted: int, billed: int) -> None:
        with self._database.writing() as db:
            db.execute(_SAVE_BILL, (self._tenant, model, tokenizer, counted, billed))

    def bills(self, model: str, tokenizer: str, *, limit: int) -> Sequence[tuple[int, int]]:
        with self._database.using() as db:
            return list(db.execute(_BILLS, (self._tenant, model, tokenizer, limit)))[::-1]

    def mark(
        self,
        session: int,
        seq: int,
        *,
        pinned: bool | None = None,
        absence: Absence | None = None,
        stand_in: str = "",
    ) -> None:
        if absence == "erased":
            raise InputError("`mark` cannot erase", remedy="call `erase`, which cannot be undone")
        with self._database.writing() as db:
            branch = history.branch_of(db, history.head_of(db, self._tenant, session), seq)
            changed = db.execute(_MARK, (pinned, absence, stand_in, branch, seq)).get
            if changed is None:
                raise NotFoundError(f"message {seq} was erased", remedy="add it again")
            db.execute(_CHANGED, (session,))

    def locate(self, session: int, name: str) -> Located | None:
        with self._database.reading() as db:
            return history.locate(db, self._tenant, session, storing.storable(name))

    def erase(self, session: int, id: str) -> Sequence[str]:
        with self._database.writing() as db:
            head = history.head_of(db, self._tenant, session)
            place = history.locate(db, self._tenant, session, storing.storable(id))
            if place is None:
                raise NotFoundError(f"no message {id!r}", remedy="see `foveal search`")
            erased = erasing.erase(db, self._tenant, session, head=head, place=place)
            db.execute(_CHANGED, (session,))
        self._forget_log()
        return erased

    def delete_session(self, session: int) -> None:
        with self._database.writing() as db:
            history.head_of(db, self._tenant, session)
            erasing.delete_session(db, self._tenant, session)
        self._forget_log()

    def search(self, query: str, *, session: int | None = None, limit: int = 10) -> Sequence[Found]:
        with self._database.reading() as db:
            if session is not None:
                history.head_of(db, self._tenant, session)
            return search(db, query, tenant=self._tenant, session=session, limit=limit)

    def save_build(self, session: int, build: BuildRecord) -> int:
        with self._database.writing() as db:
            history.head_of(db, self._tenant, session)
            row = (build.created_at, build.preset, build.model, build.budget, build.tokens, build.manifest)
            number: int = db.execute(_SAVE_BUILD, (session, *row)).get
            return number

    def build(self, session: int, number: int | None = None) -> BuildRecord | None:
        wanted = "" if number is None else " AND number = ?"
        key = (session,) if number is None else (session, number)
        found = self._builds(session, f"{_BUILD}{wanted} ORDER BY number DESC LIMIT 1", key)
        return found[0] if found else None

    def builds(self, session: int, *, limit: int = 50) -> Sequence[BuildRecord]:
        return self._builds(session, f"{_BUILD} ORDER BY number DESC LIMIT ?", (session, limit))

    def log(self, session: str, events: Sequence[Event], *, now: float) -> None:
        rows = [
            (self._tenant, storing.storable(session), now, e.name, json.dumps(payload(e))) for e in events
        ]
        with self._database.writing() as db:
            db.executemany(_LOG, rows)

    def events(self, *, after: int = 0, limit: int = 1000) -> Sequence[LoggedEvent]:
        with self._database.using() as db:
            return [
                LoggedEvent(number=number, created_at=created_at, name=name, session=session, payload=payload)
                for number, created_at, name, session, payload in db.execute(
                    _EVENTS, (self._tenant, after, limit)
                )
            ]

    def verify(self) -> Checked:
        return verify(self._database, self._tenant)

    def backup(self, path: str) -> None:
        backup(self._database, path)

    def close(self) -> None:
        with self._database.using() as db:
            db.close()

    def _builds(self, session: int, sql: str, key: tuple[int, ...]) -> list[BuildRecord]:
        with self._database.reading() as db:
            history.head_of(db, self._tenant, session)
            return [
                BuildRecord(
                    number=number,
                    created_at=created_at,
                    preset=preset,
                    model=model,
                    budget=budget,
                    tokens=tokens,
                    manifest=manifest,
                )
                for number, created_at, preset, model, budget, tokens, manifest in db.execute(sql, key)
            ]

    def _forget_log(self) -> None:
        """The write-ahead log still holds the old pages; empty it as far as other readers allow."""
        with self._database.using() as db:
            self._log_holds_erased = db.in_transaction  # then `together` does it when it ends
            if not self._log_holds_erased:
                db.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _ensure(db: apsw.Connection, key: tuple[int, str], now: float) -> None:
    if db.execute("SELECT 1 FROM sessions WHERE tenant = ? AND name = ?", key).get:
        return
    db.execute("INSERT INTO sessions (tenant, name, created_at, branch) VALUES (?, ?, ?, 0)", (*key, now))
    session = db.last_insert_rowid()
    db.execute("INSERT INTO branches (session) VALUES (?)", (session,))
    db.execute("UPDATE sessions SET branch = ? WHERE id = ?", (db.last_insert_rowid(), session))


def _sessions(db: apsw.Connection, where: str, key: tuple[int | str, ...]) -> list[SessionRecord]:
    return [
        SessionRecord(
            id=number,
            name=name,
            format=wire,
            model=model,
            preset=preset,
            created_at=created_at,
            head=Head(branch=branch, length=length, version=version, format=wire, model=model, preset=preset),
        )
        for number, name, wire, model, preset, created_at, branch, length, version in (
            db.execute(f"{_SESSION} {where}", key)
        )
    ]
