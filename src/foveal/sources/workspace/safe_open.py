"""A root and a path below it in → its bytes or its entries, and nothing that lies elsewhere.

Where the system can (everywhere but on Windows), each folder on the way is opened from the one above it,
without following links: whatever is exchanged meanwhile, no other tree is reached. On Windows the path is
resolved again after the file was opened and before it is read. A hard link cannot be told from its file.

A path as people and tools spell it in → the same below the root with `/`, or why it cannot be one.

Decided by the letters alone: nothing here looks at a disk. A `..` is taken before links are followed.

The bytes of a file in → its text, or None where it is none. No encoding is guessed.
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
# Controls, line breaks, overrides of direction, bytes that are no text: a heading made of them could mislead.
_ODD = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_LONGEST_SHOWN = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Unusable:
    """Why a spelling names no file of the workspace."""

    why: str


def below(path: str, roots: Sequence[str], limits: Limits) -> str | Unusable:
    """The path relative to the first of `roots`, which are spellings of one folder, absolute and normalised.

    >>> below("./src//app.py", ["/work"], Limits())
    'src/app.py'
    >>> below("/work/a/../b.py", ["/work"], Limits())
    'b.py'
    >>> below("../work2/b.py", ["/work"], Limits())
    Unusable(why='is outside the workspace')
    """
    if len(path) > limits.path_length + max(map(len, roots)):
        return Unusable(why=f"has {len(path):,} characters; at most {limits.path_length:,} are looked up")
    if _ODD.search(path):
        return Unusable(why="has a control character or bytes that are no text in its name")
    if os.name == "nt" and ":" in os.path.splitdrive(path)[1]:
        return Unusable(why="names a stream of a file")
    whole = os.path.normpath(os.path.join(roots[0], path))
    for root in roots:
        if whole == root:
            return ""
        prefix = root if root.endswith(os.sep) else root + os.sep
        if os.path.normcase(whole).startswith(os.path.normcase(prefix)):
            return _checked(whole[len(prefix) :].replace(os.sep, "/"), limits)
    return Unusable(why=OUTSIDE)


def _checked(path: str, limits: Limits) -> str | Unusable:
    if len(path) > limits.path_length:
        return Unusable(why=f"has {len(path):,} characters; at most {limits.path_length:,} are looked up")
    if path.count("/") > limits.depth:
        return Unusable(why=f"is {path.count('/'):,} folders deep; at most {limits.depth:,} are looked into")
    return path


def odd(name: str) -> bool:
    """Whether a name has something in it that is no text."""
    return _ODD.search(name) is not None


def shown(path: str) -> str:
    r"""A path that can be shown: what is no text in it escaped, and not too long.

    >>> shown("a\nb.py")
    'a\\nb.py'
    """
    safe = _ODD.sub(lambda found: found[0].encode("unicode_escape", "surrogatepass").decode("ascii"), path)
    return safe if len(safe) <= _LONGEST_SHOWN else safe[: _LONGEST_SHOWN - 1] + "…"


STEPWISE = os.open in os.supports_dir_fd and os.scandir in os.supports_fd and hasattr(os, "O_NOFOLLOW")
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0)
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
# A pipe would be waited for and a terminal taken over, were one put there after the look.
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


def is_link(info: os.stat_result) -> bool:
    """Whether it leads elsewhere: a symbolic link, or a junction of Windows."""
    return stat.S_ISLNK(info.st_mode) or getattr(info, "st_reparse_tag", 0) == _JUNCTION


def version(info: os.stat_result) -> str:
    """Changes with the file: when it was written to, how long it is, which one it is."""
    return f"{info.st_mtime_ns:x}.{info.st_size:x}.{info.st_ino:x}.{info.st_ctime_ns:x}"


def kind(info: os.stat_result) -> str:
    """What it is, in a word or two, where it is no ordinary file; else nothing."""
    return _KINDS.get(stat.S_IFMT(info.st_mode), "no ordinary file")


def resolved(root: str, path: str) -> str | Unusable:
    """Where a path leads when its links are followed, without a look at anything outside `root`."""
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
        target = _target(root, os.readlink(here))
        if target is None:
            return Unusable(why=f"is a link to what {OUTSIDE}")
        done = [] if target.startswith("/") else done
        waiting += target.split("/")[::-1]
    return "/".join(done)


def _target(root: str, target: str) -> str | None:
    """What a link says, `/` at its beginning being the root; None: it leaves the root."""
    if not os.path.isabs(target) and not os.path.splitdrive(target)[0]:
        return target.replace(os.sep, "/")
    plain = os.path.normpath(target.removeprefix("\\\\?\\"))
    prefix = root if root.endswith(os.sep) else root + os.sep
    if plain == root:
        return "/"
    if not os.path.normcase(plain).startswith(os.path.normcase(prefix)):
        return None
    return "/" + plain[len(prefix) :].replace(os.sep, "/")


def read(root: str, path: str, most: int) -> tuple[bytes, os.stat_result] | Unusable:
    """The bytes of an ordinary file of at most `most`, and what it was as it was opened."""
    with _opened(root, path) as file:
        if isinstance(file, Unusable):
            return file
        info = os.fstat(file)
        if what := kind(info):
            return Unusable(why=f"is {what}")
        if info.st_size > most:
            return too_large(info.st_size, most)
        content = _content(file, most + 1)
        if len(content) > most:
            return Unusable(
                why=f"does not end after {most:,} bytes, which is the most that is read of a file"
            )
        return content, info


def too_large(size: int, most: int) -> Unusable:
    return Unusable(why=f"has {size:,} bytes; at most {most:,} are read of a file")


def _content(file: int, most: int) -> bytes:
    blocks, left = [], most
    while left > 0 and (block := os.read(file, min(left, _BLOCK))):
        blocks.append(block)
        left -= len(block)
    return b"".join(blocks)


@contextmanager
def folder(root: str, path: str) -> Iterator[int | str]:
    """What `os.scandir` takes to list a folder below the root."""
    if not STEPWISE:
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
def _opened(root: str, path: str) -> Iterator[int | Unusable]:
    above, _, name = path.rpartition("/")
    with folder(root, above) as place:
        whole, held = (name, place) if isinstance(place, int) else (os.path.join(place, name), None)
        # Opening a device can do something; so it is not even opened.
        before = os.stat(whole, dir_fd=held, follow_symlinks=False)
        if what := kind(before):
            yield Unusable(why=f"is {what}")
            return
        file = os.open(whole, _FILE, dir_fd=held)
        try:
            yield file if held is not None or _still(whole, file) else Unusable(why="was exchanged meanwhile")
        finally:
            os.close(file)


def _still(whole: str, file: int) -> bool:
    """Whether the path leads, through no link, to the file that was opened."""
    real = os.path.realpath(whole)
    return os.path.normcase(real) == os.path.normcase(whole) and os.path.samestat(
        os.stat(real), os.fstat(file)
    )


_MARKS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"))


def decoded(content: bytes) -> str | None:
    r"""UTF-8, or UTF-16 that says so at its beginning; a text has no zero in it.

    >>> decoded(b"\xef\xbb\xbfcaf\xc3\xa9"), decoded(b"\xff\xfeh\x00i\x00")
    ('café', 'hi')
    >>> decoded(b"caf\xe9"), decoded(b"a\x00b")
    (None, None)
    """
    mark, encoding = next((each for each in _MARKS if content.startswith(each[0])), (b"", "utf-8"))
    try:
        text = content[len(mark) :].decode(encoding)
    except UnicodeDecodeError:
        return None
    return None if "\x00" in text else text
