"""Rank the files and definitions of a code graph by how much they matter for a task.

Personalized PageRank: a reader who starts at what the task and the conversation refer to, and follows names
to their definitions again and again, is in some files more often than in others. That share is the rank of a
file; the rank of a definition is how often the reader came to it. What the task names comes before the rest.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from foveal.sources.code.focus import PLAIN, Focus, looks_like_code
from foveal.sources.code.graph import Floats, Graph, Ints

DAMPING = 0.85
"""The reader follows a name with this probability, else starts again."""
ROUNDS, CONVERGED = 40, 1e-7
ANYWHERE = 0.3
"""Share of the starts that are spread over all files, so that none is without rank."""
LOUDER = 10.0
"""How much more the use of an emphasized name is followed."""
PARTLY = 0.2
"""Emphasis of a name that only shares words with what is referred to."""
COMMON = 200
"""Names or files that a word may be part of; a word of more says nothing here."""
ALONE = 0.2
"""Share of its rank for a file without its definitions: those that are used most say more."""
UNUSED = 0.02
"""Share of its file's rank for a definition that no other file uses."""
NAMED, FILE_NAMED = 2.0, 1.9
"""Ranks that no share reaches: for what the task names, the best definition of each name first."""
SAME, SAME_WORD = 8, 3
"""Definitions of one name that come first; of one that may be a plain word."""
CHANCE = 0.05
"""Definitions of less weight share their names with plain words by chance, such as a field `order`."""
NAMES = 50
"""Names of a task whose definitions are looked up: a task that pastes a program means none of its names."""
ALIKE = 3
"""Files in which one name may be defined: `__init__` means none of a hundred."""
LONGEST = 200
"""Lines of one definition."""


def rank(graph: Graph, focus: Focus) -> list[tuple[int, int]]:
    """Every file as (file, -1) and every definition as (file, definition): best first, parents first."""
    emphasis = _emphasis(graph, focus)
    files, definitions = _visits(graph, emphasis, _starts(graph, focus, emphasis))
    named = dict(_named(graph, focus, definitions))
    floor = files[graph.file_of] * UNUSED * (graph.weights + 0.01)
    definitions = np.maximum(definitions, floor)
    for definition, value in named.items():
        definitions[definition] = value
    files *= ALONE
    for file, how_much in _mentioned_files(graph, focus):
        files[file] = FILE_NAMED if how_much >= 1 else files[file]
    return _order(graph, files, definitions)


def _emphasis(graph: Graph, focus: Focus) -> Floats:
    """The emphasis of each name, from the whole name or a word of it."""
    found = np.zeros(len(graph.names))
    for word, emphasis in focus.words.items():
        numbers = graph.words.get(word, ())
        if 0 < len(numbers) <= COMMON:
            found[numbers] += PARTLY * emphasis / len(numbers)
    np.minimum(found, PARTLY, out=found)
    for name, emphasis in focus.names.items():
        if name in graph.names:
            found[graph.names[name]] = max(found[graph.names[name]], emphasis)
    return found


def _starts(graph: Graph, focus: Focus, emphasis: Floats) -> Floats:
    """How often the reader starts in each file."""
    count = len(graph.paths)
    same_name = np.bincount(graph.name_of, minlength=len(graph.names))[graph.name_of]
    found = np.bincount(
        graph.file_of, emphasis[graph.name_of] * (graph.weights + 0.01) / same_name, minlength=count
    )
    for file, how_much in _mentioned_files(graph, focus):
        found[file] += how_much
    anywhere = np.full(count, 1 / count)
    return anywhere if found.sum() == 0 else ANYWHERE * anywhere + (1 - ANYWHERE) * found / found.sum()


def _mentioned_files(graph: Graph, focus: Focus) -> Iterator[tuple[int, float]]:
    """Files that a path, a file name or a module name can mean, each with its emphasis."""
    for mentioned, emphasis in focus.paths.items():
        plain = mentioned.replace("\\", "/").strip("./")
        is_path = "/" in plain or plain in graph.by_file_name
        path = plain if is_path else plain.replace(".", "/")
        same = graph.by_file_name.get(path.rpartition("/")[2], ())
        meant = [file for file in same[:COMMON] if _ends_with(graph.paths[file], path)]
        # A single word may be a file's name by chance; a path or `auth.py` is not.
        certainty = 1.0 if "/" in path or "." in path or looks_like_code(path) else PLAIN
        yield from ((file, emphasis * certainty / len(meant)) for file in meant)


def _ends_with(path: str, ending: str) -> bool:
    whole = f"/{path}"
    return whole.endswith(f"/{ending}") or whole.rpartition(".")[0].endswith(f"/{ending}")


def _visits(graph: Graph, emphasis: Floats, starts: Floats) -> tuple[Floats, Floats]:
    """How often the reader is in each file, and comes to each definition."""
    count, names = len(graph.paths), len(graph.names)
    users = np.bincount(graph.used, minlength=names)
    by_name = np.bincount(graph.name_of, graph.weights, minlength=names)
    same_name = np.maximum(np.bincount(graph.name_of, minlength=names), 1)
    # A name that few files use and few define says most about where it leads.
    informative = (
        np.log1p(count / np.maximum(users, 1)) ** 2 * by_name / same_name**2 * (1 + LOUDER * emphasis)
    )
    follow = informative[graph.used]
    leaving = np.bincount(graph.users, follow, minlength=count)
    follow = follow / np.where(leaving > 0, leaving, 1)[graph.users]
    arrive = graph.weights / np.where(by_name > 0, by_name, 1)[graph.name_of]
    dead_ends = leaving == 0
    files, definitions = starts, np.zeros(len(graph.definitions))
    for _ in range(ROUNDS):
        passed = np.bincount(graph.used, files[graph.users] * follow, minlength=names)
        definitions = passed[graph.name_of] * arrive
        arrived = np.bincount(graph.file_of, definitions, minlength=count)
        following = DAMPING * (arrived + files[dead_ends].sum() * starts) + (1 - DAMPING) * starts
        moved = np.abs(following - files).sum()
        files = following
        if moved < CONVERGED:
            break
    return files.copy(), DAMPING * definitions


def _named(graph: Graph, focus: Focus, ranks: Floats) -> Iterator[tuple[int, float]]:
    """Ranks for the definitions of the names in the task: the best of every name, then the second, …"""
    names = {graph.names[name]: name for name in focus.task_names if name in graph.names}
    if not names:
        return
    by_name: dict[int, list[int]] = {number: [] for number in names}
    for definition in np.flatnonzero(np.isin(graph.name_of, list(names))).tolist():
        by_name[int(graph.name_of[definition])].append(definition)
    for position, (number, name) in enumerate(names.items()):
        same = by_name[number]
        same.sort(key=lambda d: (-graph.weights[d] * (ranks[d] + 1e-9), d))
        members = [each for each in same if _member_name(graph, each) in focus.members]
        if name not in focus.certain:
            same = [each for each in same if graph.weights[each] >= CHANCE][:SAME_WORD]
        for nth, definition in enumerate((members or same)[:SAME]):
            # Certain names are first among `task_names`: of equals they come first.
            yield definition, NAMED + 1 / (1 + nth) - position * 1e-6


def _member_name(graph: Graph, definition: int) -> tuple[str, str]:
    """The name of a definition's parent, and its own: `Door` and `open`."""
    parent = graph.definitions[int(graph.parent_of[definition])]
    return parent.name, graph.definitions[definition].name


def _order(graph: Graph, files: Floats, definitions: Floats) -> list[tuple[int, int]]:
    """Best first, and nothing before its parent."""
    _lift_parents(definitions, graph.parent_of)
    np.maximum.at(files, graph.file_of, definitions)
    file = np.concatenate([np.arange(len(graph.paths)), graph.file_of])
    definition = np.concatenate([np.full(len(graph.paths), -1), np.arange(len(graph.definitions))])
    order = np.lexsort((definition, file, -np.concatenate([files, definitions])))
    return list(zip(file[order].tolist(), definition[order].tolist(), strict=True))


def _lift_parents(ranks: Floats, parent_of: Ints) -> None:
    """Rank no parent below its children, through all levels."""
    while True:
        before = ranks.copy()
        np.maximum.at(ranks, parent_of, ranks)
        if np.array_equal(before, ranks):
            return


def defining_lines(graph: Graph, focus: Focus) -> dict[str, tuple[int, ...]]:
    """The files that define the certain names of the task, in its order, with the lines that do."""
    found: dict[str, list[int]] = {}
    names = [name for name in focus.task_names if name in focus.certain and name in graph.names]
    for name in names[:NAMES]:
        same = np.flatnonzero(graph.name_of == graph.names[name]).tolist()
        meant = [each for each in same if _member_name(graph, each) in focus.members] or same
        if len({int(graph.file_of[each]) for each in meant}) > ALIKE:
            continue
        for each in meant:
            start = graph.definitions[each].line
            end = min(_end(graph, each), start + LONGEST)
            found.setdefault(graph.paths[int(graph.file_of[each])], []).extend(range(start, end))
    return {path: tuple(dict.fromkeys(lines)) for path, lines in found.items()}


def _end(graph: Graph, definition: int) -> int:
    """The line where the next definition begins that is not inside this one."""
    start = graph.definitions[definition].line
    inside = {definition}
    for after in range(definition + 1, len(graph.definitions)):
        if (
            graph.file_of[after] != graph.file_of[definition]
            or graph.definitions[after].line > start + LONGEST
        ):
            break
        if int(graph.parent_of[after]) not in inside:
            return graph.definitions[after].line
        inside.add(after)
    return start + LONGEST
