"""Code in → its lines as pieces; definitions, imports and what is mentioned are worth the most.

Line numbers that stand before the lines (`cat -n`) stay, without their padding.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from foveal.pipeline.compact.naming import names_in
from foveal.pipeline.compact.pieces import Outline, Piece, in_lines, in_numbered_lines
from foveal.pipeline.compact.texts import TROUBLE, lines_of

DEFINED, OUTER, IMPORTED, TROUBLED, AROUND, PLAIN = 2.0, 0.5, 0.4, 0.5, 5.0, 0.1
NEAR = 2
"""Lines on each side of a mentioned name."""
_NUMBERED = re.compile(r"\s{0,12}(\d{1,7})(→|\t|\s?\|)(.*)", re.DOTALL)
_DEFINITION = re.compile(
    r"\s*(?:export |default |pub(?:\([a-z]+\))? |public |private |protected |static |final |abstract )*"
    r"(?:async )?(?:def|class|func|function|fn|type|struct|interface|enum|impl|trait|module|namespace|record)"
    r"\s+\S|(?:const|var|let|static)\s+\w|#define\s|\s*@\w|#{1,6} "
)
_IMPORT = re.compile(r"\s*(?:import|from|use|require|package|#include|using)\b")


def outline(text: str, *, mentioned: frozenset[str]) -> Outline:
    """Every line a piece; brackets alone are left to the gaps."""
    lines = [_unpadded(line) for line in lines_of(text)]
    names = [names_in(code) for _, code in lines]
    near = _near([not mentioned.isdisjoint(found) for found in names])
    pieces = tuple(
        Piece(text=number + code, worth=_worth(code) + AROUND * close, names=found)
        for (number, code), found, close in zip(lines, names, near, strict=True)
    )
    numbered = all(number for number, _ in lines[:NEAR])
    return Outline(pieces=pieces, unit="lines", write=in_numbered_lines if numbered else in_lines)


def _unpadded(line: str) -> tuple[str, str]:
    found = _NUMBERED.fullmatch(line)
    return (f"{found[1]}{found[2].strip(' ')}", found[3]) if found else ("", line)


def _near(hits: Sequence[bool]) -> list[bool]:
    near = [False] * len(hits)
    for place, hit in enumerate(hits):
        if hit:
            for at in range(max(0, place - NEAR), min(len(hits), place + NEAR + 1)):
                near[at] = True
    return near


def _worth(code: str) -> float:
    if not any(map(str.isalnum, code)):
        return 0.0
    if _DEFINITION.match(code):
        return DEFINED + OUTER * (not code[:1].isspace())
    if _IMPORT.match(code):
        return IMPORTED
    return PLAIN + TROUBLED * (TROUBLE.search(code) is not None)
