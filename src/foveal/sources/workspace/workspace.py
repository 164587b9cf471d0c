"""A folder in → the files below it that may be read, and their texts, each read again only when it changed.

Nothing outside the folder is ever read, no secret, no device, nothing that does not end, nothing that
`.gitignore` names. Everybody who wants a file of the user's reads it through here.

The texts of files in → the same, and what was made of them, until they change.

Texts are forgotten, the oldest first, when they become many; what was made of them is small and stays.
"""

from __future__ import annotations

import os
import stat
import threading
import time
from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar, cast

from foveal.errors import InputError
from foveal.sources.workspace.gitignore import Ignoring
from foveal.sources.workspace.safe_open import (
    Unusable,
    below,
    decoded,
    read,
    resolved,
    shown,
    version,
)
from foveal.sources.workspace.secrets import secret_folder, secret_text
from foveal.sources.workspace.values import Limits, Refusal, Seen
from foveal.sources.workspace.walk import REPOSITORY, SECRET, UNWALKED, Walk, seen_as, unreadable

__all__ = ["Limits", "Refusal", "Seen", "Workspace"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What is known of a file that was read."""

    path: str
    version: str
    settled: bool
    """False: written to so short a time before that another write might not show in its version."""
    ignored: bool
    """Read for somebody who asked for it although `.gitignore` might name it."""
    usable: bool
    """False: what was read is no text, or a secret."""
    text: str | None
    """None: forgotten, or never usable."""
    generation: int = 0
    """Another one for another text."""


class Memory:
    """What is known of the files of one workspace. Safe to share between threads."""

    def __init__(self, characters: int) -> None:
        self._most, self._held = characters, 0
        self._lock = threading.Lock()
        self._known: dict[str, Known] = {}
        self._texts: dict[str, int] = {}
        """The paths whose texts are held, oldest first, with their lengths."""
        self._made: dict[str, dict[str, tuple[int, object]]] = {}
        self._generations = 0

    def known(self, path: str) -> Known | None:
        return self._known.get(path)

    def keep(self, fresh: Known) -> Known:
        """Remember what was just read; the same text as before is of the same generation."""
        with self._lock:
            before = self._known.get(fresh.path)
            kept = replace(fresh, generation=self._generation(before, fresh))
            self._known[fresh.path] = kept
            self._hold(kept)
            return kept

    def _generation(self, before: Known | None, fresh: Known) -> int:
        if before and before.usable and fresh.usable:
            unchanged = before.settled and before.version == fresh.version
            if unchanged or before.text == fresh.text:
                return before.generation
        self._generations += 1
        return self._generations

    def _hold(self, kept: Known) -> None:
        self._held += len(kept.text or "") - self._texts.pop(kept.path, 0)
        self._texts[kept.path] = len(kept.text or "")
        while self._held > self._most and len(self._texts) > 1:
            oldest = next(iter(self._texts))
            self._held -= self._texts.pop(oldest)
            self._known[oldest] = replace(self._known[oldest], text=None)

    def made(self, known: Known, name: str) -> tuple[int, object] | None:
        """What was made of this very text under that name, in a pair that says there is something."""
        found = self._made.get(known.path, {}).get(name)
        return found if found and found[0] == known.generation else None

    def keep_made(self, known: Known, name: str, value: object) -> tuple[int, object]:
        with self._lock:
            made = (known.generation, value)
            # What was made of an earlier text is of no use any more.
            others = self._made.get(known.path, {}).items()
            current = {other: found for other, found in others if found[0] == known.generation}
            self._made[known.path] = current | {name: made}
            return made

    def retain(self, paths: AbstractSet[str]) -> None:
        """Forget the files that are not among `paths`, but for those asked for in spite of `.gitignore`."""
        with self._lock:
            for path in [path for path in self._known if path not in paths and not self._known[path].ignored]:
                del self._known[path]
                self._made.pop(path, None)
                self._held -= self._texts.pop(path, 0)


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
                remedy="name a folder that exists",
                field="workspace",
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
