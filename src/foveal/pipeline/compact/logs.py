"""A log in → its lines as pieces, alike ones folded; trouble and what stands around it is worth the most."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice

from foveal.pipeline.compact.naming import MOST, names_in
from foveal.pipeline.compact.pieces import Outline, Piece, in_lines
from foveal.pipeline.compact.texts import TROUBLE, lines_of

ENDS, TROUBLED, AROUND, PLAIN = 3.0, 3.0, 0.8, 0.1
NEAR = 2
"""Lines on each side of trouble."""
ALIKE = 3
"""Lines that differ in numbers only are folded from this many on."""
_VARIES = re.compile(r"0x[0-9a-fA-F]+|\b(?=[a-f]*\d)[0-9a-f]{7,}(?:-[0-9a-f]{4,})*\b|\d+")


def outline(text: str) -> Outline:
    """Every line a piece; of lines that differ in their numbers alone the first stands for all."""
    lines = lines_of(text)
    worths = _worths(lines)
    alike: dict[str, list[int]] = {}
    for place, line in enumerate(lines):
        alike.setdefault(_VARIES.sub("0", line), []).append(place)
    groups = [part for places in alike.values() for part in _parted(places)]
    pieces = tuple(_piece(lines, worths, places) for places in sorted(groups))
    return Outline(pieces=pieces, unit="lines", write=in_lines)


def _parted(places: list[int]) -> list[list[int]]:
    return [places] if len(places) >= ALIKE else [[place] for place in places]


def _piece(lines: Sequence[str], worths: Sequence[float], places: Sequence[int]) -> Piece:
    text, names = lines[places[0]], names_in(lines[places[0]])
    others = islice(dict.fromkeys(n for place in places[1:] for n in names_in(lines[place])), MOST)
    return Piece(
        text=f"{text} ×{len(places)}" if len(places) > 1 else text,
        worth=max(worths[place] for place in places),
        units=len(places),
        names=names,
        folded=tuple(name for name in others if name not in names),
    )


def _worths(lines: Sequence[str]) -> list[float]:
    worths = [PLAIN] * len(lines)
    for place, line in enumerate(lines):
        if place in (0, len(lines) - 1):
            worths[place] = max(worths[place], ENDS)
        if TROUBLE.search(line):
            for near in range(max(0, place - NEAR), min(len(lines), place + NEAR + 1)):
                worths[near] = max(worths[near], AROUND)
            worths[place] = TROUBLED
    return worths
