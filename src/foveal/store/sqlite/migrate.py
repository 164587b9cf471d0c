"""Bring a store file to the current schema, in numbered steps; all of them succeed or none does."""

from __future__ import annotations

import json
from importlib.resources import files

import apsw

from foveal.errors import StoreDamagedError, StoreError
from foveal.pipeline.turns import erased_key
from foveal.store.sqlite.connection import transaction

APPLICATION_ID = 0x666F7661  # "fova"
VERSION = 10


def migrate(db: apsw.Connection, file: str, *, target: int = VERSION) -> None:
    """Bring the file up to `target`; refuse files of other applications and of newer versions."""
    if _version(db, file) >= target:
        return
    db.create_scalar_function("erased_keys", _erased_keys, 1, deterministic=True)
    with transaction(db, "BEGIN IMMEDIATE"):  # another process may be doing the same
        for step in range(_version(db, file) + 1, target + 1):
            db.execute(_sql(f"{step:04}"))
            db.pragma("application_id", APPLICATION_ID)
            db.pragma("user_version", step)


def _erased_keys(*arguments: apsw.SQLiteValue) -> str:
    """The keys of an erased entry as they are stored; what is not a list of keys goes."""
    (keys,) = arguments
    try:
        return json.dumps([erased_key(key) for key in json.loads(str(keys))]) if keys else ""
    except (ValueError, TypeError, AttributeError):
        return ""


def _version(db: apsw.Connection, file: str) -> int:
    application, version = int(db.pragma("application_id")), int(db.pragma("user_version"))
    empty = not application and not db.execute("SELECT count(*) FROM sqlite_schema").get
    if application != APPLICATION_ID and not empty:
        raise StoreDamagedError(
            f"{file} is the SQLite file of another application (application_id {application:#x})",
            remedy="use another file; this one was not changed",
        )
    if version > VERSION:
        raise StoreError(
            f"{file} was written by a newer version (schema {version}; this version knows {VERSION})",
            remedy="upgrade foveal",
        )
    return version


def _sql(name: str) -> str:
    return files("foveal.store.sqlite").joinpath(f"migrations/{name}.sql").read_text(encoding="utf-8")


def tenant_number(db: apsw.Connection, name: str) -> int:
    """The number of a tenant; a new tenant is added, with its search index."""
    known = "SELECT id FROM tenants WHERE name = ?"
    number: int | None = db.execute(known, (name,)).get
    if number is not None:
        return number
    with transaction(db, "BEGIN IMMEDIATE"):
        if (number := db.execute(known, (name,)).get) is None:
            number = db.execute("INSERT INTO tenants (name) VALUES (?) RETURNING id", (name,)).get
            db.execute(_sql("tenant").format(tenant=number))
        return int(number)


def words_of(tenant: int) -> str:
    """The name of the table that indexes a tenant's words."""
    return f"words_{tenant}"
