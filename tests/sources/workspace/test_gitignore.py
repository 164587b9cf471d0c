"""Files that `.gitignore` excludes are skipped: git's own answers are the specification."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import time
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from fenced import Fenced, fenced, within
from foveal.sources.workspace.gitignore import Patterns
from foveal.sources.workspace.workspace import Limits

IGNORED = "is named by `.gitignore`"
NAMES = ("a", "b", "ab", "ba", "c.py", "abc.py", "*", "-", "]", ".a", "A", "a b", "#", "!")
FOLDERS = ("", "a/", "b/", "a/b/", "ab/a/", "b/a/b/ab/")
PATHS = [folder + name for folder in FOLDERS for name in NAMES]
pieces = st.sampled_from(
    [
        "a",
        "b",
        "ab",
        "*",
        "**",
        "?",
        "[ab]",
        "[!a]",
        "[^]b]",
        "[a-b]",
        "[b-a]",
        "[a-]",
        "[]a]",
        "[[:alpha:]]",
        "/",
        "/",
        "/**/",
        "**/",
        "/**",
        ".",
        "c.py",
        "*.py",
        "\\*",
        "\\a",
        "#",
        "\\#",
        "-",
    ]
)
lines = st.lists(pieces, min_size=1, max_size=5).map("".join)
HOSTILE = {
    "stars": ("*a" * 100 + "*b", "a" * 250),
    "folders": ("**/a" * 100 + "/b", "a/" * 120 + "a"),
    "stars in folders": ("**/*a*a" * 60 + "/b", "aaaa/" * 50 + "a"),
    "any letter": ("*" + "?a" * 150 + "b", "a" * 250),
    "sets": ("[[:alpha:]]*" * 40 + "1", "a" * 250),
    "brackets": ("[" * 400, "[" * 250),
    "escapes": ("\\" * 400, "\\" * 250),
}


@pytest.fixture
def place(tmp_path: Path) -> Fenced:
    return fenced(tmp_path)


def listed(place: Fenced) -> list[str]:
    return [file.path for file in place.workspace().scan() if not file.path.endswith(".gitignore")]


def ignored(patterns: Patterns, path: str) -> bool:
    above = [path[:at] for at, letter in enumerate(path) if letter == "/"]
    return any(patterns.verdict(folder, folder=True) for folder in above) or bool(
        patterns.verdict(path, folder=False)
    )


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    folder = tmp_path_factory.mktemp("repository")
    subprocess.run(["git", "init", "-q", folder], check=True)
    return folder


@given(
    st.lists(st.tuples(st.booleans(), lines, st.sampled_from(["", "/", " ", "\r"])), min_size=1, max_size=4)
)
@settings(max_examples=100)
def test_git_agrees_on_every_pattern(repository: Path, rules: list[tuple[bool, str, str]]) -> None:
    text = "".join(("!" if takes_back else "") + line + end + "\n" for takes_back, line, end in rules)
    # Stars beside letters and sets across folders: git has no rule for them.
    assume(not any(re.search(r"[^/]\*\*|\*\*[^/]|\[/", line) for _, line, _ in rules))
    (repository / ".gitignore").write_text(text, encoding="utf-8", newline="")
    assert [path for path in PATHS if ignored(Patterns(text), path)] == _ignored_by_git(repository)


def _ignored_by_git(repository: Path) -> list[str]:
    command = ["git", "check-ignore", "--no-index", "-z", "--stdin"]
    settled = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    sent = "\0".join(PATHS).encode()
    answer = subprocess.run(
        command, cwd=repository, input=sent, capture_output=True, check=False, env=settled
    )
    return answer.stdout.decode().split("\0")[:-1]


def test_a_star_after_an_escaped_one_is_a_wildcard() -> None:
    verdicts = [Patterns(r"\**").verdict(name, folder=False) for name in ("*", "*a", "a")]
    assert verdicts == [True, True, None]


@pytest.mark.parametrize(("pattern", "name"), HOSTILE.values(), ids=HOSTILE)
def test_no_pattern_takes_long(pattern: str, name: str) -> None:
    started = time.process_time()
    within(lambda: Patterns(pattern).verdict(name, folder=False))
    assert time.process_time() - started < 1


def test_a_file_of_hostile_patterns_ends_the_scan_and_says_so(place: Fenced) -> None:
    place.limits = Limits(ignore_steps=1_000_000)
    place.put(".gitignore", ("*a" * 50 + "*b\n") * 500)
    place.put("src/" + "a" * 200)
    assert within(lambda: listed(place)) == []
    assert "more `.gitignore` patterns than can be compared" in place.refused[0].why


def test_a_deeper_file_has_the_last_word(place: Fenced) -> None:
    place.put(".gitignore", "*.log\n")
    place.put("src/.gitignore", "!keep.log\n/only-here\n")
    for path in ("a.log", "src/keep.log", "src/other.log", "src/only-here", "src/deep/only-here"):
        place.put(path)
    assert listed(place) == ["src/deep/only-here", "src/keep.log"]


def test_what_is_in_an_ignored_folder_cannot_be_taken_back(place: Fenced) -> None:
    place.put(".gitignore", "build/\n!build/keep.py\n")
    place.put("build/keep.py")
    assert listed(place) == []
    assert place.why("build/keep.py") == IGNORED


def test_what_the_repository_itself_excludes_is_ignored(place: Fenced) -> None:
    place.put(".git/info/exclude", "notes.md\n")
    place.put("notes.md")
    assert listed(place) == []


def test_an_ignored_file_is_read_on_request(place: Fenced) -> None:
    place.put(".gitignore", "reports/\n")
    place.put("reports/junit.xml", "<testsuite/>")
    workspace = place.workspace()
    assert workspace.text("reports/junit.xml", ignored=True) == "<testsuite/>"
    assert workspace.text("reports/junit.xml") is None
    assert [refusal.why for refusal in place.refused] == [IGNORED]


@pytest.mark.parametrize("folder", ["node_modules", ".venv", "__pycache__", ".pytest_cache", "Node_Modules"])
def test_what_programs_make_for_themselves_is_not_walked(place: Fenced, folder: str) -> None:
    place.put(f"src/{folder}/a.py")
    assert listed(place) == []
    assert place.why(f"src/{folder}/a.py") == "is in a folder that programs make for themselves"
    assert place.workspace().text(f"src/{folder}/a.py", ignored=True) == "inside\n"


@pytest.mark.parametrize("mark", ["CACHEDIR.TAG", "pyvenv.cfg"])
def test_a_cache_that_says_so_is_not_walked(place: Fenced, mark: str) -> None:
    place.put(f"env/{mark}")
    place.put("env/lib/a.py")
    assert listed(place) == []


def test_changed_rules_hold_from_the_next_scan(place: Fenced) -> None:
    place.put("a.py")
    workspace = place.workspace()
    assert [file.path for file in workspace.scan()] == ["a.py"]
    assert workspace.text("a.py") == "inside\n"
    place.put(".gitignore", "*.py\n")
    assert [file.path for file in workspace.scan()] == [".gitignore"]
    assert workspace.text("a.py") is None


def test_a_folder_whose_rules_cannot_be_read_is_closed(place: Fenced) -> None:
    place.put("src/.gitignore", "x\n" * 100_000)
    place.put("src/a.py")
    place.put("b.py")
    assert listed(place) == ["b.py"]
    assert place.refused[0].path == "src/.gitignore"


def test_rules_that_are_a_link_count_for_nothing(place: Fenced) -> None:
    (place.outside / "rules").write_text("*\n")
    place.link(".gitignore", place.outside / "rules")
    place.put("a.py")
    assert listed(place) == ["a.py"]
