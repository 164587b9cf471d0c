"""Which files a task means by the names it has. Read the test names top to bottom: they are the spec."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from foveal.pipeline.material.values import Material
from foveal.sources.code.focus import find_focus
from foveal.sources.code.graph import build_graph
from foveal.sources.code.rank import LONGEST, defining_lines
from foveal.sources.code.symbols import symbols
from foveal.sources.gather import gather
from workspaces import DAY, repository, request_for, write

DOOR = """class Door:
    def open(self):
        turn()

    def close(self): ...


def build_door(): ...
"""
FILES = {"door.py": DOOR, "lid.py": "class Lid:\n    def open(self): ...\n"}
LONG = "\n".join(f"def step_{n}():\n    return {n}\n" for n in range(300))


def found(task: str, files: dict[str, str] | None = None) -> dict[str, tuple[int, ...]]:
    drawn = build_graph({path: symbols(text, "python") for path, text in (files or FILES).items()})
    return defining_lines(drawn, find_focus(task, ()))


def working(root: Path, task: str, *, room: int = 10_000) -> list[Material]:
    return [
        each for each in gather(request_for(root, task, room=room)).material if each.type == "WORKING_FILES"
    ]


def test_the_file_that_defines_a_name_is_meant_with_the_lines_of_the_definition() -> None:
    assert {path: lines[0] for path, lines in found("why is build_door slow?").items()} == {"door.py": 8}


def test_a_definition_ends_where_the_next_one_begins() -> None:
    assert found("see Door.close") == {"door.py": (1, 2, 3, 4, 5, 6, 7)}
    assert found("see `close`") == {"door.py": (5, 6, 7)}


def test_a_member_named_with_its_class_is_meant_alone() -> None:
    assert list(found("see Lid.open")) == ["lid.py"]
    assert list(found("see `open`")) == ["door.py", "lid.py"]


def test_a_plain_word_means_no_file() -> None:
    assert found("open the door and close it") == {}


def test_a_name_that_many_files_define_means_none_of_them() -> None:
    many = {f"f{n}.py": "def run_it(): ...\n" for n in range(4)}
    assert found("run_it", many) == {}
    assert len(found("run_it", dict(list(many.items())[:3]))) == 3


@given(
    st.lists(st.sampled_from(["Door", "`open`", "build_door", "Lid.open", "no_such", "close()"]), max_size=9)
)
def test_the_lines_are_lines_of_the_file_or_just_after_it_each_once(names: list[str]) -> None:
    for lines in found(" ".join(names)).values():
        assert len(set(lines)) == len(lines)
        assert set(lines) <= set(range(1, 8 + LONGEST))


def test_it_is_worked_on_before_what_was_merely_touched(tmp_path: Path) -> None:
    write(tmp_path, {f"late{n}.py": "x = 1\n" for n in range(9)}, age=60)
    write(tmp_path, {"old.py": "def load_rules(): ...\n"}, age=100 * DAY)
    assert working(tmp_path, "why does load_rules fail?")[0].source == "old.py"
    assert "old.py" not in [each.source for each in working(tmp_path, "why does it fail?")]


def test_of_a_long_file_the_definition_comes_first(tmp_path: Path) -> None:
    write(tmp_path, {"steps.py": LONG})
    (piece,) = working(tmp_path, "what does step_250 return?", room=600)
    assert "751| def step_250():" in piece.text.splitlines()[:9]


def test_the_lines_of_a_definition_are_not_blamed_as_mentioned_ones(tmp_path: Path) -> None:
    repository(tmp_path, FILES)
    (git,) = [each for each in gather(request_for(tmp_path, "build_door")).material if each.type == "GIT"]
    assert "Mentioned lines" not in git.text
