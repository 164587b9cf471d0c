"""The texts of files in → the same, and what was made of them, until they change.

Texts are forgotten, the oldest first, when they become many; what was made of them is small and stays.
"""

from __future__ import annotations

import threading
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace


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
