"""Running text in → its sentences as pieces; decisions, results, errors and the ends are worth the most."""

from __future__ import annotations

import re

from foveal.pipeline.compact.naming import names_in
from foveal.pipeline.compact.pieces import Outline, Piece, in_lines
from foveal.pipeline.compact.texts import TROUBLE, joined, parts_of

HEAD, TAIL, HEADING, KEY, PLAIN = 2.0, 1.5, 1.0, 1.5, 0.2
_SENTENCE = re.compile(r"(?<=[.!?。！？])[\"')\]]?\s+(?=[A-Z0-9\"'(\[#*`-])")
_KEY = re.compile(
    r"\b(?:decid\w+|decision|chose|agreed|instead|must|should|never|always|because|root cause|fix(?:ed)?"
    r"|solved|result\w*|conclu\w+|found|confirmed|verified|done|passed|created|added|removed|changed|updated"
    r"|total|summary|important|note|todo|next)\b",
    re.IGNORECASE,
)


def outline(text: str) -> Outline:
    """Every sentence a piece, short ones with the next."""
    sentences = (
        said for line in text.splitlines() for said in _SENTENCE.split(line.rstrip()) if said.strip()
    )
    texts = list(joined([part for said in sentences for part in parts_of(said)]))
    last = len(texts) - 1
    pieces = tuple(
        Piece(text=said, worth=_worth(said, place, last), names=names_in(said), units=said.count("\n") + 1)
        for place, said in enumerate(texts)
    )
    return Outline(pieces=pieces, unit="sentences", write=in_lines)


def _worth(text: str, place: int, last: int) -> float:
    worth = HEAD if place == 0 else TAIL if place == last else PLAIN
    if TROUBLE.search(text) or _KEY.search(text):
        worth += KEY
    return worth + HEADING * text.startswith("#")
