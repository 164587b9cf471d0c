"""A table in → its rows as pieces under its header; the first and the last rows are worth the most."""

from __future__ import annotations

import re

from foveal.pipeline.compact.naming import names_in
from foveal.pipeline.compact.pieces import Outline, Piece, in_lines
from foveal.pipeline.compact.texts import TROUBLE, lines_of

HEADER, ENDS, TROUBLED, PLAIN = 3.0, 0.8, 1.0, 0.2
FIRST, LAST = 3, 2
_PADDING = re.compile(r"(?<=\S) {3,}")
_RULE = re.compile(r"[\s|:+=─━-]+")


def outline(text: str) -> Outline:
    """Every row a piece. Padding and rules go: they say nothing."""
    lines = [_PADDING.sub("  ", line) for line in lines_of(text) if not _RULE.fullmatch(line)]
    last = len(lines) - 1
    pieces = []
    for place, line in enumerate(lines):
        ends = 0 < place <= FIRST or place > last - LAST
        worth = HEADER if place == 0 else ENDS if ends else PLAIN
        worth += TROUBLED * (TROUBLE.search(line) is not None)
        pieces.append(Piece(text=line, worth=worth, under=0 if place else -1, names=names_in(line)))
    return Outline(pieces=tuple(pieces), unit="rows", write=in_lines)
