"""Run git on the repository of a workspace without letting anything in it run, and find what changed.

Git runs in an empty repository of our own that borrows the workspace's objects and index. It never sees a
configuration, attribute, hook, filter, alias or remote of the workspace, so nothing there can name a program
to run. Git does not read the working tree at all.

A file is unchanged if git's index has it with the same size and time; any other is compared by content.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha1, sha256
from itertools import accumulate, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Timer
from typing import Literal

from foveal.sources.workspace.safe_open import Unusable, decode, read_file, resolve_links
from foveal.sources.workspace.secrets import secret_text
from foveal.sources.workspace.values import FileInfo
from foveal.sources.workspace.workspace import Workspace

SECONDS = 5.0
"""Git is killed after this time."""
LONGEST = 32_000_000
"""Bytes of git's output; a longer one is discarded."""
SMALL = 8_000_000
"""Bytes of a file in `.git` that we read: `packed-refs` is the largest."""
LOOSE = 200_000
"""Files among the objects that are checked for links."""
COMPARED = 200
"""Files compared by content, the newest: in a copied workspace all of them seem touched."""
_ID = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_REF = re.compile(r"refs/heads/[^\s\x00-\x1f\\~^:?*\[]{1,250}")
_SHA256 = "[core]\n\trepositoryformatversion = 1\n[extensions]\n\tobjectFormat = sha256\n"
_STAGED = re.compile(
    rb"\d{6} ([0-9a-f]{40,64}) \d\t([^\0]+)\0\s*ctime: \d+:\d+\n\s*mtime: (\d+):(\d+)\n"
    rb"[^\n]*\n[^\n]*\n\s*size: (\d+)\s+flags: ([0-9a-f]+)\n"
)
_COMMITTED = re.compile(rb"(?:100(?:644|755) blob|160000 commit) ([0-9a-f]{40,64})\t([^\0]+)\0")
_SUBMODULE = b"160000"
_SPARSE = 0x4000_0000
"""The index flag of a file that a sparse checkout leaves out of the working tree."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Repository:
    """A repository that lies wholly inside the workspace."""

    program: str
    folder: Path
    head: str
    """The commit that is checked out."""
    branch: str
    """Empty where none is checked out."""
    shallow: str = ""
    """Commits whose parents are missing, one per line."""

    def run(self, *arguments: str) -> bytes | None:
        """Git's output; None where it fails, takes too long or prints too much."""
        with TemporaryDirectory(prefix="foveal-") as home:
            return self._run_in(Path(home), arguments)

    def diff(self, before: str, after: str) -> str:
        """The hunks between two texts, without the header; empty where git has none."""
        command = ["diff", "--no-index", "--no-color", "--no-ext-diff", "--no-textconv", "--text"]
        with TemporaryDirectory(prefix="foveal-") as home:
            for name, text in (("before", before), ("after", after)):
                (Path(home) / name).write_text(text, encoding="utf-8", errors="replace", newline="")
            found = self._run_in(Path(home), [*command, "before", "after"], codes=(0, 1)) or b""
        start = found.find(b"\n@@")
        return found[start + 1 :].decode("utf-8", "replace").rstrip("\n") if start >= 0 else ""

    def _run_in(self, home: Path, arguments: Sequence[str], *, codes: Sequence[int] = (0,)) -> bytes | None:
        """Run git in an empty repository whose HEAD is that of the workspace."""
        for name in ("objects", "refs"):
            (home / name).mkdir()
        (home / "HEAD").write_text(f"{self.head}\n", encoding="ascii")
        if len(self.head) > 40:
            (home / "config").write_text(_SHA256, encoding="ascii")
        if self.shallow:
            (home / "shallow").write_text(self.shallow, encoding="ascii")
        return _run([self.program, "--no-pager", *arguments], self._environment(home), home, codes)

    def _environment(self, home: Path) -> dict[str, str]:
        """Git's whole environment: nothing of ours is passed on."""
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
            # No program starts on Windows without it; it is not a user's setting.
            **{name: os.environ[name] for name in ("SYSTEMROOT",) if os.name == "nt" and name in os.environ},
        }


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


def open_repository(root: Path) -> Repository | str | None:
    """The repository of a workspace; None where there is none, or no git; else why it is not used."""
    folder = root / ".git"
    program = shutil.which("git")
    if program is None or Path(os.path.realpath(program)).is_relative_to(root) or not os.path.lexists(folder):
        return None
    if reason := _why_elsewhere(folder):
        return reason
    branch, head = _head(root)
    if not head:
        return None
    lines = _read_git_file(root, "shallow").split()
    return Repository(
        program=program,
        folder=folder,
        head=head,
        branch=branch,
        shallow="".join(f"{line}\n" for line in lines if _ID.fullmatch(line)),
    )


def _why_elsewhere(folder: Path) -> str:
    """Why a repository is not wholly in its folder; empty where it is."""
    if folder.is_symlink() or not folder.is_dir():
        return "is not a folder: the repository lies elsewhere"
    for name in ("commondir", "objects/info/alternates"):
        if os.path.lexists(folder / name):
            return f"has `{name}`: parts of the repository lie elsewhere"
    for name in ("objects", "index"):
        if (folder / name).is_symlink():
            return f"has `{name}` as a link: parts of the repository lie elsewhere"
    for checked, entry in enumerate(_entries_below(str(folder / "objects"))):
        if entry.is_symlink():
            return "has a link among its objects: parts of the repository lie elsewhere"
        if checked >= LOOSE:
            return f"has more than {LOOSE:,} files among its objects"
    return ""


def _entries_below(folder: str) -> Iterator[os.DirEntry[str]]:
    waiting = [folder]
    while waiting:
        with suppress(OSError), os.scandir(waiting.pop()) as entries:
            for entry in entries:
                yield entry
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)


def _head(root: Path) -> tuple[str, str]:
    """The branch and the commit that are checked out, each empty where there is none."""
    content = _read_git_file(root, "HEAD").strip()
    if _ID.fullmatch(content):
        return "", content
    ref = content.removeprefix("ref:").strip()
    if not _REF.fullmatch(ref) or ".." in ref:
        return "", ""
    branch = ref.removeprefix("refs/heads/")
    loose = _read_git_file(root, ref).strip()
    if _ID.fullmatch(loose):
        return branch, loose
    for line in _read_git_file(root, "packed-refs").splitlines():
        id, _, name = line.partition(" ")
        if name == ref and _ID.fullmatch(id):
            return branch, id
    return branch, ""


def _read_git_file(root: Path, name: str) -> str:
    """The text of a file in `.git`; empty where there is none that may be read."""
    try:
        found = read_file(str(root), f".git/{name}", SMALL)
    except OSError:
        return ""
    return "" if isinstance(found, Unusable) else found[0].decode("utf-8", "replace")


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One file that differs from the last commit."""

    path: str
    how: Literal["changed", "new", "deleted"]
    file: FileInfo | None
    """None for a deleted one."""
    blob: str = ""
    """The committed content; empty for a new file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Tracked:
    """What git knows of its files."""

    committed: Mapping[str, str]
    """Blobs by path."""
    staged: Mapping[str, tuple[str, int, int]]
    """Blob, nanoseconds since 1970 and bytes, by path."""
    sparse: frozenset[str]
    """Files that a sparse checkout leaves out of the working tree."""
    submodules: frozenset[str]
    """Folders that are repositories of their own."""
    written_at: int
    """When the index was written, in nanoseconds: a file touched no earlier may have changed unnoticed."""


def changes(repository: Repository, workspace: Workspace, files: Sequence[FileInfo]) -> tuple[Change, ...]:
    """The files that differ from the commit that is checked out, newest first, then the deleted ones."""
    try:
        tracked = _tracked(repository, _index_written_at(repository))
    except _GitFailedError:
        return ()
    touched = [file for file in files if not _untouched(file, tracked)]
    touched.sort(key=lambda file: (-file.touched_at, file.path))
    found = [change for file in touched[:COMPARED] if (change := _change(file, workspace, tracked))]
    return (*found, *islice(_deleted(workspace, files, tracked), COMPARED))


def hunks(change: Change, repository: Repository, workspace: Workspace) -> str:
    """What changed in a file, as a diff without its header; empty where it is new or git fails."""
    if not change.file or not change.blob:
        return ""

    def since(now: str) -> str:
        before = decode(_run_or_raise(repository, "cat-file", "blob", change.blob))
        # A file without a secret now may have had one before.
        return "" if not before or secret_text(before) else repository.diff(_plain(before), _plain(now))

    try:
        return workspace.derived(change.path, f"changes since {change.blob}", since) or ""
    except _GitFailedError:
        return ""


class _GitFailedError(Exception):
    """Git failed; raised so that no cache keeps the failure."""


def _run_or_raise(repository: Repository, *arguments: str) -> bytes:
    found = repository.run(*arguments)
    if found is None:
        raise _GitFailedError
    return found


def _plain(text: str) -> str:
    """The text without what git may have changed about line ends when it wrote the file."""
    return text.removeprefix("\ufeff").replace("\r\n", "\n")


def _index_written_at(repository: Repository) -> int:
    try:
        return os.lstat(repository.folder / "index").st_mtime_ns
    except OSError:
        return 0


@lru_cache(maxsize=8)
def _tracked(repository: Repository, written_at: int) -> _Tracked:
    """Read again when another commit is checked out or the index was written."""
    tree = _run_or_raise(repository, "ls-tree", "-r", "-z", "--full-tree", repository.head)
    committed = list(_COMMITTED.finditer(tree))
    staged = list(_STAGED.finditer(repository.run("ls-files", "--stage", "--debug", "-z") or b""))
    submodules = frozenset(_path(found[2]) for found in committed if found[0].startswith(_SUBMODULE))
    return _Tracked(
        committed={
            path: found[1].decode() for found in committed if (path := _path(found[2])) not in submodules
        },
        staged={
            _path(found[2]): (found[1].decode(), int(found[3]) * 10**9 + int(found[4]), int(found[5]))
            for found in staged
        },
        sparse=frozenset(_path(found[2]) for found in staged if int(found[6], 16) & _SPARSE),
        submodules=submodules,
        written_at=written_at,
    )


def _path(name: bytes) -> str:
    return name.decode("utf-8", "surrogateescape")


def _untouched(file: FileInfo, tracked: _Tracked) -> bool:
    staged = tracked.staged.get(file.path)
    if staged is None:
        return _in_submodule(file.path, tracked)
    blob, touched_at, size = staged
    same = size == file.size and abs(touched_at / 1e9 - file.touched_at) < 1e-6
    return same and touched_at < tracked.written_at and tracked.committed.get(file.path) == blob


def _in_submodule(path: str, tracked: _Tracked) -> bool:
    """Whether the file belongs to another repository."""
    folders = accumulate(path.split("/"), "{}/{}".format) if tracked.submodules else ()
    return not tracked.submodules.isdisjoint(folders)


def _change(file: FileInfo, workspace: Workspace, tracked: _Tracked) -> Change | None:
    blob = tracked.committed.get(file.path, "")
    text = workspace.text(file.path)
    if text is None or (blob and blob in _blobs(text, is_sha256=len(blob) > 40)):
        return None
    return Change(path=file.path, how="changed" if blob else "new", file=file, blob=blob)


def _blobs(text: str, *, is_sha256: bool) -> Iterator[str]:
    """The ids git could know a text by: as it is, and with its line ends as git stores them."""
    algorithm = sha256 if is_sha256 else sha1
    for form in dict.fromkeys((text, _plain(text))):
        body = form.encode("utf-8", "surrogatepass")
        yield algorithm(b"blob %d\0" % len(body) + body).hexdigest()


def _deleted(workspace: Workspace, files: Sequence[FileInfo], tracked: _Tracked) -> Iterator[Change]:
    existing = {file.path for file in files}
    for path, blob in tracked.committed.items():
        if path not in existing and path not in tracked.sparse and _is_gone(str(workspace.root), path):
            yield Change(path=path, how="deleted", file=None, blob=blob)


def _is_gone(root: str, path: str) -> bool:
    try:
        resolve_links(root, path)
    except (FileNotFoundError, NotADirectoryError):
        return True
    except (OSError, ValueError):
        return False
    return False
