"""Match files against the `.gitignore` rules of a workspace, as git does.

Every `.gitignore` applies to its folder and everything below; the deepest that mentions a path decides, and
within one file the last rule that matches. Only files below the root count, and `.git/info/exclude`. A
folder whose rules cannot be read is closed: nothing in it is listed.

Patterns become regular expressions that do not backtrack between their stars, so matching takes at most the
length of the pattern times the length of the path (decision 12).
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property

from foveal.sources.workspace.safe_open import Unusable, read_file, version
from foveal.sources.workspace.values import Limits

IGNORE_FILE = ".gitignore"
_EXCLUDE = ".git/info/exclude"
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
_TOKEN = re.compile(
    r"""(?P<stars>\*+) | (?P<any>\?) | \\(?P<escaped>.) | (?P<letter>[^\[\\])
    | \[(?P<not>[!^]?)(?P<set>\]?(?:\[:[a-z]+:\]|\\.|[^\]\\])*)\]""",
    re.DOTALL | re.VERBOSE,
)
_SET_ITEM = re.compile(r"\[:(?P<name>[a-z]+):\]|(?P<low>\\.|[^\\])(?:-(?P<high>\\.|[^\\]))?", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rule:
    expression: str
    """Matches a file name, or a path relative to the folder of the `.gitignore`."""
    of_name: bool
    folders_only: bool
    ignores: bool
    """False for a rule with `!`, which takes back an earlier one."""


class Patterns:
    """The rules of one file; the last that matches decides."""

    def __init__(self, text: str) -> None:
        self._rules = tuple(rule for line in text.split("\n") if (rule := _rule(line)))
        self.weight = sum(len(rule.expression) if "*" in rule.expression else 2 for rule in self._rules)
        """Steps per character of a path, at most: a rule without a star ends at the first difference."""

    def verdict(self, path: str, *, folder: bool) -> bool | None:
        """True: ignored; False: not ignored, whatever files further up say; None: not mentioned.

        >>> patterns = Patterns("*.log\\n!keep.log\\n/build/")
        >>> [patterns.verdict(path, folder=False) for path in ("a/b.log", "a/keep.log", "a/b.py", "build")]
        [True, False, None, None]
        >>> patterns.verdict("build", folder=True)
        True
        """
        name = path.rpartition("/")[2]
        if not (self._any_name.match(name) or self._any_path.match(path)):
            return None
        for rule, expression in self._last_first:
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
    def _last_first(self) -> tuple[tuple[_Rule, re.Pattern[str]], ...]:
        return tuple((rule, re.compile(rule.expression)) for rule in reversed(self._rules))


def _any(expressions: Iterable[str]) -> re.Pattern[str]:
    # `(?!)` matches nothing, for a file without such rules.
    return re.compile("|".join(f"(?:{expression})" for expression in expressions) or "(?!)")


def _rule(line: str) -> _Rule | None:
    """Parse one line; None for a comment, and for what can match nothing."""
    pattern = _trim(line.removesuffix("\r").removeprefix("\ufeff"))
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


def _trim(line: str) -> str:
    """Remove the spaces at the end, except one that is escaped."""
    kept = line.rstrip(" ")
    escapes = len(kept) - len(kept.rstrip("\\"))
    return kept + " " if escapes % 2 and len(kept) < len(line) else kept


def _path(segments: list[str]) -> str | None:
    """The expression of a whole path; `**` is any number of folders. None where it can match nothing."""
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
    # The first position where a group matches is as good as any later one, so none is tried twice.
    middle = "".join(f"(?>(?:[^/]+/)*?{group}/)" for group in others[:-1] if group)
    return begin + middle + (rf"(?:[^/]+/)*?{others[-1]}\Z" if others[-1] else ".")


def _segment(glob: str) -> str | None:
    """The expression of a name with `*`, `?` and `[…]`; None where it can match nothing."""
    pieces, at = [""], 0
    while at < len(glob):
        token = _TOKEN.match(glob, at)
        if token is None:
            return None  # a set that never ends, or a backslash at the end
        at = token.end()
        if token["stars"]:
            pieces.append("")
        else:
            pieces[-1] += _one_character(token)
    if len(pieces) == 1:
        return pieces[0]
    middle = "".join(f"(?>[^/]*?{piece})" for piece in pieces[1:-1])
    return f"{pieces[0]}{middle}[^/]*{pieces[-1]}"


def _one_character(token: re.Match[str]) -> str:
    if token["any"]:
        return "[^/]"
    if token["set"] is None:
        return re.escape(token["escaped"] or token["letter"])
    items = "".join(_set_item(item) for item in _SET_ITEM.finditer(token["set"]))
    if token["not"]:
        return f"[^/{items}]"
    return f"(?!/)[{items}]" if items else "(?!)"


def _set_item(item: re.Match[str]) -> str:
    if item["name"]:
        return _CLASSES.get(item["name"], "")
    low = item["low"].removeprefix("\\") or "\\"
    high = (item["high"] or low).removeprefix("\\") or "\\"
    # Git reads a backward range as its first character alone.
    return re.escape(low) + (f"-{re.escape(high)}" if low < high else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """The rules that apply in one folder."""

    parts: tuple[tuple[int, Patterns], ...] = ()
    """Deepest first, each with the length of the path of the folder that has the patterns."""
    size: int = 0
    """Characters of all these files together."""
    weight: int = 0
    """Steps that comparing one character of a path takes at most."""
    closed: bool = False

    def ignore(self, path: str, *, folder: bool) -> bool:
        """Whether they ignore this file or folder itself; a folder above it may be ignored as well."""
        if self.closed:
            return True
        for start, patterns in self.parts:
            verdict = patterns.verdict(path[start:], folder=folder)
            if verdict is not None:
                return verdict
        return False


_CLOSED = Rules(closed=True)


class IgnoreFiles:
    """The `.gitignore` files of a workspace, each read again only when it changed."""

    def __init__(self, root: str, limits: Limits, refuse: Callable[[str, Unusable], None]) -> None:
        self._root, self._limits, self._refuse = root, limits, refuse
        self._known: dict[str, tuple[str, Rules, Rules]] = {}
        """By path: the version, the rules above it, and the rules with it."""

    def at_root(self) -> Rules:
        """What the repository itself excludes, before any `.gitignore`."""
        return self._extend(Rules(), _EXCLUDE, 0)

    def within(self, above: Rules, folder: str) -> Rules:
        """The rules in a folder that has a `.gitignore`, below one where `above` apply."""
        path = f"{folder}/{IGNORE_FILE}" if folder else IGNORE_FILE
        return self._extend(above, path, len(path) - len(IGNORE_FILE))

    def ignore(self, path: str) -> bool:
        """Whether a file, or a folder that it is in, is ignored."""
        rules = self.within(self.at_root(), "")
        at = path.find("/")
        while at >= 0:
            if rules.ignore(path[:at], folder=True):
                return True
            rules = self.within(rules, path[:at])
            at = path.find("/", at + 1)
        return rules.ignore(path, folder=False)

    def _extend(self, above: Rules, path: str, start: int) -> Rules:
        """The rules above, and those of the file at `path`."""
        try:
            info = os.lstat(os.path.join(self._root, path))
        except (FileNotFoundError, NotADirectoryError):
            return above
        if above.closed or not stat.S_ISREG(info.st_mode):  # git does not follow a link here either
            return above
        known = self._known.get(path)
        if known and known[0] == version(info) and known[1] == above:
            return known[2]
        rules = self._read(above, path, start)
        self._known[path] = (version(info), above, rules)
        return rules

    def _read(self, above: Rules, path: str, start: int) -> Rules:
        try:
            found = read_file(self._root, path, self._limits.ignore_bytes - above.size)
        except OSError as error:
            found = Unusable(why=f"cannot be read: {error.strerror}")
        if isinstance(found, Unusable):
            self._refuse(path, Unusable(why=f"{found.why}; its folder is passed over"))
            return _CLOSED
        text = found[0].decode(errors="replace")
        patterns = Patterns(text)
        return Rules(
            parts=((start, patterns), *above.parts),
            size=above.size + len(text),
            weight=above.weight + patterns.weight,
        )
