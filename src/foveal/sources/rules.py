"""A workspace's `.gitignore` files in → which of its files and folders they name.

Each applies to its folder and what is below; the deepest that says something decides. Only those below the
root count, and `.git/info/exclude`. A folder whose rules cannot be read is closed: nothing in it is listed.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from dataclasses import dataclass

from foveal.sources.ignored import Patterns
from foveal.sources.opening import read, version
from foveal.sources.seen import Limits
from foveal.sources.spelling import Unusable

IGNORE_FILE = ".gitignore"
_EXCLUDE = ".git/info/exclude"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What holds in one folder."""

    parts: tuple[tuple[int, Patterns], ...] = ()
    """Deepest first, each with how much of a path stands before what its patterns are about."""
    size: int = 0
    """Characters of all these files together."""
    weight: int = 0
    """Steps that comparing one letter of a path with them takes at most."""
    closed: bool = False

    def ignore(self, path: str, *, folder: bool) -> bool:
        """Whether they name the file or the folder itself; a folder above it may be named as well."""
        if self.closed:
            return True
        for above, patterns in self.parts:
            verdict = patterns.verdict(path[above:], folder=folder)
            if verdict is not None:
                return verdict
        return False


_CLOSED = Rules(closed=True)


class Ignoring:
    """The rules of every folder, each file of them read again only when it changed."""

    def __init__(self, root: str, limits: Limits, tell: Callable[[str, Unusable], None]) -> None:
        self._root, self._limits, self._tell = root, limits, tell
        self._read: dict[str, tuple[str, Rules, Rules]] = {}
        """By path: the version, the rules above it, and the rules with it."""

    def at_root(self) -> Rules:
        """What holds before any `.gitignore`: what the repository itself leaves out."""
        return self._with(Rules(), _EXCLUDE, 0)

    def within(self, above: Rules, folder: str) -> Rules:
        """What holds in a folder that has a `.gitignore`, below one where `above` holds."""
        path = f"{folder}/{IGNORE_FILE}" if folder else IGNORE_FILE
        return self._with(above, path, len(path) - len(IGNORE_FILE))

    def name(self, path: str) -> bool:
        """Whether a file, or a folder it is in, is ignored."""
        rules = self.within(self.at_root(), "")
        at = path.find("/")
        while at >= 0:
            if rules.ignore(path[:at], folder=True):
                return True
            rules = self.within(rules, path[:at])
            at = path.find("/", at + 1)
        return rules.ignore(path, folder=False)

    def _with(self, above: Rules, path: str, start: int) -> Rules:
        try:
            info = os.lstat(os.path.join(self._root, path))
        except (FileNotFoundError, NotADirectoryError):
            return above
        if above.closed or not stat.S_ISREG(info.st_mode):  # git follows no link here either
            return above
        known = self._read.get(path)
        if known and known[0] == version(info) and known[1] == above:
            return known[2]
        rules = self._made(above, path, start)
        self._read[path] = (version(info), above, rules)
        return rules

    def _made(self, above: Rules, path: str, start: int) -> Rules:
        try:
            found = read(self._root, path, self._limits.ignore_bytes - above.size)
        except OSError as fault:
            found = Unusable(why=f"cannot be read: {fault.strerror}")
        if isinstance(found, Unusable):
            self._tell(path, Unusable(why=f"{found.why}; its folder is passed over"))
            return _CLOSED
        text = found[0].decode(errors="replace")
        patterns = Patterns(text)
        return Rules(
            parts=((start, patterns), *above.parts),
            size=above.size + len(text),
            weight=above.weight + patterns.weight,
        )
