"""Read the import graph of the package, imports inside functions and under `TYPE_CHECKING` included."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

from house.tree import SOURCE

PACKAGE = "foveal"
Graph = Mapping[str, frozenset[str]]


def names() -> dict[str, Path]:
    """Every module by its dotted name."""
    return {_dotted(path): path for path in sorted(SOURCE.rglob("*.py"))}


def _dotted(path: Path) -> str:
    parts = (PACKAGE, *path.relative_to(SOURCE).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports() -> Graph:
    """By module, the modules of the package that it imports."""
    known = names()
    return {name: frozenset(_imports(name, path, known)) for name, path in known.items()}


def _imports(name: str, path: Path, known: Mapping[str, Path]) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            found = {f"{node.module}.{alias.name}" for alias in node.names} & known.keys()
            yield from (found or {node.module} & known.keys()) - {name}
        elif isinstance(node, ast.Import):
            yield from {alias.name for alias in node.names} & known.keys() - {name}


def importers(graph: Graph) -> Counter[str]:
    """By module, how many others import it."""
    return Counter(target for found in graph.values() for target in found)


def cycles(graph: Graph) -> list[list[str]]:
    """Groups of modules that import each other, directly or not (Tarjan's algorithm)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(name: str) -> None:
        index[name] = low[name] = len(index)
        stack.append(name)
        for target in graph[name]:
            if target not in index:
                visit(target)
                low[name] = min(low[name], low[target])
            elif target in stack:
                low[name] = min(low[name], index[target])
        if low[name] == index[name]:
            at = stack.index(name)
            group = stack[at:]
            del stack[at:]
            if len(group) > 1:
                found.append(sorted(group))

    for name in graph:
        if name not in index:
            visit(name)
    return found
