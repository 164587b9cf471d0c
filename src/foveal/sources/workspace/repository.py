"""A workspace in → its git repository, asked questions that let nothing of it run.

Git is run beside the repository, not in it: in an empty repository of ours that borrows the objects and the
index. So no configuration, attribute, hook, filter, alias or remote of the workspace is ever looked at, and
there is nothing that could name a program. The working tree is not read by git at all.

A repository and the files of its workspace in → what changed since the last commit, the newest first.

A file that git's index knows with the same size and time is as it was; any other is compared by its content.
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

from foveal.sources.workspace.safe_open import Unusable, decoded, read, resolved
from foveal.sources.workspace.secrets import secret_text
from foveal.sources.workspace.values import FileInfo
from foveal.sources.workspace.workspace import Workspace

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


COMPARED = 200
"""Files whose content is compared, the newest: in a copied workspace all of them seem touched."""
_STAGED = re.compile(
    rb"\d{6} ([0-9a-f]{40,64}) \d\t([^\0]+)\0\s*ctime: \d+:\d+\n\s*mtime: (\d+):(\d+)\n"
    rb"[^\n]*\n[^\n]*\n\s*size: (\d+)\s+flags: ([0-9a-f]+)\n"
)
_COMMITTED = re.compile(rb"(?:100(?:644|755) blob|160000 commit) ([0-9a-f]{40,64})\t([^\0]+)\0")
_MODULE = b"160000"
_SPARSE = 0x4000_0000
"""The flag of a file that git leaves out of the working tree."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One file that is not as it was committed."""

    path: str
    how: Literal["changed", "new", "deleted"]
    seen: FileInfo | None
    """None for a deleted one."""
    blob: str = ""
    """What was committed; empty for a new one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Tracked:
    """What git knows of its files."""

    committed: Mapping[str, str]
    """Blobs by path."""
    staged: Mapping[str, tuple[str, int, int]]
    """Blob, nanoseconds since 1970 and bytes, by path."""
    sparse: frozenset[str]
    """What is left out of the working tree on purpose."""
    modules: frozenset[str]
    """Folders that are repositories of their own."""
    written_at: int
    """When the index was, in nanoseconds: what was touched no earlier may have changed unseen."""


def changes(repository: Repository, workspace: Workspace, files: Sequence[FileInfo]) -> tuple[Change, ...]:
    """The files that differ from the commit that is checked out."""
    try:
        tracked = _tracked(repository, _written_at(repository))
    except _NoAnswerError:
        return ()
    touched = [seen for seen in files if not _untouched(seen, tracked)]
    touched.sort(key=lambda seen: (-seen.touched_at, seen.path))
    found = [change for seen in touched[:COMPARED] if (change := _change(seen, workspace, tracked))]
    return (*found, *islice(_deleted(workspace, files, tracked), COMPARED))


def hunks(change: Change, repository: Repository, workspace: Workspace) -> str:
    """What changed in a file, as a diff without its header; empty where it is new or cannot be told."""
    if not change.seen or not change.blob:
        return ""

    def since(now: str) -> str:
        before = decoded(_answer(repository, "cat-file", "blob", change.blob))
        # What is no secret any more may have been one.
        return "" if not before or secret_text(before) else repository.difference(_plain(before), _plain(now))

    try:
        return workspace.derived(change.path, f"changes since {change.blob}", since) or ""
    except _NoAnswerError:
        return ""


class _NoAnswerError(Exception):
    """Git did not answer: nothing that is worth remembering."""


def _answer(repository: Repository, *arguments: str) -> bytes:
    found = repository.ask(*arguments)
    if found is None:
        raise _NoAnswerError
    return found


def _plain(text: str) -> str:
    """Without what git may have changed about line ends when it wrote the file."""
    return text.removeprefix("\ufeff").replace("\r\n", "\n")


def _written_at(repository: Repository) -> int:
    try:
        return os.lstat(repository.folder / "index").st_mtime_ns
    except OSError:
        return 0


@lru_cache(maxsize=8)
def _tracked(repository: Repository, written_at: int) -> _Tracked:
    """Asked again when another commit is checked out or the index was written."""
    tree = _answer(repository, "ls-tree", "-r", "-z", "--full-tree", repository.head)
    committed = list(_COMMITTED.finditer(tree))
    staged = list(_STAGED.finditer(repository.ask("ls-files", "--stage", "--debug", "-z") or b""))
    modules = frozenset(_name(found[2]) for found in committed if found[0].startswith(_MODULE))
    return _Tracked(
        committed={
            name: found[1].decode() for found in committed if (name := _name(found[2])) not in modules
        },
        staged={
            _name(found[2]): (found[1].decode(), int(found[3]) * 10**9 + int(found[4]), int(found[5]))
            for found in staged
        },
        sparse=frozenset(_name(found[2]) for found in staged if int(found[6], 16) & _SPARSE),
        modules=modules,
        written_at=written_at,
    )


def _name(path: bytes) -> str:
    return path.decode("utf-8", "surrogateescape")


def _untouched(seen: FileInfo, tracked: _Tracked) -> bool:
    staged = tracked.staged.get(seen.path)
    if staged is None:
        return _in_module(seen.path, tracked)
    blob, touched_at, size = staged
    same = size == seen.size and abs(touched_at / 1e9 - seen.touched_at) < 1e-6
    return same and touched_at < tracked.written_at and tracked.committed.get(seen.path) == blob


def _in_module(path: str, tracked: _Tracked) -> bool:
    """Whether the file is another repository's, which says itself what changed."""
    folders = accumulate(path.split("/"), "{}/{}".format) if tracked.modules else ()
    return not tracked.modules.isdisjoint(folders)


def _change(seen: FileInfo, workspace: Workspace, tracked: _Tracked) -> Change | None:
    blob = tracked.committed.get(seen.path, "")
    text = workspace.text(seen.path)
    if text is None or (blob and blob in _blobs(text, wide=len(blob) > 40)):
        return None
    return Change(path=seen.path, how="changed" if blob else "new", seen=seen, blob=blob)


def _blobs(text: str, *, wide: bool) -> Iterator[str]:
    """The ids git could know a text by: as it is, and with its line ends as git stores them."""
    for form in dict.fromkeys((text, _plain(text))):
        body = form.encode("utf-8", "surrogatepass")
        made = sha256 if wide else sha1
        yield made(b"blob %d\0" % len(body) + body).hexdigest()


def _deleted(workspace: Workspace, files: Sequence[FileInfo], tracked: _Tracked) -> Iterator[Change]:
    there = {seen.path for seen in files}
    for path, blob in tracked.committed.items():
        if path not in there and path not in tracked.sparse and _gone(str(workspace.root), path):
            yield Change(path=path, how="deleted", seen=None, blob=blob)


def _gone(root: str, path: str) -> bool:
    try:
        resolved(root, path)
    except (FileNotFoundError, NotADirectoryError):
        return True
    except (OSError, ValueError):
        return False
    return False
