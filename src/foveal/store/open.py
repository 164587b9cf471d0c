"""Open the store at an address.

Missing folders and the file are created, readable by their owner only. A file that is not a Foveal store is
refused before anything in it is changed.
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Literal, get_args

import apsw

from foveal.errors import ConfigError, StoreDamagedError, StoreError, masked
from foveal.store.port import Store
from foveal.store.sqlite.connection import Database, translated_errors
from foveal.store.sqlite.migrate import migrate
from foveal.store.sqlite.store import SqliteStore

Durability = Literal["normal", "full"]
MEMORY = ":memory:"
MOST_CHARACTERS = 500
"""The longest name of a tenant."""


def open_store(
    url: str | Path,
    *,
    tenant: str = "default",
    durability: Durability = "normal",
    wait_seconds: float = 10.0,
    create: bool = True,
) -> Store:
    """Open the store at a path, `sqlite:///path` or `:memory:`, for one tenant.

    Stored data survives a crash of the process; with `durability="full"` it also survives a loss of power.
    """
    file = _file_of(str(url))
    if not isinstance(tenant, str):
        raise ConfigError(
            f"the tenant is a {type(tenant).__name__}, not text",
            remedy="pass a name as `tenant`",
            field="tenant",
        )
    if not tenant:
        raise ConfigError("the tenant is empty", remedy="pass a name as `tenant`, or omit it", field="tenant")
    if len(tenant) > MOST_CHARACTERS:
        raise ConfigError(
            f"the name of the tenant has {len(tenant):,} characters, more than {MOST_CHARACTERS}",
            remedy="pass a shorter name as `tenant`",
            field="tenant",
        )
    if durability not in get_args(Durability):
        raise ConfigError(
            f"durability {durability!r} is unknown", remedy="use `normal` or `full`", field="durability"
        )
    with translated_errors(file, wait_seconds):
        if file != MEMORY and (create or Path(file).exists()):
            _create(Path(file))
        elif file != MEMORY:
            raise StoreError(
                f"there is no store at {file}",
                remedy="check the path; `foveal add`, `import` or `remember` creates one",
            )
        connection = _connect(file, durability, wait_seconds)
    return SqliteStore(Database(connection, file, wait_seconds=wait_seconds), tenant)


def is_in_memory(url: str) -> bool:
    """Whether the address names a store that only this process can open."""
    return _file_of(url) == MEMORY


def _file_of(url: str) -> str:
    scheme, separator, rest = url.partition("://")
    if separator and scheme in ("postgresql", "postgres"):
        raise ConfigError(
            f"stores at {scheme}://… are not supported yet",
            remedy="use a path, `sqlite:///path` or `:memory:`",
        )
    if separator and scheme != "sqlite":
        raise ConfigError(
            f"unknown kind of store: {scheme}://",
            remedy="use a path, `sqlite:///path` or `:memory:`",
        )
    path = rest.removeprefix("/") if separator else url
    if not path or "\0" in path or not _is_unicode(path):
        raise ConfigError(
            f"the store address {masked(url)!r} does not name a file",
            remedy="use a path, `sqlite:///path` or `:memory:`",
        )
    return path if path == MEMORY else os.path.abspath(os.path.expanduser(path))


def _is_unicode(path: str) -> bool:
    return path == path.encode("utf-8", "replace").decode()


def _create(file: Path) -> None:
    missing = [folder for folder in file.parents if not folder.exists()]
    for folder in reversed(missing):
        folder.mkdir(mode=0o700, exist_ok=True)
    try:
        # Do not open an existing file: closing it would drop the POSIX locks that this process has on it.
        os.close(os.open(file, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    except FileExistsError:
        _refuse_fragment(file)


def _refuse_fragment(file: Path) -> None:
    """Refuse a file smaller than any database, which SQLite would take for an empty one and overwrite."""
    size = file.stat().st_size
    if file.is_file() and 0 < size < 512:
        raise StoreDamagedError(
            f"{file} is not a Foveal store or is damaged: it has {size} bytes",
            remedy="restore a copy made with `foveal backup`, or use another file",
        )


def _connect(file: str, durability: Durability, wait_seconds: float) -> apsw.Connection:
    # SQLite does not wait when two processes switch a new file to WAL at once, so we do.
    deadline = time.monotonic() + wait_seconds
    while True:
        connection = apsw.Connection(file)
        try:
            _prepare(connection, file, durability, wait_seconds)
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


def _prepare(db: apsw.Connection, file: str, durability: Durability, wait_seconds: float) -> None:
    db.set_busy_timeout(round(wait_seconds * 1000))
    if db.readonly("main"):
        raise StoreError(
            f"{file} is read-only",
            remedy="make the file and its folder writable, or choose another path with `--store PATH`",
        )
    db.pragma("secure_delete", 1)  # erased data is overwritten with zeros
    db.pragma("foreign_keys", 1)
    migrate(db, file)
    db.pragma("journal_mode", "wal")
    db.pragma("synchronous", durability)
