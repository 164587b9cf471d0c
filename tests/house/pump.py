"""Make texts that are hard for a regular expression from its own parse tree, and time it on them.

A text is a run of something that a repetition of the pattern takes, after something that leads to it and
before something that makes the match fail.
"""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from re import _constants as op  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from time import process_time
from typing import Any

AnyPattern = re.Pattern[str] | re.Pattern[bytes]
Node = tuple[Any, Any]

SIZE = 16_000
"""Characters of the first run: long enough to tell a square from a line, short for thousands of runs."""
SLOW = 300e-9
"""Seconds for a character from which a pattern is looked at again: several times what most take."""
GROWTH = 9
"""How much four times the text may cost: 4 is linear, 16 is a square."""
CALM = 0.02
"""Seconds below which no growth is measured."""
LARGEST = 64_000
"""Characters from which the text is not made longer."""
REPETITIONS = 24
"""Of a piece, tried first: a pattern that doubles its time with each takes longer than `CALM`."""
LONGEST = 12
"""Characters of a piece of which a run is made."""

REPEATS = (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT)
ASSERTS = (op.ASSERT, op.ASSERT_NOT)
PROBES = [ord(c) for c in "a0 A_-./:,;|#*=+\"'`<>(){}[]\\@$%&!?~^\n\t\r\0éß你…—"]
CATEGORIES: dict[Any, Callable[[str], bool]] = {
    op.CATEGORY_DIGIT: str.isdigit,
    op.CATEGORY_NOT_DIGIT: lambda c: not c.isdigit(),
    op.CATEGORY_SPACE: str.isspace,
    op.CATEGORY_NOT_SPACE: lambda c: not c.isspace(),
    op.CATEGORY_WORD: lambda c: c.isalnum() or c == "_",
    op.CATEGORY_NOT_WORD: lambda c: not (c.isalnum() or c == "_"),
}
PLAIN = ["a", "A", " ", "0", ".", "\n", "_", "-", "a ", "a.", "a\n", "A1", "é", "1,", "/a", "a:"]
ENDS = ["", "!", "\n", "\0"]


@dataclass(frozen=True, slots=True)
class Slow:
    """What a pattern needed too long for."""

    method: str
    text: Text
    seconds: float
    growth: float

    def __str__(self) -> str:
        return f"{self.method}({self.text}): {self.seconds:.3f} s, x{self.growth:.0f} for four times the text"


def slowest(
    pattern: AnyPattern,
    methods: Sequence[str],
    *,
    ends: Sequence[str] = ENDS,
    most: int | None = None,
    size: int = SIZE,
) -> Slow | None:
    """The first text on which one of the methods takes more than linear time; `most` limits the texts."""
    pairs = attacks(pattern)
    if most is not None:
        head, rest = pairs[: most // 2], pairs[most // 2 :]
        pairs = head + rest[:: max(1, 2 * len(rest) // most)]
    for prefix, unit in pairs:
        for end in ends:
            for method in methods:
                if slow := _slow(pattern, method, Text(prefix, unit, end), size):
                    return slow
    return None


@dataclass(frozen=True, slots=True)
class Text:
    """A text of any length: a piece that is repeated between a prefix and an end."""

    prefix: str
    unit: str
    end: str

    def made(self, size: int) -> str:
        return self.prefix + self.unit * (size // len(self.unit)) + self.end

    def __str__(self) -> str:
        return f"{self.prefix!r} + {self.unit!r} * n + {self.end!r}"


def _slow(pattern: AnyPattern, method: str, text: Text, size: int) -> Slow | None:
    """A text that costs little for its length is not looked at again, nor one whose cost grows as it does."""
    first = REPETITIONS * len(text.unit)
    if min(_seconds(pattern, method, text.made(first)) for _ in range(2)) > CALM:
        return Slow(method, text, CALM, float("inf"))  # exponential: a longer one would not return
    for _ in range(2):
        small = _seconds(pattern, method, text.made(size))
        if small < SLOW * size:
            return None
    while size <= LARGEST:
        large = min(_seconds(pattern, method, text.made(4 * size)) for _ in range(2 if small < CALM else 1))
        if large < GROWTH * small:
            return None
        if large > CALM:
            return Slow(method, text, large, large / small)
        size, small = 4 * size, large
    return None


def _seconds(pattern: AnyPattern, method: str, made: str) -> float:
    text: Any = made.encode("latin-1", "replace") if isinstance(pattern.pattern, bytes) else made
    started = process_time()
    match method:
        case "sub" | "subn":
            getattr(pattern, method)(text[:0], text)
        case "finditer":
            for _ in pattern.finditer(text):
                pass
        case _:
            getattr(pattern, method)(text)
    return process_time() - started


def attacks(pattern: AnyPattern) -> list[tuple[str, str]]:
    """Pairs of a prefix and a piece to repeat after it."""
    given = pattern.pattern
    tree = parser.parse(
        given.decode("latin-1") if isinstance(given, bytes) else given, pattern.flags & ~re.UNICODE
    )
    found: dict[tuple[str, str], None] = {}
    for prefix, unit in _pairs(list(tree), ""):
        if unit:
            found[prefix[-40:], unit[:LONGEST]] = None
            if prefix:
                found["", (prefix + unit)[-40:]] = None
                found["", unit[:LONGEST]] = None
    for unit in [*PLAIN, *_literals(list(tree)), sample(list(tree))[:40], sample(list(tree))[:-1][:40]]:
        if unit:
            found["", unit] = None
    return sorted(found, key=lambda pair: bool(pair[0]))


def _pairs(nodes: Sequence[Node], prefix: str) -> Iterator[tuple[str, str]]:
    for place, node in enumerate(nodes):
        before = prefix + sample(nodes[:place])
        kind, value = node
        if kind in REPEATS:
            _, high, body = value
            if high > 8:
                rest = sample(nodes[place + 1 :])
                for unit in _units(list(body)):
                    yield before, unit
                    yield before, unit + rest
                    yield before, unit + rest[:1]
            yield from _pairs(list(body), before)
        for inner in _inside(node):
            yield from _pairs(inner, before)


def _units(body: Sequence[Node]) -> list[str]:
    """Several things that one round of a repetition takes."""
    if len(body) == 1 and body[0][0] is op.BRANCH:
        return list(dict.fromkeys(unit for branch in body[0][1][1] for unit in _units(list(branch))))
    if len(body) == 1 and body[0][0] is op.SUBPATTERN:
        return _units(list(body[0][1][-1]))
    if len(body) == 1 and (chars := _chars(body[0])):
        picked = _spread(chars)
        return [*picked, "".join(picked[:2])] if len(picked) > 1 else picked
    return list(dict.fromkeys((sample(body), sample(body, longest=True))))


def _spread(chars: str) -> list[str]:
    """One character of each kind."""
    kinds = (str.islower, str.isdigit, str.isspace, str.isupper, lambda c: c in string.punctuation)
    return list(dict.fromkeys(c for kind in kinds for c in [next(filter(kind, chars), "")] if c)) or [
        chars[0]
    ]


def _inside(node: Node) -> list[list[Node]]:
    kind, value = node
    if kind is op.BRANCH:
        return [list(branch) for branch in value[1]]
    if kind is op.SUBPATTERN:
        return [list(value[-1])]
    if kind is op.ATOMIC_GROUP:
        return [list(value)]
    if kind in ASSERTS:
        return [list(value[1])]
    if kind is op.GROUPREF_EXISTS:
        return [list(part) for part in value[1:] if part]
    return []


def sample(nodes: Sequence[Node], *, longest: bool = False) -> str:
    """A text that the nodes take, as short as they allow; assertions are not looked at."""
    return "".join(_sample(node, longest=longest) for node in nodes)


def _sample(node: Node, *, longest: bool) -> str:
    kind, value = node
    if kind in REPEATS:
        low, high, body = value
        return sample(list(body), longest=longest) * (min(low, 50) or int(longest and high > 0))
    if kind is op.BRANCH:
        found = [sample(list(branch), longest=longest) for branch in value[1]]
        return max(found, key=len) if longest else found[0]
    if kind in ASSERTS:
        return ""
    if inner := _inside(node):
        return sample(inner[0], longest=longest)
    return _chars(node)[:1]


def _chars(node: Node) -> str:
    """Characters that a node of one character takes."""
    kind, value = node
    if kind is op.LITERAL:
        return chr(value)
    if kind in (op.ANY, op.NOT_LITERAL, op.IN):
        ranges = (
            [chr(low) for name, span in value if name is op.RANGE for low in [span[0]]]
            if kind is op.IN
            else []
        )
        literals = [chr(code) for name, code in value if name is op.LITERAL] if kind is op.IN else []
        pool = [*map(chr, PROBES), *ranges, *literals]
        return "".join(dict.fromkeys(c for c in pool if _takes(node, c)))
    return ""


def _takes(node: Node, char: str) -> bool:
    kind, value = node
    if kind is op.ANY:
        return char != "\n"
    if kind is op.NOT_LITERAL:
        return char != chr(value)
    negated = value[0][0] is op.NEGATE
    return any(_within(item, char) for item in value[negated:]) != negated


def _within(item: Node, char: str) -> bool:
    kind, value = item
    if kind is op.LITERAL:
        return char == chr(value)
    if kind is op.RANGE:
        return bool(value[0] <= ord(char) <= value[1])
    return CATEGORIES[value](char)


def _literals(nodes: Sequence[Node]) -> Iterator[str]:
    """Every fixed word of the pattern, and each of its characters that is not a letter."""
    word = ""
    for node in [*nodes, (None, None)]:
        if node[0] is op.LITERAL:
            word += chr(node[1])
            continue
        if word:
            yield word[:LONGEST]
            yield from (c for c in word if not c.isalnum())
        word = ""
        if node[0] in REPEATS:
            yield from _literals(list(node[1][2]))
        elif node[0] is not None:
            for inner in _inside(node):
                yield from _literals(inner)
