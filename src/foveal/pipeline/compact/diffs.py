"""A diff in → files, hunks and lines as pieces; changed lines before the lines around them."""

from __future__ import annotations

from foveal.pipeline.compact.naming import names_in
from foveal.pipeline.compact.pieces import Outline, Piece, in_lines
from foveal.pipeline.compact.texts import lines_of

FILE, HUNK, CHANGED, AROUND, OUTSIDE = 3.0, 0.5, 1.0, 0.05, 0.5


def outline(text: str) -> Outline:
    """Every line a piece under its hunk, every hunk under its file."""
    pieces: list[Piece] = []
    file = hunk = -1
    lines = lines_of(text)
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        place = len(pieces)
        # A `---` after `diff` belongs to its header; without the `+++` it is a removed line.
        headed = file >= 0 > hunk
        bare = line.startswith("--- ") and following.startswith("+++ ") and not headed
        if line.startswith("diff ") or bare:
            pieces.append(Piece(text=line, worth=FILE, names=names_in(line)))
            file, hunk = place, -1
        elif line.startswith("@@"):
            pieces.append(Piece(text=line, worth=HUNK, under=file, names=names_in(line)))
            hunk = place
        elif hunk < 0:
            worth = 0.0 if line.startswith(("--- ", "+++ ")) else OUTSIDE
            pieces.append(Piece(text=line, worth=worth, under=file, names=names_in(line)))
        else:
            worth = CHANGED if line[0] in "+-" else AROUND
            pieces.append(Piece(text=line, worth=worth, under=hunk, names=names_in(line)))
    return Outline(pieces=tuple(pieces), unit="lines", write=in_lines)
