"""Draw a map of a workspace's code within a number of tokens: folders, files and signatures, by path.

The whole text never exceeds the tokens; its last line says how much is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from foveal.sources.code.symbols import clean
from foveal.sources.contributor import CODEBASE_MAP, ContextRequest, Offer, Progress, room_for, too_small
from foveal.window import Contributed

if TYPE_CHECKING:
    from foveal.sources.code.graph import Graph
    from foveal.sources.workspace.values import FileInfo
    from foveal.sources.workspace.workspace import Workspace

FULL = 0.98
"""Share of the tokens: a map that uses as much is full enough."""
DENSITY = 3.0
"""Characters per token that the first probe assumes."""
SMALLER = 40
"""Entries after the first that does not fit, among which smaller ones are looked for."""
PROBES = 12
"""How many of these are tried."""
INDENT = 2
"""Spaces."""
WIDEST_PATH = 200
"""Characters."""

Entry = tuple[int, int]
"""The number of a file, and of a definition in it, or -1 for the file itself."""


def codebase(
    request: ContextRequest, *, files: Sequence[FileInfo] | None = None, progress: Progress | None = None
) -> Offer | Contributed | None:
    """The contributor: the map of the workspace's code, as large as its share of the room.

    `files`: the files of the workspace, where the caller has scanned it already.
    """
    graph, order = _ranked(request, files, progress)
    room = room_for(request, CODEBASE_MAP)
    if text := _fit(graph, order, room, request.count):
        return Offer(text=text, type=CODEBASE_MAP, source_path=".")
    if not order:
        return None
    characters = sum(len(each.signature) for each in graph.definitions) + sum(map(len, graph.paths))
    return too_small(CODEBASE_MAP, ".", characters=characters, room=room)


def definitions(
    request: ContextRequest, *, files: Sequence[FileInfo] | None = None, progress: Progress | None = None
) -> Mapping[str, Sequence[int]]:
    """The files that define what the task names, and the lines of each."""
    from foveal.sources.code.focus import find_focus
    from foveal.sources.code.rank import defining_lines

    graph, _ = _ranked(request, files, progress)
    return defining_lines(graph, find_focus(request.task, ()))


def _ranked(
    request: ContextRequest, files: Sequence[FileInfo] | None, progress: Progress | None
) -> tuple[Graph, Sequence[Entry]]:
    """The graph of the code, and its entries ranked for the task; cached while nothing changes."""
    from foveal.sources.code.survey import survey

    said = (*request.said, "\n".join(request.active_files))
    return survey(request.workspace).ranked(request.task, said, progress, files=files)


def codebase_map(
    workspace: Workspace,
    *,
    tokens: int,
    count: Callable[[str], int],
    task: str = "",
    said: Sequence[str] = (),
    progress: Progress | None = None,
) -> str:
    """What matters most for the task in at most `tokens` tokens; empty where nothing fits.

    The first map of a workspace parses every file, and calls `progress` with the number done and of all;
    later ones parse what changed.
    """
    # numpy and the parsers are imported only for a map.
    from foveal.sources.code.survey import survey

    graph, order = survey(workspace).ranked(task, said, progress)
    return _fit(graph, order, tokens, count)


def _fit(graph: Graph, order: Sequence[Entry], tokens: int, count: Callable[[str], int]) -> str:
    def cost(entries: Sequence[Entry]) -> int:
        return count(render(graph, entries))

    most, used = _count_fitting(order, tokens, cost, first=_guess(graph, order, DENSITY * tokens))
    shown, tried = list(order[:most]), 0
    inside = {*shown}
    # The next entry does not fit, but a smaller one after it may.
    for entry in order[most + 1 : most + 1 + SMALLER]:
        if used >= FULL * tokens or tried == PROBES:
            break
        if _reachable(graph, entry, inside):
            tried += 1
            with_it = cost([*shown, entry])
            if with_it <= tokens:
                shown.append(entry)
                inside.add(entry)
                used = with_it
    return render(graph, shown) if shown else ""


def _guess(graph: Graph, order: Sequence[Entry], characters: float) -> int:
    """How many of the first entries have about this many characters."""
    for number, (file, definition) in enumerate(order):
        text = graph.paths[file] if definition < 0 else graph.definitions[definition].signature
        characters -= len(text) + INDENT
        if characters < 0:
            return number + 1
    return len(order)


def _count_fitting(
    order: Sequence[Entry], tokens: int, cost: Callable[[Sequence[Entry]], int], *, first: int
) -> tuple[int, int]:
    """How many of the first entries fit, or nearly as many, and their tokens. Probes stay near the room."""
    low, used, high, probe, probes = 0, 0, len(order) + 1, first, 0
    while high - low > 1:
        found = cost(order[:probe])
        probes += 1
        if found <= tokens:
            low, used = probe, found
        else:
            high = probe
        if FULL * tokens <= found <= tokens:
            break
        target = probe * tokens // max(found, 1) if probes % 3 else (low + high) // 2
        probe = min(max(target, low + 1), high - 1, 2 * probe)
    return low, used


def _reachable(graph: Graph, entry: Entry, shown: set[Entry]) -> bool:
    """Whether the entry's parent is shown."""
    file, definition = entry
    if definition < 0:
        return True
    parent = int(graph.parent_of[definition])
    return (file, -1 if parent == definition else parent) in shown


def render(graph: Graph, shown: Sequence[Entry]) -> str:
    """The map with these entries: each file under its folder, each definition under its parent."""
    lines: list[str] = []
    folder, indent = "", 0
    for file, definition in sorted(shown):
        if definition >= 0:
            signature = graph.definitions[definition].signature
            lines.append(" " * (indent + INDENT * _depth(graph, definition)) + signature)
            continue
        above, _, name = graph.paths[file].rpartition("/")
        if above != folder:
            lines.append(clean(f"{above}/", WIDEST_PATH))
        folder, indent = above, INDENT if above else 0
        lines.append(" " * indent + clean(name, WIDEST_PATH))
    return "\n".join([*lines, *_left_out(graph, shown)])


def _depth(graph: Graph, definition: int) -> int:
    depth = 1
    while (parent := int(graph.parent_of[definition])) != definition:
        depth, definition = depth + 1, parent
    return depth


def _left_out(graph: Graph, shown: Sequence[Entry]) -> list[str]:
    symbols = sum(definition >= 0 for _, definition in shown)
    left = {"file": len(graph.paths) - (len(shown) - symbols), "symbol": len(graph.definitions) - symbols}
    counts = [f"{many:,} more {what}{'s' * (many > 1)}" for what, many in left.items() if many]
    return [f"… {', '.join(counts)}"] if counts else []
