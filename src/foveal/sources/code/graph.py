"""The symbols of every file in → who uses what of whom, as arrays: made once for as long as no file changes.

A file leads to the names it uses, a name to its definitions. Two short steps instead of one long one: a name
that a thousand files define and ten thousand use costs eleven thousand entries, not ten million.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from foveal.sources.code.focus import words_of
from foveal.sources.code.symbols import Definition, Symbols

Numbers = NDArray[np.int64]
Shares = NDArray[np.float64]

WORTH = {"method": 0.2, "constant": 0.3, "variable": 0.3, "field": 0.03, "namespace": 0.0, "impl": 0.0}
"""How much the use of a name says about the file that defines it, by kind; 1 for the others. Many files have
a variable with the name of somebody's field, and call methods of others with the name of one's own."""
PRIVATE, SHORT, PLAIN = 0.2, 0.2, 0.15
"""What is left of that for a name that is meant for its file alone, that is too short to be one's own, that
is a plain word as variables have."""
_EVERYWHERE = """
add all any append args assert call clear close concat contains copy count create data delete each echo
encode decode end equals error exec exists extend field filter find first flush format from get has hash
id index init insert is item items iter join key keys kwargs last len length list load log main make map
match max message min name new next node none now number object open order parse path pop print push put
query read reduce remove replace request reset response result reverse run save self send set setup size
slice sort split start state stop string strip test text this time toString type typing update value
values write
"""
EVERYWHERE = frozenset(_EVERYWHERE.split())
"""Names that the languages' own libraries have, or every second program."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Graph:
    """Files, definitions and names by their numbers."""

    paths: tuple[str, ...]
    definitions: tuple[Definition, ...]
    """Of all files, file by file."""
    file_of: Numbers
    """Of each definition."""
    holder_of: Numbers
    """Of each definition: the one that holds it, itself where none does."""
    name_of: Numbers
    """Of each definition."""
    worth: Shares
    """Of each definition: its kind and spelling."""
    names: Mapping[str, int]
    users: Numbers
    """With `used`: one entry for each name that a file uses and a file defines."""
    used: Numbers
    words: Mapping[str, list[int]]
    """A word → the names it is part of."""
    by_last: Mapping[str, list[int]]
    """The last part of a path, with its ending and without → the files."""


def graph(files: Mapping[str, Symbols]) -> Graph:
    """The graph of these files, folder by folder."""
    paths = tuple(sorted(files, key=lambda path: path.rpartition("/")[::2]))
    each = [files[path] for path in paths]
    definitions = tuple(definition for symbols in each for definition in symbols.definitions)
    names = {name: number for number, name in enumerate(dict.fromkeys(d.name for d in definitions))}
    users, used = _uses(each, names)
    return Graph(
        paths=paths,
        definitions=definitions,
        file_of=_numbers(number for number, symbols in enumerate(each) for _ in symbols.definitions),
        holder_of=_holders(each),
        name_of=_numbers(names[definition.name] for definition in definitions),
        worth=np.array([_worth(definition) for definition in definitions], dtype=np.float64),
        names=names,
        users=users,
        used=used,
        words=_index((name, words_of(name)) for name in names),
        by_last=_index((path, _last(path)) for path in paths),
    )


def _numbers(values: Iterable[int]) -> Numbers:
    return np.fromiter(values, dtype=np.int64)


def _uses(files: list[Symbols], names: Mapping[str, int]) -> tuple[Numbers, Numbers]:
    users: list[int] = []
    used: list[int] = []
    for number, symbols in enumerate(files):
        found = [names[name] for name in symbols.used if name in names]
        used += found
        users += [number] * len(found)
    return _numbers(users), _numbers(used)


def _holders(files: list[Symbols]) -> Numbers:
    holders: list[int] = []
    for symbols in files:
        start = len(holders)
        holders += [
            start + (place if definition.within < 0 else definition.within)
            for place, definition in enumerate(symbols.definitions)
        ]
    return _numbers(holders)


def _worth(definition: Definition) -> float:
    name, worth = definition.name, WORTH.get(definition.kind, 1.0)
    worth *= PRIVATE if name.startswith("_") else 1.0
    worth *= PLAIN if name.islower() and "_" not in name else 1.0
    return worth * (SHORT if len(name) <= 2 or name in EVERYWHERE else 1.0)


def _last(path: str) -> list[str]:
    last = path.rpartition("/")[2]
    stem = last.partition(".")[0]
    return [last, stem] if stem and stem != last else [last]


def _index(entries: Iterable[tuple[str, list[str]]]) -> dict[str, list[int]]:
    """Keys of each entry → the numbers of the entries, each once."""
    found: dict[str, list[int]] = {}
    for number, (_, keys) in enumerate(entries):
        for key in dict.fromkeys(keys):
            found.setdefault(key, []).append(number)
    return found
