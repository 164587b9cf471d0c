"""A long text in → a short form within the room: what a later turn could need, by the kind of its content.

Never over the room; the text itself when that fits.

An outline and room in → its most telling pieces in order; what is left out in words, and the names in it.

A piece is worth what its kind is worth and what it names that none chosen before it names, for its length.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from types import MappingProxyType
from typing import TypeVar

from foveal.pipeline.shorten import json_form
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
from foveal.pipeline.shorten.outline import GAP, Outline, Piece
from foveal.pipeline.signals import weight

Count = Callable[[str], int]
T = TypeVar("T")
Named = Mapping[str, tuple[int, str]]
"""Every name, with its place in the order of appearance and its label."""

ALSO_SHARE = 0.3
"""Of the room, for the names of what is left out."""
BENT = 0.7
"""Value is weighed against length to this power: a little in favour of pieces that can be read."""
LISTED = 0.5
"""Likewise for names in a list, which should be many."""
MENTIONED = 4.0
"""Times its weight: what a name is worth that the task mentions."""
CHARACTERS = 16
"""For each token of the room, as many are looked at: what is worth keeping is not written denser."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FilledOutline:
    text: str
    share: float
    """Of everything the text tells, by weight, how much is still there."""


def fill_outline(
    outline: Outline,
    room: int,
    count: Count,
    *,
    mentioned: frozenset[str] = frozenset(),
    names: float = ALSO_SHARE,
) -> FilledOutline | None:
    """The best pieces and the names of the others within `room`; None when nothing of them fits."""
    pieces = outline.pieces
    order = list(_ranked(pieces, room * CHARACTERS, mentioned))
    named = _named(pieces)
    total = sum(piece.units for piece in pieces)

    def written(chosen: Sequence[int], names: Sequence[str]) -> str:
        kept = sorted(_with_parents(pieces, chosen))
        left = total - sum(pieces[place].units for place in kept)
        said = f"{left:,} {outline.unit}" if left else ""
        return _whole(outline.write(pieces, kept), said, _by_label(names, named))

    def fits(chosen: Sequence[int]) -> bool:
        return count(written(chosen, ())) <= int(room * (1 - names))

    def fits_with_all(chosen: Sequence[int]) -> bool:
        return count(written(chosen, _missing(pieces, chosen, named))) <= room

    chosen = _most(order, fits)
    missing = _missing(pieces, chosen, named)
    listed = _most(missing, lambda names: count(written(chosen, names)) <= room)
    if len(listed) == len(missing):
        # Every name is there: what room is left belongs to the pieces.
        chosen += _most(order[len(chosen) :], lambda more: fits_with_all([*chosen, *more]))
        listed = _missing(pieces, chosen, named)
    if not chosen and not listed:
        return None
    return FilledOutline(text=written(chosen, listed), share=_share(pieces, chosen, listed, named))


def _ranked(pieces: Sequence[Piece], enough: int, mentioned: frozenset[str]) -> Iterator[int]:
    """Places from the most telling piece on, until `enough` characters are reached.

    A value only ever falls, when another piece tells the same names first: one that did not fall is the best.
    """
    told: set[str] = set()
    """Names, and whole pieces: a line that is repeated says nothing the second time."""

    def value(piece: Piece) -> float:
        names = sum(weight(n) * (MENTIONED if n in mentioned else 1) for n in piece.names if n not in told)
        worth = 0.0 if piece.text in told else piece.worth
        return (worth + names) / float(_length(piece.text) ** BENT)

    heap = [(-value(piece), place) for place, piece in enumerate(pieces)]
    heapq.heapify(heap)
    length = 0
    while heap and length < enough:
        claimed, place = heapq.heappop(heap)
        now = -value(pieces[place])
        if now > claimed:
            heapq.heappush(heap, (now, place))
            continue
        told.update((*pieces[place].names, pieces[place].text))
        length += len(pieces[place].text)
        yield place


def _length(text: str) -> float:
    """About how many tokens, the mark beside it included."""
    return 2 + len(text) / 4


def _distinction(name: str) -> float:
    return weight(name) / float(_length(name) ** LISTED)


def _most(items: Sequence[T], fits: Callable[[Sequence[T]], bool]) -> list[T]:
    """As many of the first items as fit, found galloping: what is tried stays near the room."""
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
    for place in chosen:
        at = place
        while at >= 0 and at not in kept:
            kept.add(at)
            at = pieces[at].under
    return kept


def _named(pieces: Sequence[Piece]) -> Named:
    found: dict[str, tuple[int, str]] = {}
    for piece in pieces:
        for name, label in zip_longest((*piece.names, *piece.folded), piece.labels, fillvalue=""):
            found.setdefault(name, (len(found), label))
    return found


def _missing(pieces: Sequence[Piece], chosen: Sequence[int], named: Named) -> list[str]:
    """Names that no chosen piece tells, the most distinctive first."""
    there = {name for place in _with_parents(pieces, chosen) for name in pieces[place].names}
    there |= _tails(there)
    return sorted((name for name in named if name not in there), key=_distinction, reverse=True)


def _by_label(names: Sequence[str], named: Named) -> str:
    """The names in order of appearance, for neighbours explain each other; a file not beside its path."""
    listed = set(names) - _tails(names)
    by_label: dict[str, list[str]] = {}
    for name in sorted(listed, key=named.__getitem__):
        by_label.setdefault(named[name][1], []).append(_listed(name))
    return "; ".join(
        f"{label} {', '.join(each)}" if label else ", ".join(each) for label, each in by_label.items()
    )


def _listed(name: str) -> str:
    """A name that holds the signs of the list stands in quotes."""
    return f'"{name}"' if any(sign in name for sign in ",;]") else name


def _tails(names: Iterable[str]) -> set[str]:
    return {name.rpartition("/")[2] for name in names if "/" in name}


def _whole(body: str, left: str, names: str) -> str:
    said = f"{GAP} {left} left out" if left else "also" if names else ""
    said += f": {names}" if names else ""
    return "\n".join(filter(None, (body, f"[{said}]" if said else "")))


def _share(pieces: Sequence[Piece], chosen: Sequence[int], listed: Sequence[str], named: Named) -> float:
    worth = sum(piece.worth for piece in pieces)
    names = sum(map(weight, named))
    told = {name for place in chosen for name in pieces[place].names}.union(listed)
    there = sum(pieces[place].worth for place in chosen) + sum(map(weight, told))
    return there / (worth + names) if worth + names else 0.0


HIGHEST = 0.99
"""The fidelity of what is not the text itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShortForm:
    """A text's short form, and how much of what the text tells it still tells: 0 to 1."""

    text: str
    tokens: int
    content: ContentType
    fidelity: float


def short_form(
    text: str, room: int, count: Callable[[str], int], *, mentioned: frozenset[str] = frozenset()
) -> ShortForm | None:
    """The text within `room` tokens, what is `mentioned` first; None when nothing meaningful fits."""
    content = content_type(text)
    tokens = count(text)
    if tokens <= room:
        return ShortForm(text=text, tokens=tokens, content=content, fidelity=1.0)
    written = fill_outline(outline_of(text, content, mentioned=mentioned), room, count, mentioned=mentioned)
    if written is None:
        return None
    tokens = count(written.text)
    return ShortForm(text=written.text, tokens=tokens, content=content, fidelity=min(written.share, HIGHEST))


def outline_of(text: str, content: ContentType, *, mentioned: frozenset[str] = frozenset()) -> Outline:
    """The text taken apart as its kind of content is."""
    return code_outline(text, mentioned=mentioned) if content == "code" else _OUTLINES[content](text)


_OUTLINES: Mapping[ContentType, Callable[[str], Outline]] = MappingProxyType(
    {
        "json": json_form.json_outline,
        "log": log_outline,
        "diff": diff_outline,
        "table": table_outline,
        "search results": search_outline,
        "stack trace": trace_outline,
        "prose": prose_outline,
    }
)
