"""What ranks high in a workspace's code: what many files use, what the task refers to, what that uses."""

from __future__ import annotations

import time

from hypothesis import given, settings
from hypothesis import strategies as st

from foveal.sources.code.focus import find_focus
from foveal.sources.code.graph import Graph, build_graph
from foveal.sources.code.rank import rank
from foveal.sources.code.symbols import Definition, Symbols, symbols

HOME = {
    "base.py": "class Wall:\n    def paint_over(self): ...\n",
    "door.py": "class Door(Wall):\n    def open_wide(self): ...\n",
    "hall.py": "def enter_hall(): Door(), Wall()\n",
    "loft.py": "def enter_loft(): Window(), Wall()\n",
    "window.py": "class Window(Wall):\n    def open_wide(self): ...\n",
}


def drawn(files: dict[str, str]) -> Graph:
    return build_graph({path: symbols(text, "python") for path, text in files.items()})


def order(task: str = "", said: tuple[str, ...] = (), files: dict[str, str] | None = None) -> list[str]:
    """Everything, best first: files by path, definitions by path and name."""
    found = drawn(files or HOME)
    entries = rank(found, find_focus(task, said))
    names = (f":{found.definitions[d].name}" if d >= 0 else "" for _, d in entries)
    return [found.paths[file] + name for (file, _), name in zip(entries, names, strict=True)]


def first(entries: list[str], *choices: str) -> str:
    return min(choices, key=entries.index)


def test_what_many_files_use_comes_first() -> None:
    assert order()[:2] == ["base.py", "base.py:Wall"]


def test_everything_is_in_the_order_once_and_after_what_holds_it() -> None:
    entries = order("open_wide")
    assert len(entries) == len(set(entries)) == 13
    for entry, holder in (("door.py:Door", "door.py"), ("door.py:open_wide", "door.py:Door")):
        assert entries.index(holder) < entries.index(entry)


def test_what_the_task_names_comes_before_everything_else() -> None:
    assert order("make enter_loft faster")[:2] == ["loft.py", "loft.py:enter_loft"]


def test_every_definition_of_a_named_thing_comes_first() -> None:
    entries = order("open_wide")
    assert {"door.py:open_wide", "window.py:open_wide"} < set(entries[:6])


def test_a_member_named_with_its_class_is_that_one() -> None:
    assert order("fix Window.open_wide")[:3] == ["window.py", "window.py:Window", "window.py:open_wide"]


def test_the_best_definition_of_each_name_comes_before_the_second_of_any() -> None:
    entries = order("open_wide and enter_hall")
    assert entries.index("hall.py:enter_hall") < entries.index("window.py:open_wide")


def test_a_file_the_task_names_comes_first() -> None:
    assert order("see loft.py")[0] == order("see ./loft.py")[0] == order("see \\loft.py")[0] == "loft.py"


def test_a_module_is_named_by_its_dots() -> None:
    files = {"a/loft.py": "", "b/loft.py": "", "b/door.py": "class Door: ..."}
    assert order("import b.loft", files=files)[0] == "b/loft.py"


def test_what_a_named_file_uses_matters_more_than_what_others_use() -> None:
    assert first(order("see loft.py"), "window.py", "door.py") == "window.py"
    assert first(order("see hall.py"), "window.py", "door.py") == "door.py"


def test_what_was_said_lifts_too() -> None:
    assert first(order(said=("it broke in enter_loft",)), "loft.py", "hall.py") == "loft.py"


def test_words_that_a_name_is_made_of_lift_it() -> None:
    assert first(order("entering the loft"), "loft.py", "hall.py") == "loft.py"


def test_a_name_that_many_files_define_says_little() -> None:
    many = {f"m{number}.py": "def common_name(): ..." for number in range(20)}
    files = {"one.py": "def rare_name(): ...", "user.py": "common_name(), rare_name()"} | many
    assert order(files=files)[:2] == ["one.py", "one.py:rare_name"]


def test_private_short_and_common_names_say_less() -> None:
    files = {"a.py": "def _of_own(): ...", "b.py": "def get(): ...", "c.py": "def ab(): ..."}
    files |= {"d.py": "def of_all(): ...", "user.py": "_of_own(), get(), ab(), of_all()"}
    assert order(files=files)[0] == "d.py"


def test_without_definitions_files_are_still_in_order() -> None:
    assert sorted(order("a", files={"b.py": "", "a.py": ""})) == ["a.py", "b.py"]


def test_the_order_is_the_same_every_time() -> None:
    assert order("open the Door", ("hall",)) == order("open the Door", ("hall",))


def test_a_name_that_everybody_defines_and_uses_costs_linear_time() -> None:
    one = Symbols((Definition("door", "function", "def door()", 1),), ("door", "wall"))
    two = Symbols((Definition("wall", "function", "def wall()", 1),), ("door", "wall"))
    found = build_graph({f"{number}.py": (one, two)[number % 2] for number in range(20_000)})
    start = time.process_time()
    rank(found, find_focus("door", ()))
    assert time.process_time() - start < 5


@settings(max_examples=100)
@given(
    st.dictionaries(
        st.text("ab/.", min_size=1, max_size=6),
        st.lists(st.text("abc", min_size=1, max_size=3), max_size=6).map(tuple),
        min_size=1,
    ),
    st.text("abc .", max_size=20),
)
def test_any_graph_is_put_in_order_completely(files: dict[str, tuple[str, ...]], task: str) -> None:
    made = {
        path: Symbols(tuple(Definition(n, "function", n, 1) for n in names[::2]), names[1::2])
        for path, names in files.items()
    }
    found = build_graph(made)
    assert len(set(rank(found, find_focus(task, ())))) == len(found.paths) + len(found.definitions)
