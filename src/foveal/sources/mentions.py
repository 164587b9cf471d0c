"""A task and a conversation in → what they name: files, lines of files, names of code; the newest first.

Linear time on any input: runs of characters, each looked at once.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import PurePath

from foveal.pipeline.signals import STOP_WORDS, identifier_counts
from foveal.sources.code.languages import language_of
from foveal.sources.contributor import ContextRequest
from foveal.sources.workspace.values import FileInfo

NEWEST = 40
"""Texts of the conversation that are looked at, the newest."""
LONGEST = 50_000
"""Characters of each: what names a file far inside a long output is not what is spoken of."""
MOST = 20_000
"""Paths that are looked up, those spoken of last."""
ALIKE = 3
"""Files that one bare name may stand for; `index.js` alone names none of twenty."""
WORDS = 1_000
"""Words of a task that may be the name of a file without its ending: one that pastes a book means none."""
_PATH = r"(?<![\w./\\@+~-])((?:[A-Za-z]:)?[\w./\\@+~-]++)(?::(\d{1,7}))?"
_FRAME = r'File "([^"\n]{1,300})", line (\d{1,7})'
_PLACE = re.compile(f"{_FRAME}|{_PATH}")
_WORD = re.compile(r"[^\W\d]\w{3,}+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Mentions:
    """What is spoken of."""

    names: frozenset[str]
    """Names of code, paths, ids, as they are spelt."""
    files: tuple[tuple[str, int], ...]
    """What could be a path, and the line of it or 0; the last spoken of first."""
    by_name: Mapping[str, Sequence[str]]
    """The same paths by their last part."""
    words: frozenset[str] = frozenset()
    """What the task says in four letters or more, in small ones: each may name a file without its ending."""

    def ending(self, path: str) -> Sequence[str]:
        """The paths that have the last part of this one."""
        return self.by_name.get(path.rpartition("/")[2], ())


def mentions(request: ContextRequest) -> Mentions:
    """What the task names, then what the conversation does, from its end."""
    texts = [text[:LONGEST] for text in (request.task, *reversed(request.said[-NEWEST:])) if text]
    every = dict.fromkeys(place for text in texts for place in reversed(list(_places(text))))
    files = tuple(islice(every, MOST))
    by_name: dict[str, list[str]] = {}
    for path, _ in files:
        by_name.setdefault(path.rpartition("/")[2], []).append(path)
    return Mentions(
        names=frozenset(name for text in texts for name in identifier_counts(text)),
        files=files,
        by_name=by_name,
        words=frozenset(islice(_words(request.task[:LONGEST]), WORDS)),
    )


def _words(text: str) -> Iterator[str]:
    plain = dict.fromkeys(found[0].lower() for found in _WORD.finditer(text))
    return (word for word in plain if word not in STOP_WORDS)


def _places(text: str) -> Iterator[tuple[str, int]]:
    """What could be a path in a text.

    >>> list(_places('see src/a.py:12 and File "/w/b.py", line 3; e.g. this'))
    [('src/a.py', 12), ('/w/b.py', 3), ('e.g', 0)]
    """
    for found in _PLACE.finditer(text):
        path = (found[1] or found[3]).rstrip(".").replace("\\", "/")
        if "." in path or "/" in path:
            yield path, int(found[2] or found[4] or 0)


def meant(mentioned: Mentions, root: PurePath, files: Iterable[FileInfo]) -> dict[str, Sequence[FileInfo]]:
    """Each mentioned path → the files it can mean, for those that mean some and not too many."""
    above = f"{root.as_posix()}/"
    plain = {path: path.removeprefix(above).removeprefix("./").lstrip("/") for path, _ in mentioned.files}
    wanted = frozenset(plain.values())
    exact: dict[str, list[FileInfo]] = {}
    alike: dict[str, list[FileInfo]] = {}
    for seen in files:
        # Files are many and so are paths in a long output: nobody compares each with each.
        for ending in _endings(seen.path) if mentioned.ending(seen.path) else ():
            if ending in wanted:
                (exact if ending == seen.path else alike).setdefault(ending, []).append(seen)
    found = {path: exact.get(ending) or alike.get(ending, []) for path, ending in plain.items()}
    return {path: same for path, same in found.items() if 0 < len(same) <= ALIKE}


def called(mentioned: Mentions, files: Iterable[FileInfo]) -> list[FileInfo]:
    """Files of code whose name, without its ending, is a word of the task that names no other of them."""
    found: dict[str, list[FileInfo]] = {}
    for seen in files:
        if (name := stem(seen.path)) in mentioned.words and language_of(seen.path):
            found.setdefault(name, []).append(seen)
    return [same[0] for same in found.values() if len(same) == 1]


def stem(path: str) -> str:
    """A file's name without its ending, in small letters.

    >>> stem("src/search/Fusion.py")
    'fusion'
    """
    return path.rpartition("/")[2].partition(".")[0].lower()


def _endings(path: str) -> Iterator[str]:
    """The path, and what is left of it without its first folder, its second, …

    >>> list(_endings("src/app/door.py"))
    ['src/app/door.py', 'app/door.py', 'door.py']
    """
    while path:
        yield path
        path = path.partition("/")[2]
