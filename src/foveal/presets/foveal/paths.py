"""Spell files the same way everywhere: relative to the project's folder."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

SHARE = 0.6
"""Of the absolute paths: those that a folder must have below it to be the project's."""
DEEPEST = 12


@dataclass(frozen=True, slots=True)
class Paths:
    """The project's folder, from which paths are written."""

    root: str = ""
    """Without a slash at its end; empty if paths have no folder in common."""

    @classmethod
    def of(cls, files: Iterable[str]) -> Paths:
        """The folder that makes relative paths of the absolute ones, else the deepest that has most of them.

        >>> Paths.of(["/home/me/app/src/a.py", "/home/me/app/src/b.py", "/home/me/app/README", "/tmp/x"])
        Paths(root='/home/me/app')
        >>> Paths.of(["/home/me/app/src/a.py", "/home/me/app/src/b.py", "src/a.py"])
        Paths(root='/home/me/app')
        """
        named = list(dict.fromkeys(files))
        absolute = [file for file in named if file.startswith("/")]
        relative = {_plain(file) for file in named if not file.startswith("/") and "/" in _plain(file)}
        if same := Counter(root for file in absolute for root in _roots(file, relative)):
            return cls(max(same, key=lambda root: (same[root], -len(root))).rstrip("/"))
        if len(absolute) < 2:
            return cls()
        folders: Counter[str] = Counter()
        for file in absolute:
            parts = file.split("/")[:-1][:DEEPEST]
            folders.update("/".join(parts[: end + 1]) for end in range(1, len(parts)))
        enough = [folder for folder, times in folders.items() if times >= SHARE * len(absolute)]
        return cls(max(enough, key=len, default="").rstrip("/"))

    def short(self, path: str) -> str:
        """A path from the project's folder.

        >>> Paths("/home/me/app").short("/home/me/app/src/a.py"), Paths("/home/me").short("./b/c.py")
        ('src/a.py', 'b/c.py')
        """
        return _plain(path.removeprefix(f"{self.root}/") if self.root else path)

    def shortened(self, text: str) -> str:
        """A text with the paths in it from the project's folder."""
        return text.replace(f"{self.root}/", "") if self.root else text


def _plain(path: str) -> str:
    return path.removeprefix("./")


def _roots(file: str, relative: set[str]) -> Iterable[str]:
    """The folders from which an absolute path is one of the relative ones."""
    parts = file.split("/")[: 2 * DEEPEST]
    for at in range(2, len(parts)):
        if "/".join(parts[at:]) in relative:
            yield "/".join(parts[:at])
