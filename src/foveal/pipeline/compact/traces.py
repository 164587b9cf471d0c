"""A stack trace in → its frames as pieces, repeated ones folded; what was raised first, then own frames."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from foveal.pipeline.compact.naming import names_in
from foveal.pipeline.compact.pieces import Outline, Piece, in_lines
from foveal.pipeline.compact.texts import TROUBLE, lines_of

RAISED, OWN, FOREIGN, OTHER = 8.0, 1.5, 0.2, 0.3
_FRAME = re.compile(r'\s+File "[^"]+", line \d+|\s+at \S|\s+\S+\.\w{1,5}:\d+')
_PLACE = re.compile(r"\s+\S+\.\w{1,5}:\d+")
"""Below the function it is in, as Go and Rust write it; other languages write the source below the place."""
_ADDRESSES = re.compile(r"\((?:\{?(?:0x[0-9a-f]+|\.\.\.)\??\}?(?:, )?)+\)| \+0x[0-9a-f]+")
_FOREIGN = re.compile(
    r"site-packages|dist-packages|node_modules|lib/python|/usr/|<frozen|<string>|node:|java\.|javax\.|sun\."
    r"|/pkg/mod/|/libexec/|/installs/|/src/(?:runtime|testing)/|\.cargo/|rustc/"
)
_RAISED = re.compile(
    r"(?:[\w.$]+(?:Error|Exception|Warning|Failure|Interrupt)\b|panic: |Caused by|thread '.*' panicked)"
)


def outline(text: str) -> Outline:
    """Every frame a piece, its line of source with it. Addresses in memory say nothing to anybody."""
    frames = Counter(_frames([_ADDRESSES.sub("", line) for line in lines_of(text)]))
    pieces = tuple(
        Piece(
            text=f"{frame} ×{times}" if times > 1 else frame,
            worth=_worth(frame),
            units=times,
            names=names_in(frame),
        )
        for frame, times in frames.items()
    )
    return Outline(pieces=pieces, unit="lines and frames", write=in_lines)


def _frames(lines: list[str]) -> Iterator[str]:
    held = ""
    for line in lines:
        if held and (_PLACE.match(line) if not _FRAME.match(held) else _is_source(line)):
            yield f"{held}\n{line}"
            held = ""
            continue
        if held:
            yield held
        held = line
    if held:
        yield held


def _is_source(line: str) -> bool:
    return line[:1].isspace() and not _FRAME.match(line)


def _worth(frame: str) -> float:
    if _RAISED.match(frame):
        return RAISED
    if _FRAME.match(frame) or "\n" in frame:
        return FOREIGN if _FOREIGN.search(frame) else OWN
    return OTHER + OWN * (TROUBLE.search(frame) is not None)
