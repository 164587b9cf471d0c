"""A task and a conversation in → what they speak of: names of code, paths, plain words; how loudly each.

Linear time on any input: runs of characters, each looked at once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from foveal.pipeline.signals import STOP_WORDS
from foveal.sources.code.languages import language_of

NEWEST = 20
"""Texts of the conversation that are looked at."""
LONGEST = 20_000
"""Characters of each."""
PLACES = 2_000
"""What could be a path, that is looked up: the task's, then what was said last."""
SAID, FADING = 0.5, 0.85
"""The newest text counts half of the task; each before it less than the one after."""
PLAIN = 0.3
"""A word that any sentence may have, beside one that only programs spell so."""
_NAME = re.compile(r"[^\W\d][\w$]*")
_PLACE = re.compile(r"[\w./\\@+-]+")
_PAIR = re.compile(r"(?<![\w$])([^\W\d][\w$]*+)(?=(?:\.|::|#|->)([^\W\d][\w$]*))")
_POINTED = re.compile(r"(?<!\w)[`'\"]([^\W\d][\w$]*+)|(?<![\w$])([^\W\d][\w$]*+)\(")
"""A name in quotes, or as it is called."""
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\dA-Za-z_]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Spoken:
    """What is spoken of, with how loudly: 1 for the task, less for what was said, and before."""

    asked: tuple[str, ...]
    """Names in the task, those that are surely names first."""
    pointed: frozenset[str]
    """Those: nobody writes them so who does not mean a name."""
    pairs: frozenset[tuple[str, str]]
    """What the task calls the one's other: `Door.open`."""
    names: Mapping[str, float]
    words: Mapping[str, float]
    places: Mapping[str, float]
    """What could be a path or a module."""


def spoken(task: str, said: Sequence[str]) -> Spoken:
    """What the task and the newest texts of the conversation speak of.

    >>> found = spoken("Fix the lock of Door.open in src/door.py", ["where is the key_ring?"])
    >>> found.asked, sorted(found.pairs)
    (('Door', 'open', 'Fix', 'lock'), [('Door', 'open')])
    >>> found.names["key_ring"], found.names["lock"], found.places["src/door.py"]
    (0.5, 0.3, 1.0)
    """
    names: dict[str, float] = {}
    words: dict[str, float] = {}
    places: dict[str, float] = {}
    asked = _read(task)
    for text, loud in ((asked, 1.0), *_faded(said)):
        for name in text.names:
            names[name] = max(names.get(name, 0.0), loud * (1.0 if name in text.pointed else PLAIN))
            for word in words_of(name):
                words[word] = max(words.get(word, 0.0), loud)
        for place in text.places[: PLACES - len(places)]:
            places.setdefault(place, loud)
    return Spoken(
        asked=tuple(sorted(asked.names, key=lambda name: name not in asked.pointed)),
        pointed=asked.pointed,
        pairs=asked.pairs,
        names=names,
        words=words,
        places=places,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Text:
    """What one text speaks of."""

    names: tuple[str, ...]
    pointed: frozenset[str]
    pairs: frozenset[tuple[str, str]]
    places: tuple[str, ...]


def _faded(said: Sequence[str]) -> Iterator[tuple[_Text, float]]:
    loud = SAID
    for text in reversed(said[-NEWEST:]):
        yield _read(text), loud
        loud *= FADING


def _read(text: str) -> _Text:
    text = text[:LONGEST]
    places = tuple(dict.fromkeys(_PLACE.findall(text)))
    # The parts of a path are no names: `src/door.py` speaks of a file, not of something called `door`.
    text = _PLACE.sub(lambda found: " " if _is_path(found[0]) else found[0], text)
    pairs = frozenset((pair[1], pair[2]) for pair in _PAIR.finditer(text))
    sure = {found[1] or found[2] for found in _POINTED.finditer(text)}.union(*pairs)
    told = (name for name in _NAME.findall(text) if name in sure or _says_something(name))
    names = tuple(dict.fromkeys(told))
    return _Text(
        names=names,
        pointed=frozenset(name for name in names if coined(name) or name in sure),
        pairs=pairs,
        places=places,
    )


def _is_path(run: str) -> bool:
    return "/" in run or "\\" in run or language_of(run) is not None


def _says_something(name: str) -> bool:
    return len(name) > 1 and (coined(name) or name.lower() not in STOP_WORDS)


def words_of(name: str) -> list[str]:
    """The words a name is made of, in lower case, without those that say nothing.

    >>> words_of("parseHTTPHeader_of")
    ['parse', 'http', 'header']
    """
    return [word for word in map(str.lower, _WORD.findall(name)) if len(word) > 1 and word not in STOP_WORDS]


def coined(name: str) -> bool:
    """Whether only programs spell a word so."""
    return "_" in name or "$" in name or any(map(str.isdigit, name)) or any(map(str.isupper, name[1:]))
