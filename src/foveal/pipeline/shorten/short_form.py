"""Shorten a long text to the parts that a later turn could need, according to its type of content.

The text is split into pieces. A piece is chosen by its score, its length, and the names in it that no chosen
piece has; the names of the other pieces are listed at the end. The result never exceeds its room; a text that
fits stays as it is.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from types import MappingProxyType
from typing import TypeVar

from foveal.pipeline.shorten.by_type import (
    code_outline,
    diff_outline,
    log_outline,
    prose_outline,
    search_outline,
    table_outline,
    trace_outline,
)
from foveal.pipeline.shorten.content_type import ContentType, content_type
from foveal.pipeline.shorten.json_form import json_outline
from foveal.pipeline.shorten.outline import GAP, Outline, Piece
from foveal.pipeline.signals import weight

Count = Callable[[str], int]
T = TypeVar("T")
Named = Mapping[str, tuple[int, str]]
"""Every name, with its rank in the order of appearance and its label."""

MAX_FIDELITY = 0.99
"""The highest fidelity of a text that was shortened."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShortForm:
    """A text's short form, and how much of the text's information is left in it: 0 to 1."""

    text: str
    tokens: int
    content: ContentType
    fidelity: float


def short_form(
    text: str, room: int, count: Callable[[str], int], *, mentioned: frozenset[str] = frozenset()
) -> ShortForm | None:
    """The text within `room` tokens, `mentioned` names first; None when nothing meaningful fits."""
    content = content_type(text)
    tokens = count(text)
    if tokens <= room:
        return ShortForm(text=text, tokens=tokens, content=content, fidelity=1.0)
    filled = fill_outline(outline_of(text, content, mentioned=mentioned), room, count, mentioned=mentioned)
    if filled is None:
        return None
    fidelity = min(filled.share, MAX_FIDELITY)
    return ShortForm(text=filled.text, tokens=count(filled.text), content=content, fidelity=fidelity)


def outline_of(text: str, content: ContentType, *, mentioned: frozenset[str] = frozenset()) -> Outline:
    """The text in pieces, split according to its content."""
    return code_outline(text, mentioned=mentioned) if content == "code" else _OUTLINES[content](text)


_OUTLINES: Mapping[ContentType, Callable[[str], Outline]] = MappingProxyType(
    {
        "json": json_outline,
        "log": log_outline,
        "diff": diff_outline,
        "table": table_outline,
        "search results": search_outline,
        "stack trace": trace_outline,
        "prose": prose_outline,
    }
)


NAMES_SHARE = 0.3
"""The share of the room for the names of pieces that are left out."""
PIECE_LENGTH_POWER = 0.7
"""A piece is ranked by its value per length to this power, which slightly favours readable pieces."""
NAME_LENGTH_POWER = 0.5
"""Likewise for listed names, of which there should be many."""
MENTIONED = 4.0
"""Factor on the weight of a name that the task mentions."""
CHARACTERS = 16
"""Characters of pieces that are ranked per token of room: no text worth keeping is denser."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FilledOutline:
    """The text of an outline within its room."""

    text: str
    share: float
    """How much of the value of all pieces and names is left."""


def fill_outline(
    outline: Outline, room: int, count: Count, *, mentioned: frozenset[str] = frozenset()
) -> FilledOutline | None:
    """The best pieces, and names from the others, within `room`; None when none fit."""
    pieces = outline.pieces
    order = list(_ranked(pieces, room * CHARACTERS, mentioned))
    named = _named(pieces)
    total = sum(piece.units for piece in pieces)

    def written(chosen: Sequence[int], names: Sequence[str]) -> str:
        kept = sorted(_with_parents(pieces, chosen))
        left_out = total - sum(pieces[at].units for at in kept)
        omitted = f"{left_out:,} {outline.unit}" if left_out else ""
        return _with_footer(outline.write(pieces, kept), omitted, _by_label(names, named))

    def fits(chosen: Sequence[int]) -> bool:
        return count(written(chosen, ())) <= int(room * (1 - NAMES_SHARE))

    def fits_with_all(chosen: Sequence[int]) -> bool:
        return count(written(chosen, _missing(pieces, chosen, named))) <= room

    chosen = _most(order, fits)
    missing = _missing(pieces, chosen, named)
    listed = _most(missing, lambda names: count(written(chosen, names)) <= room)
    if len(listed) == len(missing):
        # Every name fits, so the rest of the room goes to more pieces.
        chosen += _most(order[len(chosen) :], lambda more: fits_with_all([*chosen, *more]))
        listed = _missing(pieces, chosen, named)
    if not chosen and not listed:
        return None
    return FilledOutline(text=written(chosen, listed), share=_share(pieces, chosen, listed, named))


def _ranked(pieces: Sequence[Piece], enough: int, mentioned: frozenset[str]) -> Iterator[int]:
    """Indexes of the pieces from the most valuable on, until `enough` characters are reached.

    A value only falls, when better pieces have the same names, so one that did not fall is the best.
    """
    seen: set[str] = set()
    """Names, and whole pieces: a repeated line adds nothing."""

    def value(piece: Piece) -> float:
        names = sum(weight(n) * (MENTIONED if n in mentioned else 1) for n in piece.names if n not in seen)
        score = 0.0 if piece.text in seen else piece.score
        return (score + names) / float(_length(piece.text) ** PIECE_LENGTH_POWER)

    heap = [(-value(piece), at) for at, piece in enumerate(pieces)]
    heapq.heapify(heap)
    length = 0
    while heap and length < enough:
        stored, at = heapq.heappop(heap)
        current = -value(pieces[at])
        if current > stored:
            heapq.heappush(heap, (current, at))
            continue
        seen.update((*pieces[at].names, pieces[at].text))
        length += len(pieces[at].text)
        yield at


def _length(text: str) -> float:
    """About how many tokens, a separator included."""
    return 2 + len(text) / 4


def _distinction(name: str) -> float:
    return weight(name) / float(_length(name) ** NAME_LENGTH_POWER)


def _most(items: Sequence[T], fits: Callable[[Sequence[T]], bool]) -> list[T]:
    """As many of the first items as fit, found by galloping so that every probe stays near the room."""
    low, high = 0, 1
    while high <= len(items) and fits(items[:high]):
        low, high = high, high * 2
    high = min(high - 1, len(items))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(items[:middle]) else (low, middle - 1)
    return list(items[:low])


def _with_parents(pieces: Sequence[Piece], chosen: Sequence[int]) -> set[int]:
    kept: set[int] = set()
    for each in chosen:
        at = each
        while at >= 0 and at not in kept:
            kept.add(at)
            at = pieces[at].parent
    return kept


BULK = 12
"""Names of similar pieces that are listed for the one shown: of thousands of ids the others say no more."""


def _named(pieces: Sequence[Piece]) -> Named:
    found: dict[str, tuple[int, str]] = {}
    for piece in pieces:
        names = (*piece.names, *piece.folded[:BULK])
        for name, label in zip_longest(names, piece.labels, fillvalue=""):
            found.setdefault(name, (len(found), label))
    return found


def _missing(pieces: Sequence[Piece], chosen: Sequence[int], named: Named) -> list[str]:
    """Names that no chosen piece contains, the most distinctive first."""
    there = {name for at in _with_parents(pieces, chosen) for name in pieces[at].names}
    there |= _tails(there)
    return sorted((name for name in named if name not in there), key=_distinction, reverse=True)


def _by_label(names: Sequence[str], named: Named) -> str:
    """The names by label, in order of appearance, without files whose paths are listed."""
    listed = set(names) - _tails(names)
    by_label: dict[str, list[str]] = {}
    for name in sorted(listed, key=named.__getitem__):
        by_label.setdefault(named[name][1], []).append(_listed(name))
    return "; ".join(
        f"{label} {', '.join(each)}" if label else ", ".join(each) for label, each in by_label.items()
    )


def _listed(name: str) -> str:
    """A name, in quotes when it contains a separator of the list."""
    return f'"{name}"' if any(sign in name for sign in ",;]") else name


def _tails(names: Iterable[str]) -> set[str]:
    return {name.rpartition("/")[2] for name in names if "/" in name}


def _with_footer(body: str, omitted: str, names: str) -> str:
    footer = f"{GAP} {omitted} not shown" if omitted else ""
    if names:
        footer = f"{footer}, among them: {names}" if footer else f"also: {names}"
    return "\n".join(filter(None, (body, f"[{footer}]" if footer else "")))


def _share(pieces: Sequence[Piece], chosen: Sequence[int], listed: Sequence[str], named: Named) -> float:
    total = sum(piece.score for piece in pieces) + sum(map(weight, named))
    names = {name for at in chosen for name in pieces[at].names}.union(listed)
    left = sum(pieces[at].score for at in chosen) + sum(map(weight, names))
    return left / total if total else 0.0
