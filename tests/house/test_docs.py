"""Run every code block of the documentation. The blocks of a page share a folder and their names.

`python` is executed, `pycon` is a doctest, `toml` and `json` must parse, `text` is not checked. In `console`,
`$` starts a command and `>` continues it; the output must match the output on the page, in which `…` matches
anything; a command that should fail says so: `$ foveal fit broken.json  # exit 1`.
"""

from __future__ import annotations

import doctest
import json
import os
import re
import shlex
import subprocess
import sys
import textwrap
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

import foveal
from commands import called
from house.tree import DOCS, ROOT, SOURCE, pages

FENCE = re.compile(
    r"^(?P<indent> *)```(?P<language>\w*)\n(?P<body>.*?)^(?P=indent)```$", re.DOTALL | re.MULTILINE
)
LINK = re.compile(r"\]\((?!https?:)([^)#\s]+)")
FILE = re.compile(r"`((?:\w+/)+\w+\.\w+)`")
"""The path of a file, below the root or the package."""
PLAIN = re.compile(r"foveal [^|&;<>$`*?~#\\\n]*")
"""A `foveal` command that needs nothing from the shell but quotes."""
EXIT = re.compile(r"\s+# exit (\d)$")
LANGUAGES = {"python", "pycon", "console", "toml", "json", "text"}
# Commands that set up are not run, because the tests run in such an environment; `make` targets must exist.
SET_UP = ("cd ", "git ", "pip ", "make", "python -m pip ", "uv ")


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    language: str
    body: str
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    text: str
    output: str
    code: int


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_block_of_the_page_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _isolate(tmp_path, monkeypatch)
    names: dict[str, object] = {"__name__": "page"}
    for block in _blocks(page.read_text(encoding="utf-8")):
        where = f"{page.relative_to(ROOT)}:{block.line}"
        assert block.language in LANGUAGES, f"{where}: {block.language!r} is none of {sorted(LANGUAGES)}"
        _run(block, where, names)


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_link_to_a_file_points_to_an_existing_one(page: Path) -> None:
    links = LINK.findall(page.read_text(encoding="utf-8"))
    assert [link for link in links if not (page.parent / link).exists()] == []


@pytest.mark.parametrize(
    "page",
    [ROOT / "CONTRIBUTING.md", DOCS / "architecture.md", *sorted((DOCS / "decisions").iterdir())],
    ids=lambda page: page.relative_to(ROOT).as_posix(),
)
def test_every_file_that_a_page_for_contributors_names_exists(page: Path) -> None:
    files = FILE.findall(page.read_text(encoding="utf-8").partition("<!-- made by")[0])
    assert [file for file in files if not ((ROOT / file).is_file() or (SOURCE / file).is_file())] == []


def test_the_readme_has_no_placeholder_in_its_figures() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    table = readme.partition("<!-- measured -->")[2].partition("<!-- /measured -->")[0]
    assert table.count("\n|") > 3
    assert set(re.findall(r"\b[A-Z]{4,}\b", table)) - {"JSON"} == set()


@pytest.mark.parametrize("budget", [1_000, 2_000, 4_000, 8_000, 16_000])
def test_the_window_of_the_readmes_example_has_the_answer_to_its_question(budget: int) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    example = next(block for block in _blocks(readme) if block.language == "python")
    names: dict[str, Any] = {}
    exec(example.body, names)
    history = names["history"]
    assert "closes its socket" in str(names["window"].messages)
    assert "closes its socket" in str(foveal.fit(history, model="gpt-5", budget=budget).messages)
    with foveal.Foveal(":memory:") as fov:
        session = fov.session("fix-auth", model="claude-sonnet-4-5")
        session.sync(history)
        assert "closes its socket" in str(session.build(budget=budget, format="anthropic").messages)


def test_a_difference_from_the_output_on_the_page_is_found() -> None:
    with pytest.raises(AssertionError, match="guide:7"):
        _run_console("$ echo one\ntwo\n", "guide:7")


def test_an_ellipsis_matches_anything() -> None:
    _run_console("$ echo one two three\none … three\n$ printf 'a\\nb\\nc\\n'\na\n…\nc\n", "guide:7")


def test_an_unexpected_failure_is_found() -> None:
    _run_console("$ false  # exit 1\n", "guide:7")
    with pytest.raises(AssertionError, match="exit 1"):
        _run_console("$ false\n", "guide:7")


def _isolate(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run in the folder, without settings of the user."""
    monkeypatch.chdir(folder)
    for name in [name for name in os.environ if name.startswith("FOVEAL_")]:
        monkeypatch.delenv(name)
    for name in ("HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME"):
        monkeypatch.setenv(name, str(folder / ".home"))
    monkeypatch.setenv("PATH", os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]))
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "100")


def _blocks(text: str) -> Iterator[Block]:
    for found in FENCE.finditer(text):
        line = text.count("\n", 0, found.start()) + 1
        yield Block(language=found["language"], body=textwrap.dedent(found["body"]), line=line)


def _run(block: Block, where: str, names: dict[str, object]) -> None:
    match block.language:
        case "python":
            exec(compile(block.body, where, "exec"), names)
        case "pycon":
            _run_doctest(block.body, where, names)
        case "console":
            _run_console(block.body, where)
        case "toml":
            tomllib.loads(block.body)
        case "json":
            json.loads(block.body)


def _run_doctest(body: str, where: str, names: dict[str, object]) -> None:
    flags = doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL
    session = doctest.DocTestParser().get_doctest(body, names, where, where, 0)
    report: list[str] = []
    failed = (
        doctest.DocTestRunner(optionflags=flags).run(session, out=report.append, clear_globs=False).failed
    )
    names |= session.globs
    assert not failed, "".join(report)


def _run_console(body: str, where: str) -> None:
    for command in _commands(body):
        if command.text.startswith(SET_UP):
            assert _targets(command.text) <= _makefile(), f"{where}: no such target: {command.text}"
            continue
        run = _run_in_process if PLAIN.fullmatch(command.text) else _run_in_shell
        code, output = run(command.text)
        report = f"{where}: $ {command.text}\n{output}\nexit {code}"
        assert code == command.code, report
        assert not command.output or _matches(command.output, output), report


def _run_in_process(command: str) -> tuple[int, str]:
    """Run `foveal` in this process, because a new process takes a second to start."""
    output = BytesIO()
    with pytest.MonkeyPatch.context() as patch:
        code = called(patch, *shlex.split(command)[1:], stdin=BytesIO(), stdout=output, stderr=output)
        return code, output.getvalue().decode()


def _run_in_shell(command: str) -> tuple[int, str]:
    done = subprocess.run(
        ["bash", "-c", command], check=False, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    return done.returncode, done.stdout


def _commands(body: str) -> Iterator[Command]:
    for entry in re.split(r"^\$ ", body, flags=re.MULTILINE)[1:]:
        first, *rest = entry.rstrip("\n").split("\n")
        more = [line.removeprefix("> ") for line in rest if line.startswith("> ")]
        output = "\n".join(line for line in rest if not line.startswith("> ")).strip()
        code = int(found[1]) if (found := EXIT.search(first)) else 0
        yield Command(text="\n".join([EXIT.sub("", first), *more]), output=output, code=code)


def _matches(expected: str, actual: str) -> bool:
    pattern = ".*?".join(re.escape(piece) for piece in _trimmed(expected).split("…"))
    return re.fullmatch(pattern, _trimmed(actual), re.DOTALL) is not None


def _trimmed(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.strip().splitlines())


def _targets(command: str) -> set[str]:
    words = command.partition(" #")[0].split()
    return {word for word in words[1:] if "=" not in word} if words[0] == "make" else set()


def _makefile() -> set[str]:
    return set(re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
