"""An error of SQLite or of the file system in, one of ours out, with the place and what to do."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import apsw

from foveal.errors import InputError, StoreBusyError, StoreDamagedError, StoreError


@contextmanager
def translated(place: str, wait_seconds: float) -> Iterator[None]:
    """Raise whatever goes wrong inside as an error of this package that names `place`."""
    try:
        yield
    except apsw.Error as error:
        raise _ours(error, place, wait_seconds) from error
    except OSError as error:
        raise StoreError(
            f"{place}: {error.strerror or error}",
            remedy="choose a place you may write to with `--store PATH` or `FOVEAL_STORE`",
        ) from error


def _ours(error: apsw.Error, place: str, wait_seconds: float) -> StoreError | InputError:
    match error:
        case apsw.BusyError() | apsw.LockedError():
            return StoreBusyError(
                f"{place} is locked by another process; waited {wait_seconds:g} s",
                remedy="try again when the other process is done, or name another store",
            )
        case apsw.NotADBError() | apsw.CorruptError():
            return StoreDamagedError(
                f"{place} is not a Foveal store or is damaged ({error})",
                remedy="restore a copy made with `foveal backup`, or name another file",
            )
        case apsw.FullError():
            return StoreError(
                f"{place}: the disk is full; nothing of this change was stored",
                remedy="free some space on that disk and try again",
            )
        case apsw.TooBigError():
            return InputError(
                f"{place}: a message is larger than the 1,000,000,000 bytes that a store can hold",
                remedy="split the message, or keep its file outside and send a reference",
            )
        case _:
            return _unusable(error, place)


def _unusable(error: apsw.Error, place: str) -> StoreError:
    match error:
        case apsw.ReadOnlyError():
            return StoreError(
                f"{place} is read-only; nothing was stored",
                remedy="make the file and its folder writable, or choose another place with `--store PATH`",
            )
        case apsw.CantOpenError():
            return StoreError(
                f"{place} cannot be opened",
                remedy="check that it is a file, not a folder, and that you may read and write it",
            )
        case apsw.ConnectionClosedError():
            return StoreError(f"{place} is closed", remedy="open the store again")
        case _:
            return StoreError(
                f"{place}: {error}; nothing of this change was stored",
                remedy="check the disk's health and free space, then run `foveal verify`",
            )
