"""A name in → the session of that name, made if it is not there."""

from __future__ import annotations

import apsw

from foveal.store.base import Head, SessionRecord

_SESSION = "SELECT id, name, format, model, preset, created_at, branch, length, version FROM sessions"
_MAKE = "INSERT INTO sessions (tenant, name, created_at, branch) VALUES (?, ?, ?, 0)"
_REMEMBER = """
    UPDATE sessions SET model = iif(?1 = '', model, ?1), preset = iif(?2 = '', preset, ?2)
    WHERE tenant = ?3 AND name = ?4
"""


def known(db: apsw.Connection, tenant: int, name: str) -> SessionRecord | None:
    found = _read(db, "WHERE tenant = ? AND name = ?", (tenant, name))
    return found[0] if found else None


def all_of(db: apsw.Connection, tenant: int) -> list[SessionRecord]:
    return _read(db, "WHERE tenant = ? ORDER BY id", (tenant,))


def ensure(
    db: apsw.Connection, tenant: int, name: str, *, now: float, model: str, preset: str
) -> SessionRecord:
    """The session, made if it is not there; a model or preset that is given is remembered."""
    if not known(db, tenant, name):
        db.execute(_MAKE, (tenant, name, now))
        session = db.last_insert_rowid()
        db.execute("INSERT INTO branches (session) VALUES (?)", (session,))
        db.execute("UPDATE sessions SET branch = ? WHERE id = ?", (db.last_insert_rowid(), session))
    db.execute(_REMEMBER, (model, preset, tenant, name))
    return _read(db, "WHERE tenant = ? AND name = ?", (tenant, name))[0]


def _read(db: apsw.Connection, where: str, key: tuple[int | str, ...]) -> list[SessionRecord]:
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
