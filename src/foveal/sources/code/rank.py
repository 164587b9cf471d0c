"""A graph of the code and what is spoken of in → files and definitions, what matters most first.

A reader who starts at what is spoken of and follows names to their definitions, again and again, is more
often in some files than in others: that share is a file's rank, and a definition's is how often they came by
it. What the task names comes before all the rest.

A graph of the code and what a task speaks of in → where the names that it surely means are defined.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from foveal.sources.code.focus import PLAIN, Spoken, coined
from foveal.sources.code.graph import Graph, Numbers, Shares

FOLLOWED = 0.85
"""The reader follows a name; else starts again at what is spoken of."""
ROUNDS, STILL = 40, 1e-7
ANYWHERE = 0.3
"""Of the starts, where something is spoken of: at any file, so that none is without rank."""
LOUDER = 10.0
"""How much more a use of a name that is spoken of is followed."""
PARTLY = 0.2
"""A name that only shares words with what is spoken of, beside one that is spoken of."""
COMMON = 200
"""Names or files that one word may be part of: a word of more says nothing here."""
ALONE = 0.2
"""Share of its rank for a file without its definitions: those that are used most say more."""
UNUSED = 0.02
"""Share of its file's rank for a definition that nobody else uses."""
NAMED, FILE_NAMED = 2.0, 1.9
"""Ranks that no share reaches: what the task names, the best of each name first."""
SAME, SAME_WORD = 8, 3
"""Definitions of one name that come first; of a word that may be a plain one."""
CHANCE = 0.05
"""Definitions worth less share their names with plain words by chance: somebody's field `order`."""


def ranked(graph: Graph, about: Spoken) -> list[tuple[int, int]]:
    """Every file as (file, -1), every definition as (file, definition): best first, holders first."""
    called = _called(graph, about)
    files, definitions = _followed(graph, called, _starts(graph, about, called))
    named = dict(_named(graph, about, definitions))
    floor = files[graph.file_of] * UNUSED * (graph.worth + 0.01)
    definitions = np.maximum(definitions, floor)
    for definition, rank in named.items():
        definitions[definition] = rank
    files *= ALONE
    for file, loud in _places(graph, about):
        files[file] = FILE_NAMED if loud >= 1 else files[file]
    return _ordered(graph, files, definitions)


def _called(graph: Graph, about: Spoken) -> Shares:
    """How loudly each name is spoken of, wholly or by a part of it."""
    called = np.zeros(len(graph.names))
    for word, loud in about.words.items():
        numbers = graph.words.get(word, ())
        if 0 < len(numbers) <= COMMON:
            called[numbers] += PARTLY * loud / len(numbers)
    np.minimum(called, PARTLY, out=called)
    for name, loud in about.names.items():
        if name in graph.names:
            called[graph.names[name]] = max(called[graph.names[name]], loud)
    return called


def _starts(graph: Graph, about: Spoken, called: Shares) -> Shares:
    """Where the reader starts: the share of each file."""
    count = len(graph.paths)
    many = np.bincount(graph.name_of, minlength=len(graph.names))[graph.name_of]
    found = np.bincount(graph.file_of, called[graph.name_of] * (graph.worth + 0.01) / many, minlength=count)
    for file, loud in _places(graph, about):
        found[file] += loud
    anywhere = np.full(count, 1 / count)
    return anywhere if found.sum() == 0 else ANYWHERE * anywhere + (1 - ANYWHERE) * found / found.sum()


def _places(graph: Graph, about: Spoken) -> Iterator[tuple[int, float]]:
    """Files that a path, a file's name or a module's name can mean, and how loudly each is meant."""
    for place, loud in about.places.items():
        plain = place.replace("\\", "/").strip("./")
        path = plain if "/" in plain or plain.rpartition("/")[2] in graph.by_last else plain.replace(".", "/")
        same = graph.by_last.get(path.rpartition("/")[2], ())
        meant = [file for file in same[:COMMON] if _ends_as(graph.paths[file], path)]
        # One word may be a file's name by chance; a path or `auth.py` is not.
        sure = 1.0 if "/" in path or "." in path or coined(path) else PLAIN
        yield from ((file, loud * sure / len(meant)) for file in meant)


def _ends_as(path: str, said: str) -> bool:
    whole = f"/{path}"
    return whole.endswith(f"/{said}") or whole.rpartition(".")[0].endswith(f"/{said}")


def _followed(graph: Graph, called: Shares, starts: Shares) -> tuple[Shares, Shares]:
    """How often the reader is in each file, and comes by each definition."""
    count, names = len(graph.paths), len(graph.names)
    users = np.bincount(graph.used, minlength=names)
    by_name = np.bincount(graph.name_of, graph.worth, minlength=names)
    many = np.maximum(np.bincount(graph.name_of, minlength=names), 1)
    telling = np.log1p(count / np.maximum(users, 1)) ** 2 * by_name / many**2 * (1 + LOUDER * called)
    follow = telling[graph.used]
    leaving = np.bincount(graph.users, follow, minlength=count)
    follow = follow / np.where(leaving > 0, leaving, 1)[graph.users]
    arrive = graph.worth / np.where(by_name > 0, by_name, 1)[graph.name_of]
    ends = leaving == 0
    files, definitions = starts, np.zeros(len(graph.definitions))
    for _ in range(ROUNDS):
        passed = np.bincount(graph.used, files[graph.users] * follow, minlength=names)
        definitions = passed[graph.name_of] * arrive
        led = np.bincount(graph.file_of, definitions, minlength=count)
        following = FOLLOWED * (led + files[ends].sum() * starts) + (1 - FOLLOWED) * starts
        moved = np.abs(following - files).sum()
        files = following
        if moved < STILL:
            break
    return files.copy(), FOLLOWED * definitions


def _named(graph: Graph, about: Spoken, ranks: Shares) -> Iterator[tuple[int, float]]:
    """The definitions of the names in the task: the best of every name, then the second of every name, …"""
    asked = {graph.names[name]: name for name in about.asked if name in graph.names}
    if not asked:
        return
    by_name: dict[int, list[int]] = {number: [] for number in asked}
    for definition in np.flatnonzero(np.isin(graph.name_of, list(asked))).tolist():
        by_name[int(graph.name_of[definition])].append(definition)
    for place, (number, name) in enumerate(asked.items()):
        same = by_name[number]
        same.sort(key=lambda d: (-graph.worth[d] * (ranks[d] + 1e-9), d))
        paired = [each for each in same if held_by(graph, each) in about.pairs]
        if name not in about.pointed:
            same = [each for each in same if graph.worth[each] >= CHANCE][:SAME_WORD]
        for nth, definition in enumerate((paired or same)[:SAME]):
            # What is surely a name comes first in `asked`: of equals it is served first.
            yield definition, NAMED + 1 / (1 + nth) - place * 1e-6


def held_by(graph: Graph, definition: int) -> tuple[str, str]:
    """The name of what holds a definition, and its own: `Door` and `open`."""
    holder = graph.definitions[int(graph.holder_of[definition])]
    return holder.name, graph.definitions[definition].name


def _ordered(graph: Graph, files: Shares, definitions: Shares) -> list[tuple[int, int]]:
    """Best first, with nothing before what holds it."""
    _lift(definitions, graph.holder_of)
    np.maximum.at(files, graph.file_of, definitions)
    file = np.concatenate([np.arange(len(graph.paths)), graph.file_of])
    place = np.concatenate([np.full(len(graph.paths), -1), np.arange(len(graph.definitions))])
    order = np.lexsort((place, file, -np.concatenate([files, definitions])))
    return list(zip(file[order].tolist(), place[order].tolist(), strict=True))


def _lift(ranks: Shares, holder_of: Numbers) -> None:
    """Rank no holder below what it holds; as often as holders hold holders."""
    while True:
        before = ranks.copy()
        np.maximum.at(ranks, holder_of, ranks)
        if np.array_equal(before, ranks):
            return


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
