"""A workspace, a task and tokens in → a map of the code that fits: folders, files, signatures; path order.

Never over the tokens as they are counted on the whole text; what does not fit is told in the last line.
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
"""Of the tokens: a map that uses as much is not probed further."""
DENSITY = 3.0
"""Characters to a token where the first probe is made."""
SMALLER = 40
"""Things after the first that does not fit, among which smaller ones are looked for."""
PROBES = 12
"""Of these, so many are tried."""
INDENT = 2
"""Spaces."""
WIDEST_PATH = 200
"""Characters."""

Entry = tuple[int, int]
"""A file, and a definition of it by its number or -1 for the file itself."""


def codebase(
    request: ContextRequest, *, files: Sequence[FileInfo] | None = None, progress: Progress | None = None
) -> Offer | Contributed | None:
    """The map of the workspace's code, as large as its part of the room.

    `files`: those of the workspace, where somebody scanned it already.
    """
    graph, order = _drawn(request, files, progress)
    room = room_for(request, CODEBASE_MAP)
    if text := _fitted(graph, order, room, request.count):
        return Offer(text=text, type=CODEBASE_MAP, source_path=".")
    if not order:
        return None
    characters = sum(len(each.signature) for each in graph.definitions) + sum(map(len, graph.paths))
    return too_small(CODEBASE_MAP, ".", characters=characters, room=room)


def definitions(
    request: ContextRequest, *, files: Sequence[FileInfo] | None = None, progress: Progress | None = None
) -> Mapping[str, Sequence[int]]:
    """Where the code defines what the task surely names: files, and the lines of each."""
    from foveal.sources.code.focus import spoken
    from foveal.sources.code.rank import defining

    graph, _ = _drawn(request, files, progress)
    return defining(graph, spoken(request.task, ()))


def _drawn(
    request: ContextRequest, files: Sequence[FileInfo] | None, progress: Progress | None
) -> tuple[Graph, Sequence[Entry]]:
    """The graph of the code, ranked; whoever asks the same again is answered from memory."""
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
    """What matters most for the task in at most `tokens` tokens; empty where nothing fits or is there.

    The first map of a workspace parses every file and tells `progress` how many are done, of how many; later
    ones parse what changed.
    """
    # numpy and the parsers are loaded when somebody wants a map.
    from foveal.sources.code.survey import survey

    graph, order = survey(workspace).ranked(task, said, progress)
    return _fitted(graph, order, tokens, count)


def _fitted(graph: Graph, order: Sequence[Entry], tokens: int, count: Callable[[str], int]) -> str:
    def cost(entries: Sequence[Entry]) -> int:
        return count(written(graph, entries))

    most, used = _most(order, tokens, cost, first=_guess(graph, order, DENSITY * tokens))
    shown, tried = list(order[:most]), 0
    inside = {*shown}
    # The next thing does not fit, but of those after it a smaller one may.
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
    return written(graph, shown) if shown else ""


def _guess(graph: Graph, order: Sequence[Entry], characters: float) -> int:
    """How many of the first entries have about so many characters."""
    for number, (file, definition) in enumerate(order):
        text = graph.paths[file] if definition < 0 else graph.definitions[definition].signature
        characters -= len(text) + INDENT
        if characters < 0:
            return number + 1
    return len(order)


def _most(
    order: Sequence[Entry], tokens: int, cost: Callable[[Sequence[Entry]], int], *, first: int
) -> tuple[int, int]:
    """How many of the first entries fit, or nearly as many, and their tokens. Each probe is near the room."""
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
        aim = probe * tokens // max(found, 1) if probes % 3 else (low + high) // 2
        probe = min(max(aim, low + 1), high - 1, 2 * probe)
    return low, used


def _reachable(graph: Graph, entry: Entry, shown: set[Entry]) -> bool:
    """Whether what holds the entry is shown."""
    file, definition = entry
    if definition < 0:
        return True
    holder = int(graph.holder_of[definition])
    return (file, -1 if holder == definition else holder) in shown


def written(graph: Graph, shown: Sequence[Entry]) -> str:
    """The map with these entries: each file under its folder, each definition under what holds it."""
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
    while (holder := int(graph.holder_of[definition])) != definition:
        depth, definition = depth + 1, holder
    return depth


def _left_out(graph: Graph, shown: Sequence[Entry]) -> list[str]:
    symbols = sum(definition >= 0 for _, definition in shown)
    left = {"file": len(graph.paths) - (len(shown) - symbols), "symbol": len(graph.definitions) - symbols}
    told = [f"{many:,} more {what}{'s' * (many > 1)}" for what, many in left.items() if many]
    return [f"… {', '.join(told)}"] if told else []
