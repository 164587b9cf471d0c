"""A root in → every file below it that may be read, by a walk that follows no link.

Those near the root come first where there are more than the limits allow. What a link inside leads to is
listed under its own name, so nothing is listed twice.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable
from itertools import islice

from foveal.sources.workspace.gitignore import IGNORE_FILE, Ignoring, Rules
from foveal.sources.workspace.safe_open import (
    Unusable,
    folder,
    is_link,
    kind,
    odd,
    resolved,
    too_large,
    version,
)
from foveal.sources.workspace.secrets import secret_file, secret_folder
from foveal.sources.workspace.values import FileInfo, Limits

REPOSITORY = ".git"
SECRET = "may hold a secret: its name says so"  # noqa: S105 — not one itself
UNWALKED = frozenset(
    (
        ".git",
        ".hg",
        ".svn",
        ".bzr",
        ".jj",
        "node_modules",
        "bower_components",
        "jspm_packages",
        "__pycache__",
        "__pypackages__",
        ".venv",
        "venv",
        ".virtualenv",
        ".tox",
        ".nox",
        ".mypy_cache",
        ".pytest_cache",
        ".ruff_cache",
        ".hypothesis",
        ".cache",
        ".eggs",
        ".ipynb_checkpoints",
        ".gradle",
        ".terraform",
        ".next",
        ".nuxt",
        ".svelte-kit",
        ".parcel-cache",
        ".turbo",
        ".yarn",
        ".pnpm-store",
        ".bundle",
        ".dart_tool",
        ".stack-work",
        "deriveddata",
        ".idea",
        ".vs",
    )
)
"""Made by programs for themselves: other people's code, caches, and what is put together again at will."""
_CACHE_MARKS = frozenset(("CACHEDIR.TAG", "pyvenv.cfg"))
_STEPS_TO_READ = 20_000
"""What it takes to make an expression of one letter of a pattern, in steps of comparing."""


class Walk:
    """One walk through the workspace: what it found, and what it may still spend."""

    def __init__(
        self, root: str, ignoring: Ignoring, limits: Limits, tell: Callable[[str, Unusable], None]
    ) -> None:
        self._root, self._ignoring, self._limits, self._tell = root, ignoring, limits, tell
        self._steps = 0
        self._entries = 0
        self._waiting: deque[tuple[str, Rules]] = deque()
        self.found: list[FileInfo] = []

    def run(self) -> list[FileInfo]:
        """Every file that may be read, by path."""
        self._waiting.append(("", self._ignoring.at_root()))
        while self._waiting:
            path, rules = self._waiting.popleft()
            if spent := self._spent():
                self._tell(path, Unusable(why=f"{spent}; it and what comes after it is not looked at"))
                break
            self._folder(path, rules)
        return sorted(self.found, key=lambda seen: seen.path)

    def _spent(self) -> str:
        limits = self._limits
        if len(self.found) >= limits.files:
            return f"comes after {limits.files:,} files"
        if self._entries >= limits.entries:
            return f"comes after {limits.entries:,} files and folders"
        if self._steps >= limits.ignore_steps:
            return "comes after more `.gitignore` patterns than can be compared in reasonable time"
        return ""

    def _folder(self, path: str, rules: Rules) -> None:
        try:
            with folder(self._root, path) as place, os.scandir(place) as listing:
                # One more than there may be: `_spent` can tell that there are more.
                entries = list(islice(listing, self._limits.entries - self._entries + 1))
                self._listed(path, rules, sorted(entries, key=lambda entry: entry.name))
        except FileNotFoundError:
            return  # gone since its parent was listed
        except OSError as fault:
            self._tell(path, Unusable(why=f"cannot be read: {fault.strerror}"))

    def _listed(self, path: str, rules: Rules, entries: list[os.DirEntry[str]]) -> None:
        names = {entry.name for entry in entries}
        if path and names & _CACHE_MARKS:
            return
        if IGNORE_FILE in names:
            above, rules = rules, self._ignoring.within(rules, path)
            self._steps += _STEPS_TO_READ * max(0, rules.size - above.size)
        self._entries += len(entries)
        prefix = f"{path}/" if path else ""
        for entry in entries:
            if len(self.found) >= self._limits.files or self._steps >= self._limits.ignore_steps:
                self._waiting.appendleft((prefix + entry.name, rules))  # for `_spent` to name
                return
            self._entry(prefix + entry.name, rules, entry)

    def _entry(self, path: str, rules: Rules, entry: os.DirEntry[str]) -> None:
        is_folder = entry.is_dir(follow_symlinks=False)
        if is_folder and entry.name.casefold() in UNWALKED:
            return
        self._steps += rules.weight * len(path)
        if entry.name == REPOSITORY or rules.ignore(path, folder=is_folder):
            return
        try:
            info = entry.stat(follow_symlinks=False)
        except FileNotFoundError:
            return  # gone since it was listed
        if why := self._unusable(path, entry.name, info):
            self._tell(path, Unusable(why=why))
        elif is_link(info):
            self._link(path)
        elif is_folder:
            self._waiting.append((path, rules))
        else:
            self.found.append(seen_as(path, info))

    def _unusable(self, path: str, name: str, info: os.stat_result) -> str:
        limits = self._limits
        if odd(name):
            return "has a control character or bytes that are no text in its name"
        if len(path) > limits.path_length:
            return f"has {len(path):,} characters; at most {limits.path_length:,} are looked up"
        what = kind(info)
        if what == "a folder":
            if path.count("/") >= limits.depth:
                return f"is {limits.depth:,} folders deep; what is in it is not looked at"
            return SECRET if secret_folder(name) else ""
        if what == "a link":
            return ""
        return unreadable(name, info, limits)

    def _link(self, path: str) -> None:
        try:
            target = resolved(self._root, path)
        except OSError:
            return  # it leads nowhere
        if isinstance(target, Unusable):
            self._tell(path, target)


def seen_as(path: str, info: os.stat_result) -> FileInfo:
    return FileInfo(path=path, size=info.st_size, touched_at=info.st_mtime, version=version(info))


def unreadable(name: str, info: os.stat_result, limits: Limits) -> str:
    """Why a file is not to be opened, by what can be known without; empty where it may be."""
    if what := kind(info):
        return f"is {what}"
    if secret_file(name):
        return SECRET
    return too_large(info.st_size, limits.file_bytes).why if info.st_size > limits.file_bytes else ""
