"""Search results in → matches as pieces under their files, each file named once with its count."""

from __future__ import annotations

import re

from foveal.pipeline.compact.naming import names_in
from foveal.pipeline.compact.pieces import Outline, Piece, in_numbered_lines
from foveal.pipeline.compact.texts import lines_of

FILE, MATCH, OTHER = 1.5, 0.2, 0.3
_MATCH = re.compile(r"(?=[^\s:]{0,200}[A-Za-z])([^\s:]{1,200}?)([:-])(\d{1,7})\2(.*)", re.DOTALL)


def outline(text: str) -> Outline:
    """Every match a piece under its file; a line that is no match stands for itself."""
    by_file: dict[str, list[str]] = {}
    lone: list[str] = []
    for line in lines_of(text):
        found = _MATCH.fullmatch(line)
        if found:
            by_file.setdefault(found[1], []).append(f"{found[3]}:{found[4]}")
        else:
            lone.append(line)
    pieces = [Piece(text=line, worth=OTHER, names=names_in(line)) for line in lone]
    for path, matches in by_file.items():
        place = len(pieces)
        many = f" ({len(matches)} matches)" if len(matches) > 1 else ""
        pieces.append(Piece(text=f"{path}{many}", worth=FILE, units=0, names=names_in(path)))
        pieces += [Piece(text=match, worth=MATCH, under=place, names=names_in(match)) for match in matches]
    return Outline(pieces=tuple(pieces), unit="lines", write=in_numbered_lines)
