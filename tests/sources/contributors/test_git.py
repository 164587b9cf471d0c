"""What a repository contributes, and that it runs nothing. Read the test names top to bottom."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
from pathlib import Path

import pytest

from foveal.sources.contributor import ContextRequest
from foveal.sources.contributors.git import git as contribute
from foveal.sources.workspace.values import Refusal
from workspaces import commit, git, repository, request_for, write

CODE = {"app.py": "one\ntwo\nthree\n", "lib/tool.py": "def tool(): ...\n"}


def lines(request: ContextRequest) -> list[str]:
    return [line for offer in contribute(request) for line in offer.text.splitlines()]


def test_the_branch_and_the_newest_commits_come_first(tmp_path: Path) -> None:
    repository(tmp_path, CODE)
    write(tmp_path, {"app.py": "one\n"})
    commit(tmp_path, "Shorten app")
    shown = lines(request_for(tmp_path))
    assert shown[:2] == ["Branch main", "Recent commits:"]
    assert [line[8:] for line in shown[2:]] == ["2026-01-02 Shorten app", "2026-01-02 Begin"]


def test_changes_since_the_last_commit_are_listed(tmp_path: Path) -> None:
    repository(tmp_path, CODE | {"gone.py": "x\n"})
    write(tmp_path, {"app.py": "one\n2\nthree\n", "new.py": "y\n"})
    (tmp_path / "gone.py").unlink()
    shown = lines(request_for(tmp_path))
    assert shown[1:5] == ["Changed since the last commit:", "M app.py", "A new.py", "D gone.py"]


def test_what_is_staged_is_changed_too(tmp_path: Path) -> None:
    repository(tmp_path, CODE)
    write(tmp_path, {"app.py": "one\n"})
    git(tmp_path, "add", "-A")
    assert "M app.py" in lines(request_for(tmp_path))


def test_a_file_that_was_written_again_as_it_was_did_not_change(tmp_path: Path) -> None:
    repository(tmp_path, CODE)
    write(tmp_path, {"app.py": CODE["app.py"]}, age=5)
    assert "M app.py" not in lines(request_for(tmp_path))


def test_line_ends_that_git_changed_are_no_change(tmp_path: Path) -> None:
    repository(tmp_path, CODE)
    write(tmp_path, {"app.py": CODE["app.py"].replace("\n", "\r\n")}, age=5)
    assert "M app.py" not in lines(request_for(tmp_path))


def test_the_last_change_of_a_mentioned_line_is_shown(tmp_path: Path) -> None:
    repository(tmp_path, CODE)
    write(tmp_path, {"app.py": "one\n2\nthree\n"})
    commit(tmp_path, "Use digits")
    shown = lines(request_for(tmp_path, "why does app.py:2 fail"))
    blamed = shown[shown.index("Mentioned lines, as they were last changed:") + 1]
    assert blamed.startswith("app.py:2: ")
    assert blamed.endswith(" by Ann: Use digits")


def test_a_commit_without_a_branch_is_shown_by_its_id(tmp_path: Path) -> None:
    repository(tmp_path, CODE)
    git(tmp_path, "checkout", "-q", "--detach")
    assert lines(request_for(tmp_path))[0].startswith("No branch, at ")


def test_packed_and_shallow_repositories_are_read_too(tmp_path: Path) -> None:
    source = repository(tmp_path / "source", CODE)
    commit_two = write(source, {"app.py": "one\n"})
    commit(commit_two, "Second")
    git(tmp_path, "clone", "-q", "--depth", "1", source.as_uri(), "clone")
    git(tmp_path / "clone", "pack-refs", "--all")
    assert [line[8:] for line in lines(request_for(tmp_path / "clone"))[2:]] == ["2026-01-02 Second"]


def test_a_repository_of_the_longer_hashes_is_read_too(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "-b", "main", "--object-format=sha256")
    write(tmp_path, CODE)
    commit(tmp_path, "Begin")
    write(tmp_path, {"app.py": "one\n", "lib/tool.py": CODE["lib/tool.py"]}, age=5)
    assert lines(request_for(tmp_path))[:3] == ["Branch main", "Changed since the last commit:", "M app.py"]


def test_what_a_sparse_checkout_leaves_out_is_not_deleted(tmp_path: Path) -> None:
    repository(tmp_path, CODE)
    git(tmp_path, "sparse-checkout", "set", "--no-cone", "/app.py")
    assert not (tmp_path / "lib").exists()
    assert "Changed since the last commit:" not in lines(request_for(tmp_path))


def test_the_files_of_a_repository_inside_are_not_new(tmp_path: Path) -> None:
    inner = repository(tmp_path / "inner", CODE)
    root = repository(tmp_path / "root", {"main.py": "x\n"})
    git(root, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(inner), "part")
    commit(root, "Add a part")
    assert "Changed since the last commit:" not in lines(request_for(root))


def test_an_escape_sequence_in_a_subject_is_shown_as_text(tmp_path: Path) -> None:
    repository(tmp_path, CODE)
    write(tmp_path, {"app.py": "one\n"})
    commit(tmp_path, "Paint it \x1b[31mred")
    assert lines(request_for(tmp_path))[2].endswith("Paint it \\x1b[31mred")


def test_a_tree_of_objects_of_any_depth_is_looked_through(tmp_path: Path) -> None:
    repository(tmp_path, CODE)
    deep = str(tmp_path / ".git/objects")
    for _ in range(1_100):
        deep += "/d"
        os.mkdir(deep)
    found = list(contribute(request_for(tmp_path)))
    os.removedirs(deep)
    assert [offer.text.split("\n")[0] for offer in found] == ["Branch main"]


@pytest.mark.skipif(os.name == "nt", reason="names there are text")
def test_an_undecodable_name_is_shown_as_text(tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(b"\xff.py")).write_text("x", encoding="utf-8")
    repository(tmp_path, CODE)
    (tmp_path / os.fsdecode(b"\xff.py")).unlink()
    assert "D \\udcff.py" in lines(request_for(tmp_path))


def test_it_stays_within_its_part(tmp_path: Path) -> None:
    repository(tmp_path, {f"file{n}.py": "x\n" for n in range(60)})
    write(tmp_path, {f"file{n}.py": "y\n" for n in range(60)})
    (offer,) = contribute(request_for(tmp_path, room=300))
    assert offer.text.split("\n")[0] == "Branch main"
    assert len(offer.text.split()) <= 30
    assert offer.text.endswith("more lines]")


def test_without_a_repository_or_a_commit_nothing_is_offered(tmp_path: Path) -> None:
    assert lines(request_for(tmp_path)) == []
    git(tmp_path, "init", "-q")
    assert lines(request_for(tmp_path)) == []


def test_without_git_nothing_is_offered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repository(tmp_path, CODE)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert lines(request_for(tmp_path)) == []


def _elsewhere(root: Path, how: str, outside: Path) -> None:
    folder = root / ".git"
    if how == "a file":
        shutil.move(folder, outside / "git")
        folder.write_text(f"gitdir: {outside / 'git'}\n", encoding="utf-8")
    elif how == "a link":
        shutil.move(folder, outside / "git")
        folder.symlink_to(outside / "git")
    elif how == "alternates":
        (folder / "objects/info/alternates").write_text(str(outside), encoding="utf-8")
    elif how == "commondir":
        (folder / "commondir").write_text(str(outside), encoding="utf-8")
    elif how == "linked objects":
        shutil.move(folder / "objects", outside / "objects")
        (folder / "objects").symlink_to(outside / "objects")
    else:
        name = next(path for path in (folder / "objects").rglob("*") if path.is_file())
        shutil.move(name, outside / "object")
        name.symlink_to(outside / "object")


@pytest.mark.parametrize(
    "how", ["a file", "a link", "alternates", "commondir", "linked objects", "one linked object"]
)
def test_a_repository_that_lies_elsewhere_is_refused_with_the_reason(tmp_path: Path, how: str) -> None:
    root, outside = repository(tmp_path / "root", CODE), tmp_path / "outside"
    outside.mkdir()
    _elsewhere(root, how, outside)
    refused: list[Refusal] = []
    assert lines(request_for(root, refused=refused)) == []
    assert ".git" in [each.path for each in refused if "elsewhere" in each.why]


def _trapped(root: Path, canary: Path) -> None:
    """A repository in which everything that can name a program names one that leaves a trace."""
    trap = root / ".git" / "trap.sh"
    trap.write_text(f"#!/bin/sh\necho ran >> '{canary}'\ncat\n", encoding="utf-8")
    trap.chmod(trap.stat().st_mode | stat.S_IXUSR)
    for name in (
        "post-index-change",
        "pre-commit",
        "post-checkout",
        "fsmonitor-watchman",
        "reference-transaction",
    ):
        shutil.copy(trap, root / ".git" / "hooks" / name)
    for key in (
        "core.fsmonitor", "core.pager", "core.editor", "core.sshCommand", "core.gitProxy", "core.askPass",
        "filter.trap.clean", "filter.trap.smudge", "filter.trap.process", "diff.trap.command",
        "diff.trap.textconv", "diff.external", "merge.trap.driver", "gpg.program", "gpg.ssh.program",
        "credential.helper", "alias.log", "alias.blame", "alias.ls-files", "alias.cat-file", "pager.log",
        "interactive.diffFilter", "remote.origin.uploadpack", "trailer.trap.command",
        "uploadpack.packObjectsHook",
    ):  # fmt: skip
        git(root, "config", key, f"!{trap}" if key.startswith("alias.") else str(trap))
    git(root, "config", "log.showSignature", "true")
    git(root, "config", "core.hooksPath", str(root / ".git/hooks"))
    (root / ".git/info/attributes").write_text("* filter=trap diff=trap\n", encoding="utf-8")
    (root / ".gitattributes").write_text("* filter=trap diff=trap merge=trap\n", encoding="utf-8")


@pytest.mark.skipif(os.name == "nt", reason="the traps are shell scripts")
def test_nothing_that_a_repository_names_is_run(tmp_path: Path) -> None:
    root, canary = repository(tmp_path / "root", CODE), tmp_path / "canary"
    _trapped(root, canary)
    write(root, {"app.py": "one\n2\nthree\n"})
    shown = lines(request_for(root, "why does app.py:2 fail"))
    assert {"M app.py", "Mentioned lines, as they were last changed:"} <= set(shown)
    assert not canary.exists()
    subprocess.run(["git", "status"], cwd=root, check=False, capture_output=True)
    assert canary.exists()  # the traps are real: git as people run it falls into them


def test_a_program_called_git_in_the_workspace_is_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = repository(tmp_path / "root", CODE)
    (root / "git").write_text(f"#!/bin/sh\necho ran > '{tmp_path / 'canary'}'\n", encoding="utf-8")
    (root / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{root}{os.pathsep}{os.environ['PATH']}")
    assert lines(request_for(root)) == []
    assert not (tmp_path / "canary").exists()


def test_a_question_that_takes_too_long_has_no_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = repository(tmp_path / "root", CODE)
    slow = write(tmp_path / "bin", {"git": "#!/bin/sh\nexec sleep 600\n"}) / "git"
    slow.chmod(0o755)
    monkeypatch.setenv("PATH", f"{slow.parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr("foveal.sources.workspace.repository.SECONDS", 0.05)
    assert lines(request_for(root)) == ["Branch main", "Recent commits:"]
