"""Read the files of a user's folder that may be read, and keep their texts until they change.

Nothing outside the folder is ever read, no secret, no device, nothing endless, nothing that `.gitignore`
excludes. All access to a user's files goes through here.
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
from foveal.sources.workspace.gitignore import IgnoreFiles
from foveal.sources.workspace.safe_open import (
    Unusable,
    decode,
    printable,
    read_file,
    relative_path,
    resolve_links,
    version,
)
from foveal.sources.workspace.secrets import may_hold_passwords, secret_folder, secret_settings, secret_text
from foveal.sources.workspace.values import FileInfo, Limits, Refusal
from foveal.sources.workspace.walk import REPOSITORY, SECRET, UNWALKED, Walk, file_info, why_unreadable

__all__ = ["FileInfo", "Limits", "Refusal", "Workspace"]

T = TypeVar("T")
BINARY = "is no text: neither UTF-8 nor marked as UTF-16, or with zero bytes"
"""Why a file that is no text is not read."""
_SETTLED = 20_000_000
"""Nanoseconds. File system clocks tick every few milliseconds: two writes in one tick look like one."""


class Workspace:
    """A user's folder, read with care. Threads may share it.

    Whether `.gitignore` excludes a file that was read before is checked again by each `scan`.
    """

    def __init__(
        self,
        root: str | Path,
        *,
        limits: Limits = Limits(),  # noqa: B008 — a frozen value
        refused: Callable[[Refusal], None] | None = None,
    ) -> None:
        if not isinstance(root, str | Path):
            raise InputError(
                f"`workspace` is a {type(root).__name__}, not a path",
                remedy="pass the path of a folder that exists",
                field="workspace",
            )
        whole = os.path.abspath(root)
        if not os.path.isdir(whole):
            raise InputError(
                f"the workspace {printable(str(root))!r} is not a folder",
                remedy="pass the path of a folder that exists",
                field="workspace",
            )
        self.root = Path(os.path.realpath(whole))
        self._root, self._spellings = str(self.root), (str(self.root), whole)
        self._limits, self._refused = limits, refused
        self._reported: set[tuple[str, str, str]] = set()
        self._refusals: list[Refusal] = []
        self._report_lock = threading.Lock()
        self._ignore_files = IgnoreFiles(self._root, limits, self._report)
        self._cache = FileCache(limits.cached_characters)

    @property
    def refusals(self) -> tuple[Refusal, ...]:
        """Every file that was refused so far, each once."""
        return tuple(self._refusals)

    def scan(self) -> Sequence[FileInfo]:
        """List every file that may be read, by path. Whether it is a text shows when it is read."""
        found = Walk(self._root, self._ignore_files, self._limits, self._report).run()
        self._cache.retain({file.path for file in found})
        return found

    def info(self, path: str, *, expected: bool = False) -> FileInfo | None:
        """One file that may be read, however its path is spelled; None where there is none.

        Args:
            expected: the caller relies on the file; if it does not exist, that is reported too.
        """
        return self._find(path, ignored=False, expected=expected)

    def text(self, path: str, *, ignored: bool = False) -> str | None:
        """The text of a file; None where there is none or it may not be read.

        Args:
            ignored: also a file that `.gitignore` excludes, such as a test report; never a secret.
        """
        cached = self._current(path, ignored=ignored)
        return cached.text if cached else None

    def derived(self, path: str, name: str, make: Callable[[str], T]) -> T | None:
        """What `make` returns for a file's text, computed again only when the text changed."""
        cached = self._unchanged(path, ignored=False)
        value = self._cache.derived(cached, name) if cached else None
        if value is None:
            cached = self._current(path, ignored=False)
            if cached is None or cached.text is None:
                return None
            value = self._cache.derived(cached, name) or self._cache.put_derived(
                cached, name, make(cached.text)
            )
        return cast("T", value[1])

    def refuse(self, refusal: Refusal) -> None:
        """Report, once, a file that a caller read and could not use."""
        self._report(refusal.path, Unusable(why=refusal.why))

    def _current(self, path: str, *, ignored: bool) -> CachedFile | None:
        """The file with its text as it is now."""
        cached = self._unchanged(path, ignored=ignored)
        if cached is None or (cached.usable and cached.text is None):
            file = self._find(path, ignored=ignored)
            if file is None:
                return None
            cached = self._unchanged(file.path, ignored=ignored)
            if cached is None or (cached.usable and cached.text is None):
                cached = self._read(file, ignored=ignored)
        return cached if cached and cached.usable else None

    def _unchanged(self, path: str, *, ignored: bool) -> CachedFile | None:
        """The cached file, if the file on disk is still the one that was read."""
        cached = self._cache.get(path)
        if cached is None or not cached.settled or (cached.ignored and not ignored):
            return None
        try:
            return cached if version(os.lstat(f"{self._root}/{path}")) == cached.version else None
        except OSError:
            return None

    def _read(self, file: FileInfo, *, ignored: bool) -> CachedFile | None:
        now = time.time_ns()
        try:
            found = read_file(self._root, file.path, self._limits.file_bytes)
        except OSError as error:
            self._report(file.path, _unusable(error), file.version)
            return None
        if isinstance(found, Unusable):
            self._report(file.path, found, file.version)
            return None
        content, info = found
        text = _text(content, os.path.basename(file.path), info)
        self._report(file.path, text, version(info))
        return self._cache.put(
            CachedFile(
                path=file.path,
                version=version(info),
                settled=now - (info.st_mtime_ns if os.name == "nt" else info.st_ctime_ns) > _SETTLED,
                ignored=ignored,
                text=text if isinstance(text, str) else None,
                usable=isinstance(text, str),
            )
        )

    def _find(self, path: str, *, ignored: bool, expected: bool = False) -> FileInfo | None:
        """The file that a path leads to, if it may be read; its content is not looked at."""
        relative = relative_path(path, self._spellings, self._limits)
        if isinstance(relative, Unusable):
            self._report(path, relative)
            return None
        try:
            found = self._check(relative, ignored=ignored)
        except OSError as error:
            found = _unusable(error)
        self._report(relative or path, found or (Unusable(why="names no file") if expected else None))
        return found if isinstance(found, FileInfo) else None

    def _check(self, path: str, *, ignored: bool) -> FileInfo | Unusable | None:
        real = resolve_links(self._root, path)
        if isinstance(real, Unusable):
            return real
        info = os.lstat(os.path.join(self._root, real))
        if stat.S_ISDIR(info.st_mode):
            return None
        why = self._why_forbidden(real, info, ignored=ignored)
        return Unusable(why=why) if why else file_info(real, info)

    def _why_forbidden(self, path: str, info: os.stat_result, *, ignored: bool) -> str:
        *folders, name = path.split("/")
        plain = [folder.casefold() for folder in folders]
        if REPOSITORY in (*plain, name.casefold()):
            return "belongs to git itself"
        if any(map(secret_folder, folders)):
            return SECRET
        if why := why_unreadable(name, info, self._limits):
            return why
        if not ignored and not UNWALKED.isdisjoint(plain):
            return "is in a folder that programs make for themselves"
        return "is named by `.gitignore`" if not ignored and self._ignore_files.ignore(path) else ""

    def _report(self, path: str, found: object, version: str = "") -> None:
        """Report why a file is unusable, once for each path and version; ignore anything else."""
        if not isinstance(found, Unusable):
            return
        key, why = (path, found.why, version), found.why
        most = self._limits.refusals
        with self._report_lock:
            if key in self._reported or len(self._reported) > most:
                return
            self._reported.add(key)
            if len(self._reported) > most:
                path, why = "", f"more than {most:,} files were refused; the rest is not listed"
        refusal = Refusal(path=printable(path), why=why)
        self._refusals.append(refusal)
        if self._refused:
            self._refused(refusal)


def _text(content: bytes, name: str, info: os.stat_result) -> str | Unusable:
    text = decode(content)
    if text is None:
        return Unusable(why=BINARY)
    if secret_text(text):
        return Unusable(why="holds a private key")
    if info.st_nlink > 1 and secret_settings(text):
        return Unusable(why="may hold a secret: it has other names, and settings in it are or may be secret")
    if may_hold_passwords(name) and secret_settings(text):
        return Unusable(why="holds a password or the like")
    return text


def _unusable(error: OSError) -> Unusable | None:
    """Why the system refuses a file; None where it does not exist."""
    if isinstance(error, FileNotFoundError | NotADirectoryError):
        return None
    return Unusable(why=f"cannot be read: {error.strerror}")


@dataclass(frozen=True, slots=True, kw_only=True)
class CachedFile:
    """A file that was read."""

    path: str
    version: str
    settled: bool
    """False: written so shortly before that another write might not change its version."""
    ignored: bool
    """Read for a caller that also wants files which `.gitignore` excludes."""
    usable: bool
    """False: not a text, or a secret."""
    text: str | None
    """None: evicted, or never usable."""
    generation: int = 0
    """Changes with the text."""


class FileCache:
    """The texts of files and what was derived from them. Threads may share it.

    When there are too many texts, the oldest are evicted; derived values are small and stay.
    """

    def __init__(self, characters: int) -> None:
        self._most, self._characters = characters, 0
        self._lock = threading.Lock()
        self._files: dict[str, CachedFile] = {}
        self._texts: dict[str, int] = {}
        """The paths whose texts are in memory, oldest first, with their lengths."""
        self._derived: dict[str, dict[str, tuple[int, object]]] = {}
        self._generations = 0

    def get(self, path: str) -> CachedFile | None:
        return self._files.get(path)

    def put(self, fresh: CachedFile) -> CachedFile:
        """Keep what was just read; an unchanged text keeps its generation."""
        with self._lock:
            before = self._files.get(fresh.path)
            kept = replace(fresh, generation=self._generation(before, fresh))
            self._files[fresh.path] = kept
            self._evict_for(kept)
            return kept

    def _generation(self, before: CachedFile | None, fresh: CachedFile) -> int:
        if before and before.usable and fresh.usable:
            unchanged = before.settled and before.version == fresh.version
            if unchanged or before.text == fresh.text:
                return before.generation
        self._generations += 1
        return self._generations

    def _evict_for(self, kept: CachedFile) -> None:
        self._characters += len(kept.text or "") - self._texts.pop(kept.path, 0)
        self._texts[kept.path] = len(kept.text or "")
        while self._characters > self._most and len(self._texts) > 1:
            oldest = next(iter(self._texts))
            self._characters -= self._texts.pop(oldest)
            self._files[oldest] = replace(self._files[oldest], text=None)

    def derived(self, file: CachedFile, name: str) -> tuple[int, object] | None:
        """The generation and the value derived from this very text; None where there is none yet."""
        found = self._derived.get(file.path, {}).get(name)
        return found if found and found[0] == file.generation else None

    def put_derived(self, file: CachedFile, name: str, value: object) -> tuple[int, object]:
        with self._lock:
            entry = (file.generation, value)
            # Drop what was derived from an earlier text.
            others = self._derived.get(file.path, {}).items()
            current = {other: found for other, found in others if found[0] == file.generation}
            self._derived[file.path] = current | {name: entry}
            return entry

    def retain(self, paths: AbstractSet[str]) -> None:
        """Forget all other files, except those that were read although `.gitignore` might exclude them."""
        with self._lock:
            for path in [path for path in self._files if path not in paths and not self._files[path].ignored]:
                del self._files[path]
                self._derived.pop(path, None)
                self._characters -= self._texts.pop(path, 0)
