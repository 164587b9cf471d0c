"""What a survey promises: refused files are reported, bad ones cost little, nothing is done twice."""

from __future__ import annotations

import gc
import sys
import weakref
from collections.abc import Iterator
from pathlib import Path

import pytest

from foveal.sources.code.parsers import Parsers
from foveal.sources.code.survey import HANGS, LARGEST, Survey, survey
from foveal.sources.workspace.workspace import Refusal, Workspace

HANGING = """
import re, sys
sys.path[:] = sys.argv[1:]
from foveal.sources.code import worker
real = worker.symbols
def symbols(text, language):
    if "HANG" in text:
        re.match("(a+)+$", "a" * 64 + "b")
    return real(text, language)
worker.symbols = symbols
worker.main()
"""


@pytest.fixture
def parsers() -> Iterator[Parsers]:
    made = Parsers([sys.executable, "-I", "-c", HANGING, *filter(None, sys.path)], seconds=0.5)
    yield made
    made.close()


def place(folder: Path, files: dict[str, str]) -> tuple[Workspace, list[Refusal]]:
    for path, text in files.items():
        (folder / path).write_text(text, encoding="utf-8")
    refused: list[Refusal] = []
    return Workspace(folder, refused=refused.append), refused


def test_a_file_that_hangs_is_refused_once_and_the_rest_goes_on(tmp_path: Path, parsers: Parsers) -> None:
    workspace, refused = place(tmp_path, {"a.py": "a = 1", "b.py": "HANG = 1", "c.py": "c = 1"})
    looked = Survey(workspace, parsers=parsers)
    found, _ = looked.ranked("", ())
    (tmp_path / "a.py").write_text("aa = 1")
    found, _ = looked.ranked("", ())
    assert [each.name for each in found.definitions] == ["aa", "c"]
    assert refused == [Refusal(path="b.py", why="parsing it took longer than 0.5 s")]


def test_a_language_that_hangs_again_and_again_is_left_alone(tmp_path: Path, parsers: Parsers) -> None:
    files = {f"a{number}.py": f"HANG = {number}" for number in range(8)} | {"b.go": "package b\nvar Door = 1"}
    workspace, refused = place(tmp_path, files)
    found, _ = Survey(workspace, parsers=parsers).ranked("", ())
    late = [each for each in refused if "took longer" in each.why]
    assert HANGS <= len(late) < 8
    assert len(refused) == 8
    assert [each.name for each in found.definitions] == ["Door"]


def test_without_a_parser_there_is_a_tree_and_the_next_look_tries_again(tmp_path: Path) -> None:
    workspace, refused = place(tmp_path, {"a.py": "a = 1", "b.py": "b = 1"})
    looked = Survey(workspace, parsers=Parsers(["/no/such/program"]))
    assert (len(looked.ranked("", ())[0].paths), len(looked.ranked("", ())[0].definitions)) == (2, 0)
    assert {each.why for each in refused} == {"no process could be started to parse files"}
    looked._parsers = None
    assert len(looked.ranked("", ())[0].definitions) == 2


def test_a_file_too_large_to_parse_is_in_the_graph_without_symbols(tmp_path: Path) -> None:
    workspace, refused = place(tmp_path, {"a.py": "a = 1\n" * (LARGEST // 6 + 1)})
    found, order = Survey(workspace).ranked("", ())
    assert (found.paths, found.definitions, order) == (("a.py",), (), [(0, -1)])
    assert [each.why for each in refused] == ["400,002 bytes; up to 400,000 are parsed"]


def test_a_file_that_is_no_text_is_in_the_graph_without_symbols(tmp_path: Path) -> None:
    workspace, _ = place(tmp_path, {"a.py": "a = '\x00'"})
    assert Survey(workspace).ranked("", ())[0].definitions == ()


def test_nothing_is_done_again_while_nothing_changes(tmp_path: Path) -> None:
    workspace, _ = place(tmp_path, {"a.py": "a = 1"})
    looked = survey(workspace)
    found, order = looked.ranked("a", ("b",))
    again, same = survey(workspace).ranked("a", ("b",))
    assert again is found
    assert same is order
    assert looked.ranked("b", ())[0] is found


def test_the_graph_is_drawn_again_only_when_names_change(tmp_path: Path) -> None:
    workspace, _ = place(tmp_path, {"a.py": "a = 1", "b.md": "b"})
    looked = Survey(workspace)
    found, _ = looked.ranked("", ())
    place(tmp_path, {"a.py": "a = 1  # one", "b.md": "bb"})
    assert looked.ranked("", ())[0] is found
    place(tmp_path, {"a.py": "aa = 1"})
    assert looked.ranked("", ())[0] is not found


def test_what_is_known_of_a_workspace_goes_with_it(tmp_path: Path) -> None:
    workspace, _ = place(tmp_path, {"a.py": "a = 1"})
    survey(workspace).ranked("", ())
    gone = weakref.ref(workspace)
    del workspace
    gc.collect()
    assert gone() is None


def test_a_caller_that_interrupts_does_not_wait_for_the_rest(tmp_path: Path) -> None:
    workspace, _ = place(tmp_path, {f"a{number}.py": f"a{number} = 1" for number in range(500)})

    def interrupted(done: int, total: int) -> None:
        raise KeyboardInterrupt

    looked = Survey(workspace)
    with pytest.raises(KeyboardInterrupt):
        looked.ranked("", (), interrupted)
    assert len(looked.ranked("", ())[0].definitions) == 500
