"""Find the files, lines of files and names of code that a task and a conversation mention.

Takes linear time on any input: every run of characters is looked at once.
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
"""Texts of the conversation that are searched, the newest."""
LONGEST = 50_000
"""Characters of each text: a path deep inside a long output is not what the conversation is about."""
MOST = 20_000
"""Paths that are looked up, those mentioned last."""
ALIKE = 3
"""Files that one bare name may mean; `index.js` alone means none of twenty."""
WORDS = 1_000
"""Words of a task that may be a file name without its ending."""
_PATH = r"(?<![\w./\\@+~-])((?:[A-Za-z]:)?[\w./\\@+~-]++)(?::(\d{1,7}))?"
_FRAME = r'File "([^"\n]{1,300})", line (\d{1,7})'
_LOCATION = re.compile(f"{_FRAME}|{_PATH}")
_WORD = re.compile(r"[^\W\d]\w{3,}+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Mentions:
    """What a task and a conversation mention."""

    names: frozenset[str]
    """Names of code, paths and ids, as spelled."""
    files: tuple[tuple[str, int], ...]
    """What could be a path, with its line or 0, mentioned last first."""
    by_name: Mapping[str, Sequence[str]]
    """The same paths by their last part."""
    words: frozenset[str] = frozenset()
    """Words of the task with four letters or more, in lower case: each may be a file name without ending."""

    def with_name_of(self, path: str) -> Sequence[str]:
        """The mentioned paths that have the same last part as this one."""
        return self.by_name.get(path.rpartition("/")[2], ())


def mentions(request: ContextRequest) -> Mentions:
    """What the task mentions, then the conversation, newest first."""
    texts = [text[:LONGEST] for text in (request.task, *reversed(request.said[-NEWEST:])) if text]
    every = dict.fromkeys(each for text in texts for each in reversed(list(_locations(text))))
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
    lowered = dict.fromkeys(found[0].lower() for found in _WORD.finditer(text))
    return (word for word in lowered if word not in STOP_WORDS)


def _locations(text: str) -> Iterator[tuple[str, int]]:
    """What could be a path in a text, with the line or 0.

    >>> list(_locations('see src/a.py:12 and File "/w/b.py", line 3; e.g. this'))
    [('src/a.py', 12), ('/w/b.py', 3), ('e.g', 0)]
    """
    for found in _LOCATION.finditer(text):
        path = (found[1] or found[3]).rstrip(".").replace("\\", "/")
        if "." in path or "/" in path:
            yield path, int(found[2] or found[4] or 0)


def match_files(
    mentioned: Mentions, root: PurePath, files: Iterable[FileInfo]
) -> dict[str, Sequence[FileInfo]]:
    """The files that each mentioned path can mean, for paths that mean at least one and not too many."""
    prefix = f"{root.as_posix()}/"
    plain = {path: path.removeprefix(prefix).removeprefix("./").lstrip("/") for path, _ in mentioned.files}
    endings = frozenset(plain.values())
    exact: dict[str, list[FileInfo]] = {}
    alike: dict[str, list[FileInfo]] = {}
    for file in files:
        # Looked up by ending: comparing every file with every path would be quadratic.
        for ending in _endings(file.path) if mentioned.with_name_of(file.path) else ():
            if ending in endings:
                (exact if ending == file.path else alike).setdefault(ending, []).append(file)
    found = {path: exact.get(ending) or alike.get(ending, []) for path, ending in plain.items()}
    return {path: same for path, same in found.items() if 0 < len(same) <= ALIKE}


def files_named_by_word(mentioned: Mentions, files: Iterable[FileInfo]) -> list[FileInfo]:
    """Code files whose name without its ending is a word of the task, where only one file has that name."""
    found: dict[str, list[FileInfo]] = {}
    for file in files:
        if (name := stem(file.path)) in mentioned.words and language_of(file.path):
            found.setdefault(name, []).append(file)
    return [same[0] for same in found.values() if len(same) == 1]


def stem(path: str) -> str:
    """A file's name without its ending, in lower case.

    >>> stem("src/search/Fusion.py")
    'fusion'
    """
    return path.rpartition("/")[2].partition(".")[0].lower()


def _endings(path: str) -> Iterator[str]:
    """The path, then without its first folder, without its second, and so on.

    >>> list(_endings("src/app/door.py"))
    ['src/app/door.py', 'app/door.py', 'door.py']
    """
    while path:
        yield path
        path = path.partition("/")[2]
