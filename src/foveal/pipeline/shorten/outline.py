"""What the short forms are made of: a text taken apart, and ways to put some of its pieces together again.

A text in → its lines as pieces are made of them: none very long, none too short to say anything.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

GAP = "…"


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """The smallest part of a text that is kept or left out."""

    text: str
    worth: float = 0.0
    """Beside what its names are worth."""
    under: int = -1
    """The place of the piece it is kept with: a heading, a file, an object."""
    units: int = 1
    """How many lines, rows or values it stands for."""
    names: tuple[str, ...] = ()
    folded: tuple[str, ...] = ()
    """Names of alike pieces that this one stands for."""
    labels: tuple[str, ...] = ()
    """What its names are, one each: the keys of values."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outline:
    """A text taken apart."""

    pieces: tuple[Piece, ...]
    unit: str
    """What the pieces are called, more than one of them."""
    write: Callable[[Sequence[Piece], Sequence[int]], str]
    """Puts the pieces at the given places, in order, together again."""


def in_lines(pieces: Sequence[Piece], kept: Sequence[int]) -> str:
    """One below the other, with a mark where something is left out."""
    written: list[str] = []
    before = -1
    for place in kept:
        written += [GAP] * (place != before + 1)
        written.append(pieces[place].text)
        before = place
    return "\n".join(written + [GAP] * (before != len(pieces) - 1))


def in_numbered_lines(pieces: Sequence[Piece], kept: Sequence[int]) -> str:
    """One below the other without marks: the numbers of the lines tell where something is left out."""
    return "\n".join(pieces[place].text for place in kept)


LONGEST = 300
"""Characters of one piece; a longer line is taken apart."""
SHORTEST = 40
"""Characters below which a line of running text stands with the next: a hash alone tells nobody what of."""
PROBLEM = re.compile(
    r"\b(?:errors?|exceptions?|fail(?:ed|ure|ures|s)?|fatal|panic|denied|refused|not found|cannot|unable"
    r"|undefined|warn(?:ing)?|critical|traceback|timed? ?out|invalid|missing|rejected)\b",
    re.IGNORECASE,
)


def split_lines(text: str) -> list[str]:
    """The lines that say anything, without the space at their ends; long ones in several."""
    return [part for line in text.splitlines() if line.strip() for part in split_long(line.rstrip())]


def split_long(line: str, *, longest: int = LONGEST) -> Iterator[str]:
    """A long line in parts, broken where words or values end."""
    start = 0
    while len(line) - start > longest:
        end = start + longest
        place = max(line.rfind(mark, start + longest // 2, end) for mark in (" ", ",", ";"))
        end = place + 1 if place > start else end
        yield line[start:end]
        start = end
    yield line[start:]


def join_short_lines(lines: Sequence[str], *, shortest: int = SHORTEST) -> Iterator[str]:
    """Lines of running text, short ones together with the next."""
    layout = ""
    for line in lines:
        layout = f"{layout}\n{line}" if layout else line
        if len(layout) >= shortest:
            yield layout
            layout = ""
    if layout:
        yield layout
