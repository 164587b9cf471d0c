"""What a task and a conversation name. Read the test names top to bottom: they are the spec."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from foveal.sources.mentions import match_files, mentions
from foveal.sources.workspace.values import FileInfo
from workspaces import request_for, write


def files(root: Path, path: str) -> list[str]:
    request = request_for(root, f"see {path}")
    found = match_files(mentions(request), request.workspace.root, request.workspace.scan())
    return [file.path for file in found.get(path, ())]


def test_the_task_comes_before_the_conversation_and_the_newest_words_first(tmp_path: Path) -> None:
    found = mentions(request_for(tmp_path, "fix c.py:7", said=["see a.py, then b.py", "not d.py"]))
    assert found.files == (("c.py", 7), ("d.py", 0), ("b.py", 0), ("a.py", 0))


def test_a_traceback_names_a_line_of_a_file(tmp_path: Path) -> None:
    found = mentions(request_for(tmp_path, said=['  File "/w/src/app.py", line 31, in main']))
    assert ("/w/src/app.py", 31) in found.files


def test_a_path_may_be_written_in_many_ways(tmp_path: Path) -> None:
    write(tmp_path, {"src/app.py": "", "test/app.py": "", "README.md": ""})
    for spelling in ("src/app.py", "./src/app.py", f"{tmp_path.resolve().as_posix()}/src/app.py"):
        assert files(tmp_path, spelling) == ["src/app.py"]
    assert files(tmp_path, "app.py") == ["src/app.py", "test/app.py"]


def test_a_bare_name_that_many_files_have_means_none_of_them(tmp_path: Path) -> None:
    write(tmp_path, {f"p{n}/index.js": "" for n in range(4)})
    assert files(tmp_path, "index.js") == []
    assert files(tmp_path, "p2/index.js") == ["p2/index.js"]


def test_a_path_from_the_root_means_that_file_however_many_end_alike(tmp_path: Path) -> None:
    write(tmp_path, {"index.js": "", **{f"p{n}/index.js": "" for n in range(4)}})
    assert files(tmp_path, "index.js") == ["index.js"]


def test_a_path_that_only_ends_alike_is_another_one(tmp_path: Path) -> None:
    write(tmp_path, {"src/my_app.py": ""})
    assert files(tmp_path, "app.py") == []


@pytest.mark.parametrize("text", ["a" * 10**6, "a." * 10**5, "/" * 10**6, 'File "' * 10**5, " " * 10**6])
def test_a_hostile_text_takes_no_longer_than_another(tmp_path: Path, text: str) -> None:
    start = time.process_time()
    mentions(request_for(tmp_path, text, said=[text]))
    assert time.process_time() - start < 2


def test_many_paths_and_many_files_of_one_name_are_not_compared_with_each_other(tmp_path: Path) -> None:
    said = ["\n".join(f"e{text}_{n}/index.js" for n in range(2_000)) for text in range(10)]
    found = mentions(request_for(tmp_path, said=said))
    there = [FileInfo(path=f"d{n}/index.js", size=1, touched_at=0.0, version="") for n in range(20_000)]
    start = time.process_time()
    assert match_files(found, tmp_path, there) == {}
    assert time.process_time() - start < 2
