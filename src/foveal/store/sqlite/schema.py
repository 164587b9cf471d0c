"""An opened file in, a store of today's schema out: numbered steps, forward only, each whole."""

from __future__ import annotations

from importlib.resources import files

import apsw

from foveal.errors import StoreDamagedError, StoreError
from foveal.store.sqlite.connection import transaction

APPLICATION_ID = 0x666F7661  # "fova"
VERSION = 4


def migrate(db: apsw.Connection, place: str, *, target: int = VERSION) -> None:
    """Bring the file up to `target`; refuse files of others, and of newer versions of this package."""
    if _version(db, place) >= target:
        return
    with transaction(db, "BEGIN IMMEDIATE"):  # another process may be doing the same
        for step in range(_version(db, place) + 1, target + 1):
            db.execute(_sql(f"{step:04}"))
            db.pragma("application_id", APPLICATION_ID)
            db.pragma("user_version", step)


def _version(db: apsw.Connection, place: str) -> int:
    application, version = int(db.pragma("application_id")), int(db.pragma("user_version"))
    empty = not application and not db.execute("SELECT count(*) FROM sqlite_schema").get
    if application != APPLICATION_ID and not empty:
        raise StoreDamagedError(
            f"{place} is the SQLite file of another application (application_id {application:#x})",
            remedy="name another file: nothing in this one was changed",
        )
    if version > VERSION:
        raise StoreError(
            f"{place} was written by a newer version (schema {version}; this one knows {VERSION})",
            remedy="upgrade foveal",
        )
    return version


def _sql(name: str) -> str:
    return files("foveal.store").joinpath(f"sql/{name}.sql").read_text(encoding="utf-8")


def tenant_number(db: apsw.Connection, name: str) -> int:
    """The number of a tenant, made with its index if it is new."""
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
    """The table that indexes the words of a tenant."""
    return f"words_{tenant}"
