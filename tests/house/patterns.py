"""Find every regular expression of the package, wherever it is written and whenever it is compiled."""

from __future__ import annotations

import ast
import importlib
import json
import re
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Set
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, cast

from house.graph import names
from house.tree import ROOT, SOURCE, python

AnyPattern = re.Pattern[str] | re.Pattern[bytes]
FLAGS = re.IGNORECASE | re.MULTILINE | re.DOTALL | re.VERBOSE | re.ASCII
METHODS = frozenset({"search", "match", "fullmatch", "finditer", "findall", "sub", "subn", "split"})


@dataclass(frozen=True, slots=True)
class Uses:
    """Which methods the code calls on patterns."""

    named: Mapping[tuple[str | bytes, int], Set[str]]
    """By pattern and flags: on a name of a module for it."""
    unnamed: Mapping[str, Set[str]]
    """By file: on a variable, as for each pattern of a table."""

    def of(self, pattern: AnyPattern, file: str) -> tuple[str, ...]:
        """The methods to try; without a call in sight, all that differ in what they search."""
        found = self.named.get((pattern.pattern, pattern.flags)) or self.unnamed.get(file)
        return tuple(sorted(found or {"finditer", "match", "fullmatch"}))


@dataclass(frozen=True, slots=True)
class Site:
    """One call of `re` in the source."""

    file: str
    first: int
    last: int
    call: ast.Call

    @property
    def literal(self) -> AnyPattern | None:
        """The pattern, if the call spells it out."""
        given = self.call.args[0]
        if not isinstance(given, ast.Constant) or not isinstance(given.value, str | bytes):
            return None
        flags = next((word.value for word in self.call.keywords if word.arg == "flags"), self.call.args[-1])
        spelled = ast.unparse(flags)
        return re.compile(given.value, sum(flag for flag in FLAGS if f"re.{flag.name}" in spelled))


def modules() -> Mapping[str, Path]:
    """Every module that can be imported without running a program."""
    return {name: path for name, path in names().items() if not name.endswith("__main__")}


@contextmanager
def compiled() -> Iterator[list[tuple[str, int, AnyPattern]]]:
    """Everything that the package compiles in here: file, line, pattern."""
    seen: list[tuple[str, int, AnyPattern]] = []
    compile_ = re._compile  # type: ignore[attr-defined]

    def spy(pattern: str | bytes, flags: int) -> AnyPattern:
        made: AnyPattern = compile_(pattern, flags)
        caller = sys._getframe(2)
        file = Path(caller.f_code.co_filename)
        if file.is_relative_to(SOURCE):
            seen.append((file.relative_to(SOURCE).as_posix(), caller.f_lineno, made))
        return made

    re._compile = spy  # type: ignore[attr-defined]
    try:
        yield seen
    finally:
        re._compile = compile_  # type: ignore[attr-defined]


def load() -> dict[str, ModuleType]:
    """Import the whole package. In a fresh interpreter, this compiles everything at the top of a module."""
    return {name: importlib.import_module(name) for name in modules()}


def sites() -> list[Site]:
    """Every call of a function of `re` in the source."""
    return [
        Site(path.relative_to(SOURCE).as_posix(), node.lineno, node.end_lineno or node.lineno, node)
        for path in names().values()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id == "re"
        and node.func.attr in METHODS | {"compile"}
    ]


def uses(loaded: Mapping[str, ModuleType]) -> Uses:
    """The methods that the code calls on each pattern, by its names in modules and else by its file."""
    named: dict[tuple[str | bytes, int], set[str]] = defaultdict(set)
    unnamed: dict[str, set[str]] = defaultdict(set)
    for name, module in loaded.items():
        path = modules()[name]
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Attribute) or node.attr not in METHODS:
                continue
            value = getattr(module, node.value.id, None) if isinstance(node.value, ast.Name) else None
            if isinstance(value, re.Pattern):
                named[value.pattern, value.flags].add(node.attr)
            elif value is not re and node.attr != "split":
                unnamed[path.relative_to(SOURCE).as_posix()].add(node.attr)
    return Uses(named, unnamed)


@dataclass(frozen=True, slots=True)
class Found:
    """One pattern, where it is compiled, and the methods that the code calls on it."""

    pattern: AnyPattern
    file: str
    line: int
    methods: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.file}:{self.line} {self.pattern.pattern!r:.80}"


def collected() -> tuple[list[Found], list[str]]:
    """Every pattern of the package, each once, and the calls of `re` that were not made, by file and line.

    A fresh interpreter makes them: in this one, the modules are imported already.
    """
    rows, missed = json.loads(python("from house.patterns import report\nreport()", ROOT / "tests"))
    found = [
        Found(
            re.compile(text if kind == "str" else text.encode("latin-1"), flags), file, line, tuple(methods)
        )
        for kind, text, flags, file, line, methods in rows
    ]
    return found, missed


def report() -> None:
    """Print what `collected` returns."""
    with compiled() as seen:
        loaded = load()
        build()
    made = {(file, line) for file, line, _ in seen}
    missed = []
    for site in sites():
        if site.literal is not None:
            seen.append((site.file, site.first, site.literal))
        elif not any((site.file, line) in made for line in range(site.first, site.last + 1)):
            missed.append(f"{site.file}:{site.first}")
    called = uses(loaded)
    each = {(pattern.pattern, pattern.flags): (file, line, pattern) for file, line, pattern in reversed(seen)}
    rows = [
        (type(p.pattern).__name__, _text(p), p.flags, file, line, called.of(p, file))
        for file, line, p in each.values()
    ]
    sys.stdout.write(json.dumps((rows, missed)))


def _text(pattern: AnyPattern) -> str:
    return pattern.pattern if isinstance(pattern.pattern, str) else pattern.pattern.decode("latin-1")


def build() -> None:
    """Call what makes a pattern when it runs, from settings or from names."""
    from foveal import fit
    from foveal.presets.fifth.triggers import _reference
    from foveal.presets.openscroll.zones import _counter
    from foveal.presets.reploid import _finder
    from foveal.session.summaries.by_model import _is_word
    from foveal.sources.workspace.gitignore import Patterns

    _finder("error failed")
    _counter("decided|we agreed")
    _is_word("a-1", "a-1")
    _reference("task 3", cast("Any", SimpleNamespace(number=3, name="", summary="")))
    Patterns("*.log\na/**/b\n").verdict("a/x.log", folder=False)
    use = {"type": "tool_use", "id": "a b", "name": "a b", "input": {}}
    used = {"type": "tool_result", "tool_use_id": "a b", "content": "ok"}
    turns = (("user", "hi"), ("assistant", [use]), ("user", [used]))
    fit([{"role": role, "content": content} for role, content in turns], format="anthropic")
