"""Split a text into pieces, and write some of the pieces as a text again."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

GAP = "…"
MAX_PIECE = 300
"""Characters of one piece; a longer line is split."""
MIN_PIECE = 40
"""Characters below which a line of prose is joined with the next, which says what it is about."""
MARKED_WORDS = 5
"""Words of a line that a mark of omission may follow; after a shorter one it has a line of its own."""
_WORD = re.compile(r"\w+")
PROBLEM = re.compile(
    r"\b(?:errors?|exceptions?|fail(?:ed|ure|ures|s)?|fatal|panic|denied|refused|not found|cannot|unable"
    r"|undefined|warn(?:ing)?|critical|traceback|timed? ?out|invalid|missing|rejected)\b",
    re.IGNORECASE,
)
FAILURE = re.compile(
    r"\b(?:FAIL(?:ED|URES?)?|ERRORS?|FATAL|CRITICAL|PANIC)\b|(?<!\w)[A-Z]\w{0,60}(?:Error|Exception)\b"
    r"|\b[1-9]\d{0,6} (?:failed|failures?|errors?)\b|\b(?:error|fatal|panic): "
)
"""The report of a failure; a problem may be a mere mention of one."""
FAILED = 20.0
"""The score of a report, above that of any names: it is kept first."""


def failed(text: str) -> float:
    """What a piece of output scores for reporting a failure."""
    return FAILED if FAILURE.search(text) else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """The smallest part of a text that is kept or left out."""

    text: str
    score: float = 0.0
    """Its value apart from that of its names."""
    parent: int = -1
    """The index of the piece it is kept with: a heading, a file, an object."""
    units: int = 1
    """How many lines, rows or values it represents."""
    names: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    """A label for each of its names: the key of the value."""
    bulk: bool = False
    """Whether it is one of many similar pieces: its score alone ranks it, and its names are listed only if
    most names in such pieces fit."""
    identity: int = -1
    """The index of the piece that identifies what it is part of, and is kept with it."""


BULK = 12
"""Similar pieces from which on there are many: of thousands of ids, one more says nothing."""


def end_score(at: int, total: int) -> float:
    """What one of many similar pieces scores for being near the beginning or the end: 1 at most.

    >>> [round(end_score(at, 6), 2) for at in range(6)]
    [1.0, 0.67, 0.5, 0.46, 0.6, 0.86]
    """
    # Of two that are equally near, the one at the beginning comes first.
    return max(2 / (2 + at), 3 / (3.5 + 1.5 * (total - 1 - at)))


def spread_order(total: int) -> list[int]:
    """The numbers below `total` in an order of which every beginning is about evenly spaced.

    >>> spread_order(8)
    [0, 4, 2, 6, 1, 5, 3, 7]
    """
    order = [0] if total else []
    step = 1 << max(0, total - 1).bit_length()
    while step > 1:
        order += [at + step // 2 for at in order if at + step // 2 < total]
        step //= 2
    return order


@dataclass(frozen=True, slots=True, kw_only=True)
class Outline:
    """A text in pieces."""

    pieces: tuple[Piece, ...]
    unit: str
    """What several units of the pieces are called: lines, rows, values."""
    write: Callable[[Sequence[Piece], Sequence[int]], str]
    """Writes the pieces at the given indexes, which are in order."""


def in_lines(pieces: Sequence[Piece], kept: Sequence[int]) -> str:
    """One below the other; where pieces are left out there is an ellipsis, after a line of enough words."""
    written: list[str] = []
    before = -1
    for at in (*kept, len(pieces)):
        if at != before + 1:
            if written and len(_WORD.findall(written[-1].rpartition("\n")[2])) >= MARKED_WORDS:
                written[-1] += f" {GAP}"
            else:
                written.append(GAP)
        if at < len(pieces):
            written.append(pieces[at].text)
        before = at
    return "\n".join(written)


def in_numbered_lines(pieces: Sequence[Piece], kept: Sequence[int]) -> str:
    """One below the other without ellipses: the line numbers show where pieces are left out."""
    return "\n".join(pieces[at].text for at in kept)


def split_lines(text: str) -> list[str]:
    """The lines that are not blank, without trailing space; long ones in several parts."""
    return [part for line in text.splitlines() if line.strip() for part in split_long(line.rstrip())]


def split_long(line: str, *, longest: int = MAX_PIECE) -> Iterator[str]:
    """The parts of a long line, split where words or values end."""
    start = 0
    while len(line) - start > longest:
        end = start + longest
        last = max(line.rfind(mark, start + longest // 2, end) for mark in (" ", ",", ";"))
        end = last + 1 if last > start else end
        yield line[start:end]
        start = end
    yield line[start:]


def join_short_lines(lines: Sequence[str], *, shortest: int = MIN_PIECE) -> Iterator[str]:
    """Lines of prose, short ones joined with the next."""
    pending = ""
    for line in lines:
        pending = f"{pending}\n{line}" if pending else line
        if len(pending) >= shortest:
            yield pending
            pending = ""
    if pending:
        yield pending
