"""Read files and list folders below a root, and nothing outside of it.

On every system but Windows, each folder on the way is opened relative to the one above it, without following
links: no other tree is reached, whatever is swapped meanwhile. On Windows the path is resolved again after
the file was opened and before it is read. A hard link cannot be distinguished from its file, so what a file
with several names contains is looked at before it is used.

A path that a person or a tool spelled is first made relative to the root by its characters alone, without
looking at the disk; `..` is applied before links are followed. No encoding is guessed.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from foveal.sources.workspace.values import Limits

OUTSIDE = "is outside the workspace"
UNPRINTABLE_NAME = "has a control character or bytes that are no text in its name"
# Controls, line breaks, direction overrides, undecodable bytes: a heading made of them could mislead.
_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_LONGEST_SHOWN = 200
_OPENS_RELATIVE = os.open in os.supports_dir_fd and os.scandir in os.supports_fd and hasattr(os, "O_NOFOLLOW")
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0)
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
# If a pipe or a terminal replaces the file after the check, opening it must neither block nor take it over.
_FILE = (
    os.O_RDONLY
    | _NO_LINK
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_NOCTTY", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)
_KINDS = {
    stat.S_IFREG: "",
    stat.S_IFDIR: "a folder",
    stat.S_IFLNK: "a link",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}
_JUNCTION = 0xA0000003
_MOST_LINKS = 40
_BLOCK = 1 << 18
_BYTE_ORDER_MARKS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Unusable:
    """Why a file of the workspace cannot be used."""

    why: str


def relative_path(path: str, roots: Sequence[str], limits: Limits) -> str | Unusable:
    """Make a path relative to the root; `roots` are absolute, normalized spellings of that one folder.

    >>> relative_path("./src//app.py", ["/work"], Limits())
    'src/app.py'
    >>> relative_path("/work/a/../b.py", ["/work"], Limits())
    'b.py'
    >>> relative_path("../work2/b.py", ["/work"], Limits())
    Unusable(why='is outside the workspace')
    """
    if len(path) > limits.path_length + max(map(len, roots)):
        return Unusable(why=too_long(path, limits))
    if is_unprintable(path):
        return Unusable(why=UNPRINTABLE_NAME)
    if os.name == "nt" and ":" in os.path.splitdrive(path)[1]:
        return Unusable(why="names a stream of a file")
    whole = os.path.normpath(os.path.join(roots[0], path))
    for root in roots:
        if (below := _below(root, whole)) is not None:
            return _within_limits(below, limits)
    return Unusable(why=OUTSIDE)


def _within_limits(path: str, limits: Limits) -> str | Unusable:
    if len(path) > limits.path_length:
        return Unusable(why=too_long(path, limits))
    if path.count("/") > limits.depth:
        return Unusable(why=f"is {path.count('/'):,} folders deep; at most {limits.depth:,} are looked into")
    return path


def _below(root: str, whole: str) -> str | None:
    """The part of a normalized path below the root, with `/`; None where it is not below."""
    if whole == root:
        return ""
    prefix = root if root.endswith(os.sep) else root + os.sep
    if not os.path.normcase(whole).startswith(os.path.normcase(prefix)):
        return None
    return whole[len(prefix) :].replace(os.sep, "/")


def too_long(path: str, limits: Limits) -> str:
    return f"has {len(path):,} characters; at most {limits.path_length:,} are looked up"


def is_unprintable(name: str) -> bool:
    """Whether a name has control characters, direction overrides or undecodable bytes in it."""
    return _UNPRINTABLE.search(name) is not None


def printable(path: str) -> str:
    r"""Escape what is unprintable in a path, and cut it to 200 characters.

    >>> printable("a\nb.py")
    'a\\nb.py'
    """
    safe = _UNPRINTABLE.sub(
        lambda found: found[0].encode("unicode_escape", "surrogatepass").decode("ascii"), path
    )
    return safe if len(safe) <= _LONGEST_SHOWN else safe[: _LONGEST_SHOWN - 1] + "…"


def is_link(info: os.stat_result) -> bool:
    """Whether it leads elsewhere: a symbolic link, or a Windows junction."""
    return stat.S_ISLNK(info.st_mode) or getattr(info, "st_reparse_tag", 0) == _JUNCTION


def version(info: os.stat_result) -> str:
    """Identify the content of a file by time, size and inode, without reading it."""
    return f"{info.st_mtime_ns:x}.{info.st_size:x}.{info.st_ino:x}.{info.st_ctime_ns:x}"


def special_kind(info: os.stat_result) -> str:
    """What it is where it is not a regular file, such as `a pipe`; empty for a regular file."""
    return _KINDS.get(stat.S_IFMT(info.st_mode), "no ordinary file")


def resolve_links(root: str, path: str) -> str | Unusable:
    """The path with its links followed, looking at nothing outside of `root`."""
    waiting, done, links = path.split("/")[::-1], list[str](), 0
    while waiting:
        name = waiting.pop()
        if name in ("", "."):
            continue
        if name == "..":
            if not done:
                return Unusable(why=f"is a link to what {OUTSIDE}")
            done.pop()
            continue
        here = os.path.join(root, *done, name)
        if not is_link(os.lstat(here)):
            done.append(name)
            continue
        links += 1
        if links > _MOST_LINKS:
            return Unusable(why=f"is a link that leads through more than {_MOST_LINKS} others")
        target = _link_target(root, os.readlink(here))
        if target is None:
            return Unusable(why=f"is a link to what {OUTSIDE}")
        done = [] if target.startswith("/") else done
        waiting += target.split("/")[::-1]
    return "/".join(done)


def _link_target(root: str, target: str) -> str | None:
    """A link's target, where a leading `/` means the root; None where it is outside of the root."""
    if not os.path.isabs(target) and not os.path.splitdrive(target)[0]:
        return target.replace(os.sep, "/")
    below = _below(root, os.path.normpath(target.removeprefix("\\\\?\\")))
    return None if below is None else f"/{below}"


def read_file(root: str, path: str, most: int) -> tuple[bytes, os.stat_result] | Unusable:
    """The bytes of a regular file of at most `most` bytes, and its state when it was opened."""
    with _open_file(root, path) as file:
        if isinstance(file, Unusable):
            return file
        info = os.fstat(file)
        if kind := special_kind(info):
            return Unusable(why=f"is {kind}")
        if info.st_size > most:
            return Unusable(why=too_large(info.st_size, most))
        content = _read(file, most + 1)
        if len(content) > most:
            return Unusable(
                why=f"does not end after {most:,} bytes, which is the most that is read of a file"
            )
        return content, info


def too_large(size: int, most: int) -> str:
    return f"has {size:,} bytes; at most {most:,} are read of a file"


def _read(file: int, most: int) -> bytes:
    blocks, left = [], most
    while left > 0 and (block := os.read(file, min(left, _BLOCK))):
        blocks.append(block)
        left -= len(block)
    return b"".join(blocks)


@contextmanager
def open_folder(root: str, path: str) -> Iterator[int | str]:
    """Open a folder below the root: what `os.scandir` takes, a descriptor or, on Windows, a path."""
    if not _OPENS_RELATIVE:
        yield os.path.join(root, path)
        return
    opened = os.open(root, _FOLDER)
    try:
        for name in path.split("/") if path else ():
            inner = os.open(name, _FOLDER | _NO_LINK, dir_fd=opened)
            os.close(opened)
            opened = inner
        yield opened
    finally:
        os.close(opened)


@contextmanager
def _open_file(root: str, path: str) -> Iterator[int | Unusable]:
    parent, _, name = path.rpartition("/")
    with open_folder(root, parent) as folder:
        whole, dir_fd = (name, folder) if isinstance(folder, int) else (os.path.join(folder, name), None)
        # Opening a device can have an effect, so it is not even opened.
        if kind := special_kind(os.stat(whole, dir_fd=dir_fd, follow_symlinks=False)):
            yield Unusable(why=f"is {kind}")
            return
        file = os.open(whole, _FILE, dir_fd=dir_fd)
        try:
            same = dir_fd is not None or _is_same_file(whole, file)
            yield file if same else Unusable(why="was exchanged meanwhile")
        finally:
            os.close(file)


def _is_same_file(whole: str, file: int) -> bool:
    """Whether the path leads, through no link, to the file that was opened."""
    real = os.path.realpath(whole)
    return os.path.normcase(real) == os.path.normcase(whole) and os.path.samestat(
        os.stat(real), os.fstat(file)
    )


def decode(content: bytes) -> str | None:
    r"""The text of UTF-8, or of UTF-16 with a byte order mark; None for anything else or with a zero byte.

    >>> decode(b"\xef\xbb\xbfcaf\xc3\xa9"), decode(b"\xff\xfeh\x00i\x00")
    ('café', 'hi')
    >>> decode(b"caf\xe9"), decode(b"a\x00b")
    (None, None)
    """
    marked = (each for each in _BYTE_ORDER_MARKS if content.startswith(each[0]))
    mark, encoding = next(marked, (b"", "utf-8"))
    try:
        text = content[len(mark) :].decode(encoding)
    except UnicodeDecodeError:
        return None
    return None if "\x00" in text else text
