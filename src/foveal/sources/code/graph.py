"""Build the graph of which file uses which definition, as arrays, from the symbols of every file.

A file leads to the names it uses, a name to its definitions. Two short steps instead of one long one: a name
that a thousand files define and ten thousand use costs eleven thousand entries, not ten million.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from foveal.sources.code.focus import split_name
from foveal.sources.code.symbols import Definition, Symbols

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

KIND_WEIGHTS = {
    "method": 0.2,
    "constant": 0.3,
    "variable": 0.3,
    "field": 0.03,
    "namespace": 0.0,
    "impl": 0.0,
}
"""How much the use of a name says about the file that defines it, by kind; 1 for other kinds. Fields and
methods often share their names with variables and methods of other files."""
PRIVATE, SHORT, PLAIN = 0.2, 0.2, 0.15
"""Factors for a name that is private to its file, that is short or common, that is a plain word."""
_COMMON = """
add all any append args assert call clear close concat contains copy count create data delete each echo
encode decode end equals error exec exists extend field filter find first flush format from get has hash
id index init insert is item items iter join key keys kwargs last len length list load log main make map
match max message min name new next node none now number object open order parse path pop print push put
query read reduce remove replace request reset response result reverse run save self send set setup size
slice sort split start state stop string strip test text this time toString type typing update value
values write
"""
COMMON_NAMES = frozenset(_COMMON.split())
"""Names from standard libraries, or that most programs have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Graph:
    """Files, definitions and names, each known by its number."""

    paths: tuple[str, ...]
    definitions: tuple[Definition, ...]
    """Of all files, file by file."""
    file_of: Ints
    """The file of each definition."""
    parent_of: Ints
    """The definition around each definition; itself where there is none."""
    name_of: Ints
    """The name of each definition."""
    weights: Floats
    """The weight of each definition, by its kind and spelling."""
    names: Mapping[str, int]
    users: Ints
    """With `used`: one entry for each file and each name that it uses and some file defines."""
    used: Ints
    words: Mapping[str, list[int]]
    """The names that each word is part of."""
    by_file_name: Mapping[str, list[int]]
    """The files of each file name, with its ending and without."""


def build_graph(files: Mapping[str, Symbols]) -> Graph:
    """The graph of these files, ordered by folder."""
    paths = tuple(sorted(files, key=lambda path: path.rpartition("/")[::2]))
    each = [files[path] for path in paths]
    definitions = tuple(definition for symbols in each for definition in symbols.definitions)
    names = {name: number for number, name in enumerate(dict.fromkeys(d.name for d in definitions))}
    users, used = _uses(each, names)
    return Graph(
        paths=paths,
        definitions=definitions,
        file_of=_numbers(number for number, symbols in enumerate(each) for _ in symbols.definitions),
        parent_of=_parents(each),
        name_of=_numbers(names[definition.name] for definition in definitions),
        weights=np.array([_weight(definition) for definition in definitions], dtype=np.float64),
        names=names,
        users=users,
        used=used,
        words=_index((name, split_name(name)) for name in names),
        by_file_name=_index((path, _file_names(path)) for path in paths),
    )


def _numbers(values: Iterable[int]) -> Ints:
    return np.fromiter(values, dtype=np.int64)


def _uses(files: list[Symbols], names: Mapping[str, int]) -> tuple[Ints, Ints]:
    users: list[int] = []
    used: list[int] = []
    for number, symbols in enumerate(files):
        found = [names[name] for name in symbols.used if name in names]
        used += found
        users += [number] * len(found)
    return _numbers(users), _numbers(used)


def _parents(files: list[Symbols]) -> Ints:
    parents: list[int] = []
    for symbols in files:
        start = len(parents)
        parents += [
            start + (number if definition.parent < 0 else definition.parent)
            for number, definition in enumerate(symbols.definitions)
        ]
    return _numbers(parents)


def _weight(definition: Definition) -> float:
    name, weight = definition.name, KIND_WEIGHTS.get(definition.kind, 1.0)
    weight *= PRIVATE if name.startswith("_") else 1.0
    weight *= PLAIN if name.islower() and "_" not in name else 1.0
    return weight * (SHORT if len(name) <= 2 or name in COMMON_NAMES else 1.0)


def _file_names(path: str) -> list[str]:
    last = path.rpartition("/")[2]
    stem = last.partition(".")[0]
    return [last, stem] if stem and stem != last else [last]


def _index(entries: Iterable[tuple[str, list[str]]]) -> dict[str, list[int]]:
    """The numbers of the entries that have each key, each once."""
    found: dict[str, list[int]] = {}
    for number, (_, keys) in enumerate(entries):
        for key in dict.fromkeys(keys):
            found.setdefault(key, []).append(number)
    return found
