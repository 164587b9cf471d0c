"""One spelling for each file."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from foveal.presets.foveal.paths import Paths


def test_the_project_is_the_deepest_folder_with_most_of_the_files() -> None:
    files = ["/home/me/app/src/a.py", "/home/me/app/src/b.py", "/home/me/app/README.md", "/etc/hosts"]
    assert Paths.of(files).root == "/home/me/app"


def test_a_relative_path_of_a_file_says_where_the_project_begins() -> None:
    files = ["/home/me/app/src/auth/a.py", "/home/me/app/src/auth/b.py", "./src/auth/a.py"]
    assert Paths.of(files).root == "/home/me/app"


def test_a_single_file_or_relative_ones_need_no_folder() -> None:
    assert Paths.of(["/home/me/app/a.py"]).root == ""
    assert Paths.of(["src/a.py", "b.py"]).root == ""
    assert Paths.of([]).root == ""


def test_files_without_a_folder_in_common_keep_their_paths() -> None:
    paths = Paths.of(["/etc/hosts", "/home/me/a.py", "/var/log/x"])
    assert paths.short("/etc/hosts") == "/etc/hosts"


def test_every_spelling_of_a_file_becomes_one() -> None:
    paths = Paths("/home/me/app")
    assert {paths.short(each) for each in ("/home/me/app/src/a.py", "src/a.py", "./src/a.py")} == {"src/a.py"}
    assert paths.short("/home/me/apple/a.py") == "/home/me/apple/a.py"


def test_paths_inside_a_text_are_shortened_too() -> None:
    assert Paths("/home/me/app").shortened("Edit /home/me/app/src/a.py") == "Edit src/a.py"
    assert Paths().shortened("Edit /home/me/app/src/a.py") == "Edit /home/me/app/src/a.py"


@given(st.lists(st.text(alphabet="/ab.", max_size=12), max_size=8))
def test_any_paths_have_a_spelling(files: list[str]) -> None:
    paths = Paths.of(files)
    assert not paths.root.endswith("/")
    for file in files:
        assert file.endswith(paths.short(file))
