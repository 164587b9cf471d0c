"""The text of a `.gitignore` in → what it says of a file or folder: ignored, not ignored, or nothing.

The rules are git's. Patterns become regular expressions without backtracking between their stars, so that
no pattern takes longer than its length times the length of the name.

A workspace's `.gitignore` files in → which of its files and folders they name.

Each applies to its folder and what is below; the deepest that says something decides. Only those below the
root count, and `.git/info/exclude`. A folder whose rules cannot be read is closed: nothing in it is listed.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property

from foveal.sources.workspace.safe_open import Unusable, read, version
from foveal.sources.workspace.values import Limits

_LONGEST = 500
_CLASSES = {
    "alpha": "a-zA-Z",
    "digit": "0-9",
    "alnum": "a-zA-Z0-9",
    "upper": "A-Z",
    "lower": "a-z",
    "xdigit": "0-9A-Fa-f",
    "space": r"\s",
    "punct": r"!-/:-@\[-`{-~",
}
_ITEM = re.compile(r"\[:(?P<name>[a-z]+):\]|(?P<low>\\.|[^\\])(?:-(?P<high>\\.|[^\\]))?", re.DOTALL)
_SET = re.compile(r"(?P<not>[!^]?)(?P<items>\]?(?:\[:[a-z]+:\]|\\.|[^\]\\])*)\]", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rule:
    expression: str
    """Of a name, or of a path below the folder of the `.gitignore`."""
    of_name: bool
    folders_only: bool
    ignores: bool
    """False: one that takes back what an earlier one said."""


class Patterns:
    """The rules of one file, the last that matches decides."""

    def __init__(self, text: str) -> None:
        self._rules = tuple(rule for line in text.split("\n") if (rule := _rule(line)))
        self.weight = sum(len(rule.expression) if "*" in rule.expression else 2 for rule in self._rules)
        """Steps for each letter of a path, at most: what has no star ends at the first difference."""

    def verdict(self, path: str, *, folder: bool) -> bool | None:
        """True: ignored; False: not, whatever was said further up; None: nothing is said here.

        >>> patterns = Patterns("*.log\\n!keep.log\\n/build/")
        >>> [patterns.verdict(path, folder=False) for path in ("a/b.log", "a/keep.log", "a/b.py", "build")]
        [True, False, None, None]
        >>> patterns.verdict("build", folder=True)
        True
        """
        name = path.rpartition("/")[2]
        if not (self._any_name.match(name) or self._any_path.match(path)):
            return None
        for rule, expression in self._newest_first:
            if (folder or not rule.folders_only) and expression.match(name if rule.of_name else path):
                return rule.ignores
        return None

    @cached_property
    def _any_name(self) -> re.Pattern[str]:
        return _any(rule.expression for rule in self._rules if rule.of_name)

    @cached_property
    def _any_path(self) -> re.Pattern[str]:
        return _any(rule.expression for rule in self._rules if not rule.of_name)

    @cached_property
    def _newest_first(self) -> tuple[tuple[_Rule, re.Pattern[str]], ...]:
        return tuple((rule, re.compile(rule.expression)) for rule in reversed(self._rules))


def _any(expressions: Iterable[str]) -> re.Pattern[str]:
    # `(?!)` matches nothing: the answer of a file without such rules.
    return re.compile("|".join(f"(?:{expression})" for expression in expressions) or "(?!)")


def _rule(line: str) -> _Rule | None:
    """One line as a rule; None for a comment, and for what git takes for nothing."""
    pattern = _trimmed(line.removesuffix("\r").removeprefix("\ufeff"))
    if pattern.startswith("#") or len(pattern) > _LONGEST:
        return None
    ignores = not pattern.startswith("!")
    pattern = pattern if ignores else pattern[1:]
    folders_only = pattern.endswith("/")
    pattern = pattern.removesuffix("/")
    of_name = "/" not in pattern
    expression = _segment(pattern) if of_name else _path(pattern.removeprefix("/").split("/"))
    if not pattern or expression is None:
        return None
    ending = r"\Z" if of_name else ""
    return _Rule(expression=expression + ending, of_name=of_name, folders_only=folders_only, ignores=ignores)


def _trimmed(line: str) -> str:
    """Without the spaces at the end, unless the last of them is escaped."""
    kept = line.rstrip(" ")
    escapes = len(kept) - len(kept.rstrip("\\"))
    return kept + " " if escapes % 2 and len(kept) < len(line) else kept


def _path(segments: list[str]) -> str | None:
    """Segments, `**` for any number of folders → an expression of a whole path."""
    groups: list[list[str]] = [[]]
    for segment in segments:
        if len(segment) > 1 and not segment.strip("*"):
            groups.append([])
        elif not (expression := _segment(segment)):
            return None  # among them an empty one: no path has two slashes in a row
        else:
            groups[-1].append(expression)
    first, *others = ("/".join(group) for group in groups)
    if not others:
        return first + r"\Z"
    begin = first and first + "/"
    # The first place where a group fits is as good as any later one: nothing is tried twice.
    middle = "".join(f"(?>(?:[^/]+/)*?{group}/)" for group in others[:-1] if group)
    return begin + middle + (rf"(?:[^/]+/)*?{others[-1]}\Z" if others[-1] else ".")


def _segment(glob: str) -> str | None:
    """A name with `*`, `?` and `[…]` → an expression; None where it can match nothing."""
    pieces, at = [""], 0
    while at < len(glob):
        letter = glob[at]
        at += 1
        if letter == "*":
            pieces += [""] if glob[at - 2 : at - 1] != "*" or at < 2 else []
        elif letter == "?":
            pieces[-1] += "[^/]"
        elif letter == "[":
            found = _bracket(glob, at)
            if found is None:
                return None
            pieces[-1] += found[0]
            at = found[1]
        else:
            if letter == "\\":
                if at == len(glob):
                    return None
                letter, at = glob[at], at + 1
            pieces[-1] += re.escape(letter)
    if len(pieces) == 1:
        return pieces[0]
    middle = "".join(f"(?>[^/]*?{piece})" for piece in pieces[1:-1])
    return f"{pieces[0]}{middle}[^/]*{pieces[-1]}"


def _bracket(glob: str, at: int) -> tuple[str, int] | None:
    """The set of letters that begins after `[`, and where the pattern goes on; None if it never ends."""
    found = _SET.match(glob, at)
    if found is None:
        return None
    items = "".join(_item(item) for item in _ITEM.finditer(found["items"]))
    if found["not"]:
        return f"[^/{items}]", found.end()
    return (f"(?!/)[{items}]" if items else "(?!)"), found.end()


def _item(item: re.Match[str]) -> str:
    if item["name"]:
        return _CLASSES.get(item["name"], "")
    low = item["low"].removeprefix("\\") or "\\"
    high = (item["high"] or low).removeprefix("\\") or "\\"
    # A range that runs backwards still has its first letter.
    return re.escape(low) + (f"-{re.escape(high)}" if low < high else "")


IGNORE_FILE = ".gitignore"
_EXCLUDE = ".git/info/exclude"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What holds in one folder."""

    parts: tuple[tuple[int, Patterns], ...] = ()
    """Deepest first, each with how much of a path stands before what its patterns are about."""
    size: int = 0
    """Characters of all these files together."""
    weight: int = 0
    """Steps that comparing one letter of a path with them takes at most."""
    closed: bool = False

    def ignore(self, path: str, *, folder: bool) -> bool:
        """Whether they name the file or the folder itself; a folder above it may be named as well."""
        if self.closed:
            return True
        for above, patterns in self.parts:
            verdict = patterns.verdict(path[above:], folder=folder)
            if verdict is not None:
                return verdict
        return False


_CLOSED = Rules(closed=True)


class Ignoring:
    """The rules of every folder, each file of them read again only when it changed."""

    def __init__(self, root: str, limits: Limits, tell: Callable[[str, Unusable], None]) -> None:
        self._root, self._limits, self._tell = root, limits, tell
        self._read: dict[str, tuple[str, Rules, Rules]] = {}
        """By path: the version, the rules above it, and the rules with it."""

    def at_root(self) -> Rules:
        """What holds before any `.gitignore`: what the repository itself leaves out."""
        return self._with(Rules(), _EXCLUDE, 0)

    def within(self, above: Rules, folder: str) -> Rules:
        """What holds in a folder that has a `.gitignore`, below one where `above` holds."""
        path = f"{folder}/{IGNORE_FILE}" if folder else IGNORE_FILE
        return self._with(above, path, len(path) - len(IGNORE_FILE))

    def name(self, path: str) -> bool:
        """Whether a file, or a folder it is in, is ignored."""
        rules = self.within(self.at_root(), "")
        at = path.find("/")
        while at >= 0:
            if rules.ignore(path[:at], folder=True):
                return True
            rules = self.within(rules, path[:at])
            at = path.find("/", at + 1)
        return rules.ignore(path, folder=False)

    def _with(self, above: Rules, path: str, start: int) -> Rules:
        try:
            info = os.lstat(os.path.join(self._root, path))
        except (FileNotFoundError, NotADirectoryError):
            return above
        if above.closed or not stat.S_ISREG(info.st_mode):  # git follows no link here either
            return above
        known = self._read.get(path)
        if known and known[0] == version(info) and known[1] == above:
            return known[2]
        rules = self._made(above, path, start)
        self._read[path] = (version(info), above, rules)
        return rules

    def _made(self, above: Rules, path: str, start: int) -> Rules:
        try:
            found = read(self._root, path, self._limits.ignore_bytes - above.size)
        except OSError as fault:
            found = Unusable(why=f"cannot be read: {fault.strerror}")
        if isinstance(found, Unusable):
            self._tell(path, Unusable(why=f"{found.why}; its folder is passed over"))
            return _CLOSED
        text = found[0].decode(errors="replace")
        patterns = Patterns(text)
        return Rules(
            parts=((start, patterns), *above.parts),
            size=above.size + len(text),
            weight=above.weight + patterns.weight,
        )
