"""What keeps the code base easy to find one's way in: sizes, names, and who imports whom."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from house.graph import cycles, importers, imports, names
from house.tree import ROOT, SOURCE, tracked

SMALL = {
    "foveal.operations.stored": "the registry of operations is pure",
    "foveal.search.embed.endpoint": "one file for each kind of embedder",
    "foveal.session.build.bill": "callers record bills, builds do not",
    "foveal.sources.contributors.retrieval": "one file for each contributor",
    "foveal.wire.judge.judge": "a package's `__init__` has no behaviour",
    "foveal.wire.judge.plain": "one file for each provider",
    "foveal.wire.transcripts.codex": "one file for each agent",
}
"""Modules under 60 lines with a single importer, and why each is a file of its own."""
REPEATED = {"values.py", "__init__.py", "__main__.py"}
"""File names that may occur in several folders of a layer."""
PROVIDERS = {"anthropic.py", "gemini.py", "openai.py", "plain.py", "responses.py"}


def test_no_file_is_longer_than_600_lines() -> None:
    lengths = {_name(path): len(path.read_text(encoding="utf-8").splitlines()) for path in _sources()}
    assert {name: lines for name, lines in lengths.items() if lines > 600} == {}


def test_no_function_is_longer_than_60_lines() -> None:
    lengths = [pair for path in _sources() for pair in _functions(path)]
    assert [(name, lines) for name, lines in lengths if lines > 60] == []


def test_no_folder_has_more_than_15_modules() -> None:
    modules = [path for path in SOURCE.rglob("*.py") if path.name != "__init__.py"]
    folders = {path.parent for path in modules}
    counts = {_name(folder): sum(path.parent == folder for path in modules) for folder in folders}
    assert {folder: count for folder, count in counts.items() if count > 15} == {}


def test_no_small_module_has_a_single_importer_without_a_reason() -> None:
    counts = importers(imports())
    small = {name for name, path in names().items() if path.name != "__init__.py" and _lines(path) < 60}
    assert {name for name in small if counts[name] == 1} == SMALL.keys()


def test_every_module_is_imported_unless_it_is_an_entry_point() -> None:
    counts = importers(imports())
    alone = {name for name, path in names().items() if not counts[name] and path.name != "__init__.py"}
    entries = {name for name in alone if name.startswith("foveal.cli.commands.")}
    assert alone - entries == {
        "foveal.cli.__main__",
        "foveal.server.workers.child",
        "foveal.testing.model_server",
    }


def test_there_are_no_import_cycles() -> None:
    assert cycles(imports()) == []


def test_the_graph_sees_a_cycle() -> None:
    found = cycles({"a": frozenset("b"), "b": frozenset("c"), "c": frozenset("a"), "d": frozenset("a")})
    assert found == [["a", "b", "c"]]


def test_no_file_is_named_by_a_gerund() -> None:
    files = (*SOURCE.rglob("*.py"), *(ROOT / "benchmarks").glob("*.py"))
    assert [_name(path) for path in files if re.search(r"(?<!str)(?<!th)ing$", path.stem)] == []


def test_a_file_name_is_unique_within_its_layer() -> None:
    places: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for path in SOURCE.rglob("*.py"):
        layer, *_, file = path.relative_to(SOURCE).parts if path.parent != SOURCE else ("", path.name)
        # Each preset has files of its own: readers may ignore the presets that they do not use.
        if layer != "presets" and file not in REPEATED and not (layer == "wire" and file in PROVIDERS):
            places[layer, file].append(_name(path))
    assert {key: found for key, found in places.items() if len(found) > 1} == {}


def test_every_module_says_first_what_it_does_in_a_plain_sentence() -> None:
    odd = []
    for path in _sources():
        tree = _parse(path)
        first = (ast.get_docstring(tree) or "").partition("\n")[0]
        if tree.body and (not first or "→" in first or not first.endswith((".", ":", "?"))):
            odd.append(_name(path))
    assert odd == []


def test_the_readme_has_at_most_150_lines() -> None:
    assert 0 < _lines(ROOT / "README.md") <= 150


def _sources() -> list[Path]:
    return [path for path in tracked() if path.suffix == ".py"]


def _lines(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())


def _name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def _parse(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def _functions(path: Path) -> Iterator[tuple[str, int]]:
    for node in ast.walk(_parse(path)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield f"{_name(path)}:{node.name}", (node.end_lineno or node.lineno) - node.lineno + 1
