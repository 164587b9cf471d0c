"""List every file below a root that may be read, without following links.

Where there are more than the limits allow, those near the root come first. The target of a link inside the
root is listed under its own name, so nothing is listed twice.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable
from itertools import islice

from foveal.sources.workspace.gitignore import IGNORE_FILE, IgnoreFiles, Rules
from foveal.sources.workspace.safe_open import (
    UNPRINTABLE_NAME,
    Unusable,
    is_link,
    is_unprintable,
    open_folder,
    resolve_links,
    special_kind,
    too_large,
    too_long,
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
"""Folders that programs create for themselves: other people's code, caches, and what can be built again."""
_CACHE_MARKS = frozenset(("CACHEDIR.TAG", "pyvenv.cfg"))
_STEPS_TO_COMPILE = 20_000
"""Cost of compiling one character of a pattern, in steps of comparing."""


class Walk:
    """One walk through the workspace: what it found, and what it has spent."""

    def __init__(
        self, root: str, ignore_files: IgnoreFiles, limits: Limits, refuse: Callable[[str, Unusable], None]
    ) -> None:
        self._root, self._ignore_files, self._limits, self._refuse = root, ignore_files, limits, refuse
        self._steps = 0
        self._entries = 0
        self._waiting: deque[tuple[str, Rules]] = deque()
        self._found: list[FileInfo] = []

    def run(self) -> list[FileInfo]:
        """Every file that may be read, by path."""
        self._waiting.append(("", self._ignore_files.at_root()))
        while self._waiting:
            path, rules = self._waiting.popleft()
            if exhausted := self._exhausted():
                self._refuse(path, Unusable(why=f"{exhausted}; it and what comes after it is not looked at"))
                break
            self._visit_folder(path, rules)
        return sorted(self._found, key=lambda file: file.path)

    def _exhausted(self) -> str:
        """Which limit is reached; empty where none is."""
        limits = self._limits
        if len(self._found) >= limits.files:
            return f"comes after {limits.files:,} files"
        if self._entries >= limits.entries:
            return f"comes after {limits.entries:,} files and folders"
        if self._steps >= limits.ignore_steps:
            return "comes after more `.gitignore` patterns than can be compared in reasonable time"
        return ""

    def _visit_folder(self, path: str, rules: Rules) -> None:
        try:
            with open_folder(self._root, path) as folder, os.scandir(folder) as listing:
                # One more than allowed, so that `_exhausted` notices that there are more.
                entries = list(islice(listing, self._limits.entries - self._entries + 1))
                self._visit_entries(path, rules, sorted(entries, key=lambda entry: entry.name))
        except FileNotFoundError:
            return  # deleted since its parent was listed
        except OSError as error:
            self._refuse(path, Unusable(why=f"cannot be read: {error.strerror}"))

    def _visit_entries(self, path: str, rules: Rules, entries: list[os.DirEntry[str]]) -> None:
        names = {entry.name for entry in entries}
        if path and names & _CACHE_MARKS:
            return
        if IGNORE_FILE in names:
            above, rules = rules, self._ignore_files.within(rules, path)
            self._steps += _STEPS_TO_COMPILE * max(0, rules.size - above.size)
        self._entries += len(entries)
        prefix = f"{path}/" if path else ""
        for entry in entries:
            if len(self._found) >= self._limits.files or self._steps >= self._limits.ignore_steps:
                self._waiting.appendleft((prefix + entry.name, rules))  # the path that `run` refuses
                return
            self._visit(prefix + entry.name, rules, entry)

    def _visit(self, path: str, rules: Rules, entry: os.DirEntry[str]) -> None:
        is_folder = entry.is_dir(follow_symlinks=False)
        if is_folder and entry.name.casefold() in UNWALKED:
            return
        self._steps += rules.weight * len(path)
        if entry.name == REPOSITORY or rules.ignore(path, folder=is_folder):
            return
        try:
            info = entry.stat(follow_symlinks=False)
        except FileNotFoundError:
            return  # deleted since it was listed
        if why := self._why_unusable(path, entry.name, info):
            self._refuse(path, Unusable(why=why))
        elif is_link(info):
            self._check_link(path)
        elif is_folder:
            self._waiting.append((path, rules))
        else:
            self._found.append(file_info(path, info))

    def _why_unusable(self, path: str, name: str, info: os.stat_result) -> str:
        limits = self._limits
        if is_unprintable(name):
            return UNPRINTABLE_NAME
        if len(path) > limits.path_length:
            return too_long(path, limits)
        kind = special_kind(info)
        if kind == "a folder":
            if path.count("/") >= limits.depth:
                return f"is {limits.depth:,} folders deep; what is in it is not looked at"
            return SECRET if secret_folder(name) else ""
        return "" if kind == "a link" else why_unreadable(name, info, limits)

    def _check_link(self, path: str) -> None:
        """Refuse a link that leaves the root."""
        try:
            target = resolve_links(self._root, path)
        except OSError:
            return  # its target does not exist
        if isinstance(target, Unusable):
            self._refuse(path, target)


def file_info(path: str, info: os.stat_result) -> FileInfo:
    return FileInfo(path=path, size=info.st_size, touched_at=info.st_mtime, version=version(info))


def why_unreadable(name: str, info: os.stat_result, limits: Limits) -> str:
    """Why a file must not be opened, by its name and state; empty where it may be."""
    if kind := special_kind(info):
        return f"is {kind}"
    if secret_file(name):
        return SECRET
    return too_large(info.st_size, limits.file_bytes) if info.st_size > limits.file_bytes else ""
