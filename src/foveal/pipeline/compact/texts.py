"""A text in → its lines as pieces are made of them: none very long, none too short to say anything."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

LONGEST = 300
"""Characters of one piece; a longer line is taken apart."""
SHORTEST = 40
"""Characters below which a line of running text stands with the next: a hash alone tells nobody what of."""
TROUBLE = re.compile(
    r"\b(?:errors?|exceptions?|fail(?:ed|ure|ures|s)?|fatal|panic|denied|refused|not found|cannot|unable"
    r"|undefined|warn(?:ing)?|critical|traceback|timed? ?out|invalid|missing|rejected)\b",
    re.IGNORECASE,
)


def lines_of(text: str) -> list[str]:
    """The lines that say anything, without the space at their ends; long ones in several."""
    return [part for line in text.splitlines() if line.strip() for part in parts_of(line.rstrip())]


def parts_of(line: str, *, longest: int = LONGEST) -> Iterator[str]:
    """A long line in parts, broken where words or values end."""
    start = 0
    while len(line) - start > longest:
        end = start + longest
        place = max(line.rfind(mark, start + longest // 2, end) for mark in (" ", ",", ";"))
        end = place + 1 if place > start else end
        yield line[start:end]
        start = end
    yield line[start:]


def joined(lines: Sequence[str], *, shortest: int = SHORTEST) -> Iterator[str]:
    """Lines of running text, short ones together with the next."""
    held = ""
    for line in lines:
        held = f"{held}\n{line}" if held else line
        if len(held) >= shortest:
            yield held
            held = ""
    if held:
        yield held
