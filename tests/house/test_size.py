"""Small on purpose: files under 400 lines, functions under 50, a README one can read standing."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from house.tree import ROOT, tracked

LONG_FILES: frozenset[str] = frozenset()
LONG_FUNCTIONS: frozenset[str] = frozenset()


def test_no_file_is_longer_than_400_lines() -> None:
    lengths = {_name(path): len(path.read_text(encoding="utf-8").splitlines()) for path in _sources()}
    assert {name: lines for name, lines in lengths.items() if lines > 400 and name not in LONG_FILES} == {}


def test_no_function_is_longer_than_50_lines() -> None:
    lengths = {name: lines for path in _sources() for name, lines in _functions(path)}
    assert {name: lines for name, lines in lengths.items() if lines > 50 and name not in LONG_FUNCTIONS} == {}


def test_the_readme_has_at_most_150_lines() -> None:
    assert 0 < len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 150


def test_every_module_says_first_what_it_is_for() -> None:
    silent = [
        _name(path) for path in _sources() if ast.get_docstring(_parse(path)) is None and _parse(path).body
    ]
    assert silent == []


def _sources() -> list[Path]:
    return [path for path in tracked() if path.suffix == ".py"]


def _name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def _parse(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def _functions(path: Path) -> Iterator[tuple[str, int]]:
    for node in ast.walk(_parse(path)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield f"{_name(path)}:{node.name}", (node.end_lineno or node.lineno) - node.lineno + 1
