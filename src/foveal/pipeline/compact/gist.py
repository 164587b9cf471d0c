"""A text in → a line of its best words and a line of its names, as many as fit: the least that stays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from foveal.pipeline.compact.fill import fill
from foveal.pipeline.compact.pieces import Outline, Piece
from foveal.pipeline.compact.short import HIGHEST, Short, outline
from foveal.pipeline.compact.types import content_type

NAMES = 0.75
"""Of the room, for names."""


def gist(text: str, room: int, count: Callable[[str], int]) -> Short | None:
    """The text within `room` tokens, or its names, the most distinctive first; None when not one fits."""
    content, tokens = content_type(text), count(text)
    if tokens <= room:
        return Short(text=text, tokens=tokens, content=content, fidelity=1.0)
    made = fill(_in_one_line(outline(text, content)), room, count, names=NAMES)
    if made is None:
        return None
    return Short(text=made.text, tokens=count(made.text), content=content, fidelity=min(made.share, HIGHEST))


def _in_one_line(whole: Outline) -> Outline:
    def write(pieces: Sequence[Piece], kept: Sequence[int]) -> str:
        return " ".join(whole.write(pieces, kept).split())

    return replace(whole, write=write)
