"""A graph of the code and what a task speaks of in → where the names that it surely means are defined."""

from __future__ import annotations

import numpy as np

from foveal.sources.code.graph import Graph
from foveal.sources.code.rank import held_by
from foveal.sources.code.spoken import Spoken

NAMES = 50
"""Of a task, that are looked up: one that pastes a program means none of its names."""
ALIKE = 3
"""Files in which one name may be defined: `__init__` means none of a hundred."""
LONGEST = 200
"""Lines of one definition."""


def defining(graph: Graph, about: Spoken) -> dict[str, tuple[int, ...]]:
    """The files that define what is spoken of, in the order of the task, with the lines of each that do."""
    found: dict[str, list[int]] = {}
    sure = [name for name in about.asked if name in about.pointed and name in graph.names]
    for name in sure[:NAMES]:
        same = np.flatnonzero(graph.name_of == graph.names[name]).tolist()
        meant = [each for each in same if held_by(graph, each) in about.pairs] or same
        if len({int(graph.file_of[each]) for each in meant}) > ALIKE:
            continue
        for each in meant:
            start = graph.definitions[each].line
            end = min(_end(graph, each), start + LONGEST)
            found.setdefault(graph.paths[int(graph.file_of[each])], []).extend(range(start, end))
    return {path: tuple(dict.fromkeys(lines)) for path, lines in found.items()}


def _end(graph: Graph, definition: int) -> int:
    """The line where the next definition begins that this one does not hold."""
    start = graph.definitions[definition].line
    inside = {definition}
    for after in range(definition + 1, len(graph.definitions)):
        if (
            graph.file_of[after] != graph.file_of[definition]
            or graph.definitions[after].line > start + LONGEST
        ):
            break
        if int(graph.holder_of[after]) not in inside:
            return graph.definitions[after].line
        inside.add(after)
    return start + LONGEST
