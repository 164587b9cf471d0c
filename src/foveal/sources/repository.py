"""A workspace in → its git repository, asked questions that let nothing of it run.

Git is run beside the repository, not in it: in an empty repository of ours that borrows the objects and the
index. So no configuration, attribute, hook, filter, alias or remote of the workspace is ever looked at, and
there is nothing that could name a program. The working tree is not read by git at all.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Timer

from foveal.sources.opening import read
from foveal.sources.spelling import Unusable

SECONDS = 5.0
"""A question that takes longer has no answer."""
LONGEST = 32_000_000
"""Bytes of an answer."""
SMALL = 8_000_000
"""Bytes of a file of git's own that we read: `packed-refs` is the largest."""
LOOSE = 200_000
"""Files among the objects that are looked at for links."""
_ID = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_REF = re.compile(r"refs/heads/[^\s\x00-\x1f\\~^:?*\[]{1,250}")
_SHA256 = "[core]\n\trepositoryformatversion = 1\n[extensions]\n\tobjectFormat = sha256\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Repository:
    """A repository that lies wholly inside the workspace."""

    program: str
    folder: Path
    head: str
    """The commit that is checked out."""
    branch: str
    """Empty where none is."""
    shallow: str = ""
    """Commits whose parents are not there, one a line."""

    def ask(self, *arguments: str, codes: Sequence[int] = (0,)) -> bytes | None:
        """What git answers; None where it cannot, takes too long or says too much."""
        with TemporaryDirectory(prefix="foveal-") as place:
            home = Path(place)
            self._furnish(home)
            return _run([self.program, "--no-pager", *arguments], self._environment(home), home, codes)

    def difference(self, before: str, after: str) -> str:
        """The hunks between two texts, without a header; empty where git has none."""
        with TemporaryDirectory(prefix="foveal-") as place:
            home = Path(place)
            self._furnish(home)
            (home / "before").write_text(before, encoding="utf-8", errors="replace", newline="")
            (home / "after").write_text(after, encoding="utf-8", errors="replace", newline="")
            command = ["diff", "--no-index", "--no-color", "--no-ext-diff", "--no-textconv", "--text"]
            command = [self.program, "--no-pager", *command, "before", "after"]
            found = _run(command, self._environment(home), home, (0, 1)) or b""
        start = found.find(b"\n@@")
        return found[start + 1 :].decode("utf-8", "replace").rstrip("\n") if start >= 0 else ""

    def _furnish(self, home: Path) -> None:
        """An empty repository whose HEAD is that of the workspace."""
        for name in ("objects", "refs"):
            (home / name).mkdir()
        (home / "HEAD").write_text(f"{self.head}\n", encoding="ascii")
        if len(self.head) > 40:
            (home / "config").write_text(_SHA256, encoding="ascii")
        if self.shallow:
            (home / "shallow").write_text(self.shallow, encoding="ascii")

    def _environment(self, home: Path) -> dict[str, str]:
        """All that git is told: nothing of ours is handed on."""
        return {
            "GIT_DIR": str(home),
            "GIT_OBJECT_DIRECTORY": str(self.folder / "objects"),
            "GIT_INDEX_FILE": str(self.folder / "index"),
            "GIT_CEILING_DIRECTORIES": str(home.parent),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_ATTR_NOSYSTEM": "1",
            "GIT_OPTIONAL_LOCKS": "0",
            "GIT_NO_REPLACE_OBJECTS": "1",
            "GIT_NO_LAZY_FETCH": "1",
            "GIT_ALLOW_PROTOCOL": "none",
            "GIT_TERMINAL_PROMPT": "0",
            "HOME": str(home),
            "LC_ALL": "C",
            # Without it no program starts on Windows; it is no setting of anybody's.
            **{name: os.environ[name] for name in ("SYSTEMROOT",) if os.name == "nt" and name in os.environ},
        }


def repository(root: Path) -> Repository | str | None:
    """The repository of a workspace; None where there is none, or no git; else why it is not looked into."""
    folder = root / ".git"
    program = shutil.which("git")
    if program is None or Path(os.path.realpath(program)).is_relative_to(root) or not os.path.lexists(folder):
        return None
    if reason := _elsewhere(folder):
        return reason
    branch, head = _head(root)
    if not head:
        return None
    lines = _small(root, "shallow").split()
    return Repository(
        program=program,
        folder=folder,
        head=head,
        branch=branch,
        shallow="".join(f"{line}\n" for line in lines if _ID.fullmatch(line)),
    )


def _elsewhere(folder: Path) -> str:
    """Why a repository is not wholly in its folder; empty where it is."""
    if folder.is_symlink() or not folder.is_dir():
        return "is not a folder: the repository lies elsewhere"
    for name in ("commondir", "objects/info/alternates"):
        if os.path.lexists(folder / name):
            return f"has `{name}`: parts of the repository lie elsewhere"
    for name in ("objects", "index"):
        if (folder / name).is_symlink():
            return f"has `{name}` as a link: parts of the repository lie elsewhere"
    for looked_at, entry in enumerate(_below(str(folder / "objects"))):
        if entry.is_symlink():
            return "has a link among its objects: parts of the repository lie elsewhere"
        if looked_at >= LOOSE:
            return f"has more than {LOOSE:,} files among its objects"
    return ""


def _below(folder: str) -> Iterator[os.DirEntry[str]]:
    waiting = [folder]
    while waiting:
        with suppress(OSError), os.scandir(waiting.pop()) as entries:
            for entry in entries:
                yield entry
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)


def _head(root: Path) -> tuple[str, str]:
    """The branch and the commit that are checked out, each empty where there is none."""
    said = _small(root, "HEAD").strip()
    if _ID.fullmatch(said):
        return "", said
    ref = said.removeprefix("ref:").strip()
    if not _REF.fullmatch(ref) or ".." in ref:
        return "", ""
    branch = ref.removeprefix("refs/heads/")
    own = _small(root, ref).strip()
    if _ID.fullmatch(own):
        return branch, own
    for line in _small(root, "packed-refs").splitlines():
        id, _, name = line.partition(" ")
        if name == ref and _ID.fullmatch(id):
            return branch, id
    return branch, ""


def _small(root: Path, name: str) -> str:
    """The text of a file of git's; empty where there is none that may be read."""
    try:
        found = read(str(root), f".git/{name}", SMALL)
    except OSError:
        return ""
    return "" if isinstance(found, Unusable) else found[0].decode("utf-8", "replace")


def _run(
    command: Sequence[str], environment: dict[str, str], home: Path, codes: Sequence[int]
) -> bytes | None:
    try:
        process = subprocess.Popen(  # noqa: S603 — a program found on the path, arguments of ours, no shell
            command,
            cwd=home,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
    except OSError:
        return None
    timer = Timer(SECONDS, process.kill)
    timer.start()
    with process:
        assert process.stdout is not None
        try:
            found = process.stdout.read(LONGEST + 1)
            if len(found) > LONGEST:
                process.kill()
        finally:
            timer.cancel()
    return found if process.returncode in codes and len(found) <= LONGEST else None
