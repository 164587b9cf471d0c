"""The address of a store in, an open store out.

Folders and the file are made as needed, readable by their owner alone. A file that is not ours is refused
before anything in it is changed.
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Literal, get_args

import apsw

from foveal.errors import ConfigError, StoreDamagedError, StoreError
from foveal.store.port import Store
from foveal.store.sqlite.connection import Database, translated
from foveal.store.sqlite.schema import migrate
from foveal.store.sqlite.store import SqliteStore

Durability = Literal["normal", "full"]
MEMORY = ":memory:"


def open_store(
    url: str | Path,
    *,
    tenant: str = "default",
    durability: Durability = "normal",
    wait_seconds: float = 10.0,
    create: bool = True,
) -> Store:
    """Open the store at a path, `sqlite:///path` or `:memory:`, for one tenant.

    What was stored survives the end of the process in any way; with `durability="full"` it also survives
    the loss of power.
    """
    place = _place(str(url))
    if not tenant:
        raise ConfigError("the tenant is empty", remedy="name a tenant, or leave `tenant` out")
    if durability not in get_args(Durability):
        raise ConfigError(f"durability {durability!r} is unknown", remedy="use `normal` or `full`")
    with translated(place, wait_seconds):
        if place != MEMORY and (create or Path(place).exists()):
            _make(Path(place))
        elif place != MEMORY:
            raise StoreError(
                f"there is no store at {place}",
                remedy="check the path; `foveal add`, `import` or `remember` makes one",
            )
        connection = _connect(place, durability, wait_seconds)
    return SqliteStore(Database(connection, place, wait_seconds=wait_seconds), tenant)


def _place(url: str) -> str:
    scheme, separator, rest = url.partition("://")
    if separator and scheme in ("postgresql", "postgres"):
        raise ConfigError(
            f"stores at {scheme}://… come in a later version",
            remedy="use a path, `sqlite:///path` or `:memory:`",
        )
    if separator and scheme != "sqlite":
        raise ConfigError(
            f"no store has addresses that start with {scheme}://",
            remedy="use a path, `sqlite:///path` or `:memory:`",
        )
    path = rest.removeprefix("/") if separator else url
    if not path or "\0" in path or not _is_unicode(path):
        raise ConfigError(
            f"the store address {url!r} names no file",
            remedy="use a path, `sqlite:///path` or `:memory:`",
        )
    return path if path == MEMORY else os.path.abspath(os.path.expanduser(path))


def _is_unicode(path: str) -> bool:
    return path == path.encode("utf-8", "replace").decode()


def _make(file: Path) -> None:
    missing = [folder for folder in file.parents if not folder.exists()]
    for folder in reversed(missing):
        folder.mkdir(mode=0o700, exist_ok=True)
    try:
        # Never opened when it exists: closing it again would drop the locks this process holds on it.
        os.close(os.open(file, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    except FileExistsError:
        _refuse_scrap(file)


def _refuse_scrap(file: Path) -> None:
    """A file smaller than any database looks like an empty one to SQLite, which would overwrite it."""
    size = file.stat().st_size
    if file.is_file() and 0 < size < 512:
        raise StoreDamagedError(
            f"{file} is not a Foveal store or is damaged: it has {size} bytes",
            remedy="restore a copy made with `foveal backup`, or name another file",
        )


def _connect(place: str, durability: Durability, wait_seconds: float) -> apsw.Connection:
    # SQLite does not wait when two processes switch a new file to WAL at once, so we do.
    deadline = time.monotonic() + wait_seconds
    while True:
        connection = apsw.Connection(place)
        try:
            _prepare(connection, place, durability, wait_seconds)
        except apsw.BusyError:
            connection.close()
            if time.monotonic() > deadline:
                raise
            time.sleep(0.01)
        except BaseException:
            connection.close()
            raise
        else:
            return connection


def _prepare(db: apsw.Connection, place: str, durability: Durability, wait_seconds: float) -> None:
    db.set_busy_timeout(round(wait_seconds * 1000))
    if db.readonly("main"):
        raise StoreError(
            f"{place} is read-only",
            remedy="make the file and its folder writable, or choose another place with `--store PATH`",
        )
    db.pragma("secure_delete", 1)  # what is erased is overwritten
    db.pragma("foreign_keys", 1)
    migrate(db, place)
    db.pragma("journal_mode", "wal")
    db.pragma("synchronous", durability)
