"""What a workspace promises: each readable file is found and read once, each refused one is reported."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

import pytest

from fenced import ON_WINDOWS, Fenced, fenced, opened
from foveal.errors import InputError
from foveal.sources.workspace.workspace import FileCache, Limits, Refusal, Workspace

SPELLINGS = (
    "src/app.py",
    "./src/app.py",
    "src//app.py",
    "src/./app.py",
    "docs/../src/app.py",
    "src/app.py/",
    "{root}/src/app.py",
    "{root}/./docs/../src/app.py",
    "../root/src/app.py",
)


@pytest.fixture
def place(tmp_path: Path) -> Fenced:
    return fenced(tmp_path)


def settle() -> None:
    """Let the clock of the file system tick, so that a version shows a file from what it was before."""
    time.sleep(0.05)


def names(workspace: Workspace) -> list[str]:
    return [file.path for file in workspace.scan()]


def test_a_scan_lists_every_file_in_order(place: Fenced) -> None:
    for path in ("b.py", "a/z.py", "a/b/c.go", ".github/workflow.yml", "a.py"):
        place.put(path)
    assert names(place.workspace()) == [".github/workflow.yml", "a.py", "a/b/c.go", "a/z.py", "b.py"]


def test_a_file_is_seen_with_its_size_and_age(place: Fenced) -> None:
    os.utime(place.put("a.py", "four"), (1_000_000_000, 1_000_000_000))
    file = place.workspace().info("a.py")
    assert file
    assert (file.path, file.size, file.touched_at) == ("a.py", 4, 1_000_000_000)
    assert [file] == place.workspace().scan()


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_a_file_is_found_however_its_path_is_spelled(place: Fenced, spelling: str) -> None:
    place.put("src/app.py")
    file = place.workspace().info(spelling.format(root=place.root))
    assert file
    assert file.path == "src/app.py"


@pytest.mark.skipif(not ON_WINDOWS, reason="elsewhere a backslash is a letter like any other")
def test_on_windows_a_backslash_is_a_slash(place: Fenced) -> None:
    place.put("src/app.py")
    assert place.workspace().text("src\\app.py") == "inside\n"


@pytest.mark.parametrize(
    "path", ["absent.py", "absent/a.py", "a.py/b.py", "src", ".", "", "https://x.example/a"]
)
def test_what_is_not_there_is_no_refusal(place: Fenced, path: str) -> None:
    place.put("a.py")
    place.put("src/b.py")
    workspace = place.workspace()
    assert (workspace.info(path), workspace.text(path), workspace.derived(path, "n", len)) == (
        None,
        None,
        None,
    )
    assert place.refused == []


def test_a_missing_file_that_the_caller_expects_is_reported(place: Fenced) -> None:
    place.put("src/b.py")
    workspace = place.workspace()
    paths = ("src/b.py", "./absent.py", "src", "../b.py")
    assert [workspace.info(path, expected=True) is None for path in paths] == [False, True, True, True]
    reported = [(each.path, each.why) for each in place.refused]
    assert reported[:2] == [("absent.py", "names no file"), ("src", "names no file")]
    assert reported[2:] == [("../b.py", "is outside the workspace")]


def test_a_refusal_is_reported_once(place: Fenced) -> None:
    place.put("a.bin", b"\x00")
    place.put(".env")
    workspace = place.workspace()
    for _ in range(3):
        assert (workspace.text("a.bin"), workspace.text(".env")) == (None, None)
        workspace.scan()
    assert [refusal.path for refusal in place.refused] == ["a.bin", ".env"]


def test_a_refused_file_that_is_fixed_is_read(place: Fenced) -> None:
    place.put("a.txt", b"\x00")
    workspace = place.workspace()
    assert workspace.text("a.txt") is None
    place.put("a.txt", "mended")
    assert workspace.text("a.txt") == "mended"


def test_a_caller_may_refuse_a_file_that_it_cannot_use(place: Fenced) -> None:
    workspace = place.workspace()
    for _ in range(2):
        workspace.refuse(Refusal(path="a.py", why="takes too long to parse"))
    assert place.refused == [Refusal(path="a.py", why="takes too long to parse")]


def test_very_many_refusals_are_summed_up(place: Fenced) -> None:
    place.limits = Limits(refusals=3)
    for number in range(9):
        place.put(f"{number}.pem")
    place.workspace().scan()
    assert [refusal.path for refusal in place.refused] == ["0.pem", "1.pem", "2.pem", ""]
    assert place.refused[-1].why == "more than 3 files were refused; the rest is not listed"


@pytest.mark.parametrize(
    ("limits", "found", "why"),
    [
        (
            Limits(files=2),
            ["a.py", "b.py"],
            "comes after 2 files; it and what comes after it is not looked at",
        ),
        (
            Limits(entries=3),
            ["a.py", "b.py"],
            "comes after 3 files and folders; it and what comes after it is not",
        ),
        (Limits(depth=1), ["a.py", "b.py", "x/c.py"], "is 1 folders deep; what is in it is not looked at"),
        (Limits(path_length=6), ["a.py", "b.py", "x/c.py"], "has 8 characters; at most 6 are looked up"),
    ],
    ids=["files", "entries", "depth", "path length"],
)
def test_each_limit_of_a_scan_is_reported(place: Fenced, limits: Limits, found: list[str], why: str) -> None:
    place.limits = limits
    for path in ("a.py", "b.py", "x/c.py", "x/y/d.py"):
        place.put(path)
    assert names(place.workspace()) == found
    assert place.refused[0].why.startswith(why)


def test_a_path_that_is_too_deep_or_too_long_is_refused(place: Fenced) -> None:
    assert place.why("a/" * 50 + "b.py") == "is 50 folders deep; at most 40 are looked into"
    place.refused.clear()
    assert place.why("a" * 2_000) == "has 2,000 characters; at most 1,000 are looked up"


@pytest.mark.skipif(ON_WINDOWS or os.geteuid() == 0, reason="nothing is closed to the administrator")
def test_a_file_that_the_system_does_not_let_us_read_is_reported(place: Fenced) -> None:
    place.put("a.py").chmod(0)
    assert place.why("a.py") == "cannot be read: Permission denied"


def test_a_file_is_read_again_only_when_it_changed(place: Fenced) -> None:
    place.put("a.py")
    workspace = place.workspace()
    settle()
    with opened() as opens:
        assert {workspace.text("a.py") for _ in range(5)} == {"inside\n"}
    assert [path for path, _ in opens].count("a.py" if not ON_WINDOWS else str(place.root / "a.py")) == 1


def test_a_change_is_noticed_even_if_the_clock_of_the_disk_stood_still(
    place: Fenced, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("foveal.sources.workspace.workspace.version", lambda _: "the same")
    monkeypatch.setattr("foveal.sources.workspace.workspace._SETTLED", 10**12)  # however slow this machine is
    workspace = place.workspace()
    for number in range(20):
        place.put("a.py", f"{number:05}")
        assert workspace.text("a.py") == f"{number:05}"
        assert workspace.derived("a.py", "number", int) == number


def test_what_is_derived_from_a_file_is_computed_once(place: Fenced) -> None:
    place.put("a.py", "one two")
    workspace = place.workspace()
    made: list[str] = []

    def words(text: str) -> list[str]:
        made.append(text)
        return text.split()

    assert [workspace.derived("./a.py", "words", words) for _ in range(3)] == [["one", "two"]] * 3
    place.put("b.py")
    workspace.scan()
    assert workspace.derived("a.py", "words", words) == ["one", "two"]
    assert made == ["one two"]


def test_deriving_nothing_from_a_file_happens_once_as_well(place: Fenced) -> None:
    place.put("a.py")
    workspace = place.workspace()
    made: list[str] = []
    for _ in range(3):
        assert workspace.derived("a.py", "nothing", made.append) is None
    assert made == ["inside\n"]


def test_what_was_derived_outlives_the_text(place: Fenced) -> None:
    place.limits = Limits(cached_characters=10)
    for name in "abc":
        place.put(name, name * 9)
    workspace = place.workspace()
    settle()
    first = [workspace.derived(name, "itself", lambda text: [text]) for name in "abc"]
    with opened() as opens:
        assert [workspace.derived(name, "itself", lambda text: [text]) for name in "abc"] == first
    assert opens == []
    assert [workspace.text(name) for name in "abc"] == [name * 9 for name in "abc"]


def test_texts_in_memory_are_bounded(place: Fenced) -> None:
    place.limits = Limits(cached_characters=100)
    for number in range(50):
        place.put(f"{number}.py", "x" * 10)
    workspace = place.workspace()
    assert all(workspace.text(path) for path in names(workspace))
    memory = workspace._cache
    assert isinstance(memory, FileCache)
    assert sum(len(known.text or "") for known in memory._files.values()) <= 100


def test_a_file_that_is_gone_is_forgotten(place: Fenced) -> None:
    file = place.put("a.py")
    workspace = place.workspace()
    assert workspace.text("a.py") == "inside\n"
    file.unlink()
    assert (workspace.text("a.py"), workspace.info("a.py"), names(workspace)) == (None, None, [])


def test_threads_may_share_a_workspace(place: Fenced) -> None:
    place.limits = Limits(cached_characters=500)
    for number in range(40):
        place.put(f"{number}.py", f"{number}" * 20)
    workspace = place.workspace()
    wrong: list[str] = []

    def request() -> None:
        for path in names(workspace):
            number = path.removesuffix(".py")
            if (workspace.text(path), workspace.derived(path, "size", len)) != (
                number * 20,
                len(number) * 20,
            ):
                wrong.append(path)

    threads = [threading.Thread(target=request) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


@pytest.mark.parametrize("root", ["absent", "file.txt", "a\0b", "a" * 5_000])
def test_a_workspace_is_a_folder(tmp_path: Path, root: str) -> None:
    (tmp_path / "file.txt").write_text("x")
    with pytest.raises(InputError, match=r"is not a folder") as failure:
        Workspace(tmp_path / root)
    assert failure.value.field == "workspace"
