"""Implement the pools port on SQLite."""

from __future__ import annotations

from collections.abc import Sequence

import apsw

from foveal.errors import NotFoundError
from foveal.store.port_pools import PoolRecord
from foveal.store.sqlite.connection import Database, read_records, read_rows
from foveal.store.sqlite.messages import storable
from foveal.store.sqlite.sessions import head_of

_POOLS = "SELECT pools.id, pools.name, pools.budget, pools.created_at FROM pools"
_ADD = "INSERT OR IGNORE INTO pools (tenant, name, budget, created_at) VALUES (?, ?, ?, ?)"
_SET_BUDGET = "UPDATE pools SET budget = ? WHERE tenant = ? AND name = ?"
_OF = f"{_POOLS} JOIN sessions ON sessions.pool = pools.id WHERE sessions.id = ? AND sessions.tenant = ?"
_MEMBERS = "SELECT name FROM sessions WHERE pool = ? AND tenant = ? ORDER BY id"


class SqlitePools:
    """Implements `foveal.store.port_pools.Pools`, which documents each method."""

    def __init__(self, database: Database, tenant: int) -> None:
        self._database = database
        self._tenant = tenant

    def save(self, name: str, *, now: float, budget: int | None = None) -> PoolRecord:
        name = storable(name)
        with self._database.writing() as db:
            db.execute(_ADD, (self._tenant, name, budget, now))
            if budget is not None:
                db.execute(_SET_BUDGET, (budget, self._tenant, name))
            bindings = (self._tenant, name)
            (found,) = read_records(db, PoolRecord, f"{_POOLS} WHERE tenant = ? AND name = ?", bindings)
            return found

    def set_budget(self, pool: int, budget: int | None) -> None:
        with self._database.writing() as db:
            self._check(db, pool)
            db.execute("UPDATE pools SET budget = ? WHERE id = ?", (budget, pool))

    def all(self) -> Sequence[PoolRecord]:
        with self._database.reading() as db:
            return read_records(db, PoolRecord, f"{_POOLS} WHERE tenant = ? ORDER BY id", (self._tenant,))

    def delete(self, pool: int) -> None:
        with self._database.writing() as db:
            self._check(db, pool)
            db.execute("UPDATE sessions SET pool = NULL WHERE pool = ?", (pool,))
            db.execute("DELETE FROM pools WHERE id = ?", (pool,))

    def join(self, session: int, pool: int | None) -> None:
        with self._database.writing() as db:
            head_of(db, self._tenant, session)
            if pool is not None:
                self._check(db, pool)
            db.execute("UPDATE sessions SET pool = ? WHERE id = ?", (pool, session))

    def of(self, session: int) -> PoolRecord | None:
        with self._database.reading() as db:
            return next(iter(read_records(db, PoolRecord, _OF, (session, self._tenant))), None)

    def members(self, pool: int) -> Sequence[str]:
        with self._database.reading() as db:
            return [name for (name,) in read_rows(db, _MEMBERS, (pool, self._tenant), str)]

    def _check(self, db: apsw.Connection, pool: int) -> None:
        """Raise `NotFoundError` unless the pool is this tenant's."""
        if not read_records(db, PoolRecord, f"{_POOLS} WHERE tenant = ? AND id = ?", (self._tenant, pool)):
            raise NotFoundError(f"no pool has the number {pool}", remedy="`pools` lists them", see="pools")
