"""A repository and the files of its workspace in → what changed since the last commit, the newest first.

A file that git's index knows with the same size and time is as it was; any other is compared by its content.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha1, sha256
from itertools import accumulate, islice
from typing import Literal

from foveal.sources.decoding import decoded
from foveal.sources.opening import resolved
from foveal.sources.repository import Repository
from foveal.sources.secret import secret_text
from foveal.sources.seen import Seen
from foveal.sources.workspace import Workspace

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
    seen: Seen | None
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


def changes(repository: Repository, workspace: Workspace, files: Sequence[Seen]) -> tuple[Change, ...]:
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


def _untouched(seen: Seen, tracked: _Tracked) -> bool:
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


def _change(seen: Seen, workspace: Workspace, tracked: _Tracked) -> Change | None:
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


def _deleted(workspace: Workspace, files: Sequence[Seen], tracked: _Tracked) -> Iterator[Change]:
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
