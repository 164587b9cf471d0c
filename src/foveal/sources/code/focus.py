"""Find what a task and a conversation refer to: names of code, paths and plain words, each with an emphasis.

Takes linear time on any input: every run of characters is looked at once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from foveal.pipeline.signals import STOP_WORDS
from foveal.sources.code.languages import language_of

NEWEST = 20
"""Texts of the conversation that are read."""
LONGEST = 20_000
"""Characters of each."""
PATHS = 2_000
"""Possible paths that are looked up: those of the task, then those mentioned last."""
SAID, FADING = 0.5, 0.85
"""The newest text counts half of the task; each earlier one 0.85 of the one after it."""
PLAIN = 0.3
"""Emphasis of a word that any sentence may have, relative to a name that only programs spell so."""
_NAME = re.compile(r"[^\W\d][\w$]*")
_PATH = re.compile(r"[\w./\\@+-]+")
_MEMBER = re.compile(r"(?<![\w$])([^\W\d][\w$]*+)(?=(?:\.|::|#|->)([^\W\d][\w$]*))")
_QUOTED_OR_CALLED = re.compile(r"(?<!\w)[`'\"]([^\W\d][\w$]*+)|(?<![\w$])([^\W\d][\w$]*+)\(")
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\dA-Za-z_]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Focus:
    """What a task and a conversation refer to. Emphasis: 1 for the task, less for earlier texts."""

    task_names: tuple[str, ...]
    """Names in the task, the certain ones first."""
    certain: frozenset[str]
    """Those whose spelling or position says that they are names of code, not words."""
    members: frozenset[tuple[str, str]]
    """Names in the task with what they belong to: `Door.open`."""
    names: Mapping[str, float]
    """Emphasis of each name."""
    words: Mapping[str, float]
    """Emphasis of each word that is part of a name."""
    paths: Mapping[str, float]
    """Emphasis of what could be a path or a module."""


def find_focus(task: str, said: Sequence[str]) -> Focus:
    """What the task and the newest texts of the conversation refer to.

    >>> found = find_focus("Fix the lock of Door.open in src/door.py", ["where is the key_ring?"])
    >>> found.task_names, sorted(found.members)
    (('Door', 'open', 'Fix', 'lock'), [('Door', 'open')])
    >>> found.names["key_ring"], found.names["lock"], found.paths["src/door.py"]
    (0.5, 0.3, 1.0)
    """
    names: dict[str, float] = {}
    words: dict[str, float] = {}
    paths: dict[str, float] = {}
    in_task = _read(task)
    for text, emphasis in ((in_task, 1.0), *_conversation(said)):
        for name in text.names:
            names[name] = max(names.get(name, 0.0), emphasis * (1.0 if name in text.certain else PLAIN))
            for word in split_name(name):
                words[word] = max(words.get(word, 0.0), emphasis)
        for path in text.paths[: PATHS - len(paths)]:
            paths.setdefault(path, emphasis)
    return Focus(
        task_names=tuple(sorted(in_task.names, key=lambda name: name not in in_task.certain)),
        certain=in_task.certain,
        members=in_task.members,
        names=names,
        words=words,
        paths=paths,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Text:
    """What one text refers to."""

    names: tuple[str, ...]
    certain: frozenset[str]
    members: frozenset[tuple[str, str]]
    paths: tuple[str, ...]


def _conversation(said: Sequence[str]) -> Iterator[tuple[_Text, float]]:
    emphasis = SAID
    for text in reversed(said[-NEWEST:]):
        yield _read(text), emphasis
        emphasis *= FADING


def _read(text: str) -> _Text:
    text = text[:LONGEST]
    paths = tuple(dict.fromkeys(_PATH.findall(text)))
    # The parts of a path are not names: `src/door.py` refers to a file, not to something called `door`.
    text = _PATH.sub(lambda found: " " if _is_path(found[0]) else found[0], text)
    members = frozenset((found[1], found[2]) for found in _MEMBER.finditer(text))
    marked = {found[1] or found[2] for found in _QUOTED_OR_CALLED.finditer(text)}.union(*members)
    names = tuple(
        dict.fromkeys(name for name in _NAME.findall(text) if name in marked or _is_meaningful(name))
    )
    return _Text(
        names=names,
        certain=frozenset(name for name in names if looks_like_code(name) or name in marked),
        members=members,
        paths=paths,
    )


def _is_path(run: str) -> bool:
    return "/" in run or "\\" in run or language_of(run) is not None


def _is_meaningful(name: str) -> bool:
    return len(name) > 1 and (looks_like_code(name) or name.lower() not in STOP_WORDS)


def split_name(name: str) -> list[str]:
    """The words that a name consists of, in lower case, without stop words.

    >>> split_name("parseHTTPHeader_of")
    ['parse', 'http', 'header']
    """
    return [word for word in map(str.lower, _WORD.findall(name)) if len(word) > 1 and word not in STOP_WORDS]


def looks_like_code(name: str) -> bool:
    """Whether only programs spell a word so."""
    return "_" in name or "$" in name or any(map(str.isdigit, name)) or any(map(str.isupper, name[1:]))
