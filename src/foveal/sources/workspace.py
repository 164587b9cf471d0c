"""A folder in → the files below it that may be read, and their texts, each read again only when it changed.

Nothing outside the folder is ever read, no secret, no device, nothing that does not end, nothing that
`.gitignore` names. Everybody who wants a file of the user's reads it through here.
"""

from __future__ import annotations

import os
import stat
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar, cast

from foveal.errors import InputError
from foveal.sources.decoding import decoded
from foveal.sources.opening import read, resolved, version
from foveal.sources.remembering import Known, Memory
from foveal.sources.rules import Ignoring
from foveal.sources.secret import secret_folder, secret_text
from foveal.sources.seen import Limits, Refusal, Seen
from foveal.sources.spelling import Unusable, below, shown
from foveal.sources.walking import REPOSITORY, SECRET, UNWALKED, Walk, seen_as, unreadable

__all__ = ["Limits", "Refusal", "Seen", "Workspace"]

T = TypeVar("T")
_SETTLED = 20_000_000
"""Nanoseconds. Clocks of file systems tick every few milliseconds: two writes in one tick look like one."""


class Workspace:
    """A folder of somebody's, read with care. Safe to share between threads.

    What `.gitignore` says of a file that was read before is looked up again by each `scan`.
    """

    def __init__(
        self,
        root: str | Path,
        *,
        limits: Limits = Limits(),  # noqa: B008 — a frozen value
        refused: Callable[[Refusal], None] | None = None,
    ) -> None:
        whole = os.path.abspath(root)
        if not os.path.isdir(whole):
            raise InputError(
                f"the workspace {shown(str(root))!r} is not a folder",
                remedy="pass the path of a folder that exists as `workspace`",
            )
        self.root = Path(os.path.realpath(whole))
        self._root, self._spellings = str(self.root), (str(self.root), whole)
        self._limits, self._refused = limits, refused
        self._told: set[tuple[str, str, str]] = set()
        self._refusals: list[Refusal] = []
        self._telling = threading.Lock()
        self._ignoring = Ignoring(self._root, limits, self._tell)
        self._memory = Memory(limits.cached_characters)

    @property
    def refusals(self) -> tuple[Refusal, ...]:
        """Every file that was refused so far, each once."""
        return tuple(self._refusals)

    def scan(self) -> Sequence[Seen]:
        """Every file that may be read, by path. Whether it is a text shows when it is read."""
        found = Walk(self._root, self._ignoring, self._limits, self._tell).run()
        self._memory.retain({seen.path for seen in found})
        return found

    def seen(self, path: str, *, expected: bool = False) -> Seen | None:
        """One file that may be read, as people and tools spell it; None where there is none.

        Args:
            expected: somebody counts on it; that there is none is told too.
        """
        return self._allowed(path, ignored=False, expected=expected)

    def text(self, path: str, *, ignored: bool = False) -> str | None:
        """The text of a file; None where there is none or it may not be read.

        Args:
            ignored: also a file that `.gitignore` names, such as a report of tests; never a secret.
        """
        known = self._current(path, ignored=ignored)
        return known.text if known else None

    def derived(self, path: str, name: str, make: Callable[[str], T]) -> T | None:
        """What `make` makes of a file's text, made again only when that changed."""
        known = self._unchanged(path, ignored=False)
        made = self._memory.made(known, name) if known else None
        if made is None:
            known = self._current(path, ignored=False)
            if known is None or known.text is None:
                return None
            made = self._memory.made(known, name) or self._memory.keep_made(known, name, make(known.text))
        return cast("T", made[1])

    def refuse(self, refusal: Refusal) -> None:
        """Tell of a file that somebody who read it could not use, once."""
        self._tell(refusal.path, Unusable(why=refusal.why))

    def _current(self, path: str, *, ignored: bool) -> Known | None:
        """The file with its text as it is now."""
        known = self._unchanged(path, ignored=ignored)
        if known is None or (known.usable and known.text is None):
            seen = self._allowed(path, ignored=ignored)
            if seen is None:
                return None
            known = self._unchanged(seen.path, ignored=ignored)
            if known is None or (known.usable and known.text is None):
                known = self._read(seen, ignored=ignored)
        return known if known and known.usable else None

    def _unchanged(self, path: str, *, ignored: bool) -> Known | None:
        """What is known of a file, if it is still the one that was read."""
        known = self._memory.known(path)
        if known is None or not known.settled or (known.ignored and not ignored):
            return None
        try:
            return known if version(os.lstat(f"{self._root}/{path}")) == known.version else None
        except OSError:
            return None

    def _read(self, seen: Seen, *, ignored: bool) -> Known | None:
        now = time.time_ns()
        try:
            found = read(self._root, seen.path, self._limits.file_bytes)
        except OSError as fault:
            self._tell(seen.path, _fault(fault), seen.version)
            return None
        if isinstance(found, Unusable):
            self._tell(seen.path, found, seen.version)
            return None
        content, info = found
        text = _text(content)
        self._tell(seen.path, text, version(info))
        return self._memory.keep(
            Known(
                path=seen.path,
                version=version(info),
                settled=now - (info.st_mtime_ns if os.name == "nt" else info.st_ctime_ns) > _SETTLED,
                ignored=ignored,
                text=text if isinstance(text, str) else None,
                usable=isinstance(text, str),
            )
        )

    def _allowed(self, path: str, *, ignored: bool, expected: bool = False) -> Seen | None:
        """The file that a path leads to, if it may be read; its content is not looked at."""
        spelt = below(path, self._spellings, self._limits)
        if isinstance(spelt, Unusable):
            self._tell(path, spelt)
            return None
        try:
            found = self._judged(spelt, ignored=ignored)
        except OSError as fault:
            found = _fault(fault)
        self._tell(spelt or path, found or (Unusable(why="names no file") if expected else None))
        return found if isinstance(found, Seen) else None

    def _judged(self, path: str, *, ignored: bool) -> Seen | Unusable | None:
        real = resolved(self._root, path)
        if isinstance(real, Unusable):
            return real
        info = os.lstat(os.path.join(self._root, real))
        if stat.S_ISDIR(info.st_mode):
            return None
        why = self._forbidden(real, info, ignored=ignored)
        return Unusable(why=why) if why else seen_as(real, info)

    def _forbidden(self, path: str, info: os.stat_result, *, ignored: bool) -> str:
        *folders, name = path.split("/")
        plain = [folder.casefold() for folder in folders]
        if REPOSITORY in (*plain, name.casefold()):
            return "belongs to git itself"
        if any(map(secret_folder, folders)):
            return SECRET
        if why := unreadable(name, info, self._limits):
            return why
        if not ignored and not UNWALKED.isdisjoint(plain):
            return "is in a folder that programs make for themselves"
        return "is named by `.gitignore`" if not ignored and self._ignoring.name(path) else ""

    def _tell(self, path: str, found: object, version: str = "") -> None:
        """Say once of each path and version why it is not read, if so."""
        if not isinstance(found, Unusable):
            return
        told, why = (path, found.why, version), found.why
        with self._telling:
            if told in self._told or len(self._told) > self._limits.told:
                return
            self._told.add(told)
            if len(self._told) > self._limits.told:
                path, why = "", f"more than {self._limits.told:,} files were refused; the rest is not told"
        refusal = Refusal(path=shown(path), why=why)
        self._refusals.append(refusal)
        if self._refused:
            self._refused(refusal)


def _text(content: bytes) -> str | Unusable:
    text = decoded(content)
    if text is None:
        return Unusable(why="is no text: neither UTF-8 nor marked as UTF-16, or with zero bytes")
    return Unusable(why="holds a private key") if secret_text(text) else text


def _fault(fault: OSError) -> Unusable | None:
    """What the system says; nothing where there is no such file."""
    if isinstance(fault, FileNotFoundError | NotADirectoryError):
        return None
    return Unusable(why=f"cannot be read: {fault.strerror}")
