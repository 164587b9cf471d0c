"""What the short forms are made of: a text taken apart, and ways to put some of its pieces together again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

GAP = "…"


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """The smallest part of a text that is kept or left out."""

    text: str
    worth: float = 0.0
    """Beside what its names are worth."""
    under: int = -1
    """The place of the piece it is kept with: a heading, a file, an object."""
    units: int = 1
    """How many lines, rows or values it stands for."""
    names: tuple[str, ...] = ()
    folded: tuple[str, ...] = ()
    """Names of alike pieces that this one stands for."""
    labels: tuple[str, ...] = ()
    """What its names are, one each: the keys of values."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outline:
    """A text taken apart."""

    pieces: tuple[Piece, ...]
    unit: str
    """What the pieces are called, more than one of them."""
    write: Callable[[Sequence[Piece], Sequence[int]], str]
    """Puts the pieces at the given places, in order, together again."""


def in_lines(pieces: Sequence[Piece], kept: Sequence[int]) -> str:
    """One below the other, with a mark where something is left out."""
    written: list[str] = []
    before = -1
    for place in kept:
        written += [GAP] * (place != before + 1)
        written.append(pieces[place].text)
        before = place
    return "\n".join(written + [GAP] * (before != len(pieces) - 1))


def in_numbered_lines(pieces: Sequence[Piece], kept: Sequence[int]) -> str:
    """One below the other without marks: the numbers of the lines tell where something is left out."""
    return "\n".join(pieces[place].text for place in kept)
