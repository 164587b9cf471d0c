"""A path as people and tools spell it in → the same below the root with `/`, or why it cannot be one.

Decided by the letters alone: nothing here looks at a disk. A `..` is taken before links are followed.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass

from foveal.sources.seen import Limits

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
