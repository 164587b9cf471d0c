"""Shorten a long text to the parts that a later turn could need, according to its type of content.

The text is split into pieces. A piece is chosen by its score, its length, and the names in it that no chosen
piece has; the names of the other pieces are listed at the end. The result never exceeds its room; a text that
fits stays as it is.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
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
BULK_LENGTH = 8.0
"""What the score of one of many similar pieces is divided by, whatever its length: a line of 20 tokens."""
MIN_LISTED = 0.5
"""The share of the names in similar pieces that must fit: a few of thousands of ids tell nothing."""
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
    named = _Names.of(pieces)
    total = sum(piece.units for piece in pieces)

    def written(chosen: Sequence[int], names: Sequence[str]) -> str:
        kept = sorted(_with_parents(pieces, chosen))
        left_out = total - sum(pieces[at].units for at in kept)
        omitted = f"{left_out:,} {outline.unit}" if left_out else ""
        return _with_footer(outline.write(pieces, kept), omitted, named.by_label(names))

    def fits(chosen: Sequence[int]) -> bool:
        return count(written(chosen, ())) <= int(room * (1 - NAMES_SHARE))

    def fits_with_all(chosen: Sequence[int]) -> bool:
        return count(written(chosen, named.missing(_there(pieces, chosen)))) <= room

    def fits_with_names(names: Sequence[str]) -> bool:
        return count(written(chosen, names)) <= room

    chosen = _most(order, fits)
    missing = named.missing(_there(pieces, chosen))
    listed = _most(missing, fits_with_names)
    if len(named.bulk.intersection(listed)) < MIN_LISTED * len(named.bulk.intersection(missing)):
        named = named.without_bulk()
        missing = named.missing(_there(pieces, chosen))
        listed = _most(missing, fits_with_names)
    if len(listed) == len(missing):
        # Every name fits, so the rest of the room goes to more pieces.
        chosen += _most(order[len(chosen) :], lambda more: fits_with_all([*chosen, *more]))
        listed = named.missing(_there(pieces, chosen))
    if not chosen and not listed:
        return None
    return FilledOutline(text=written(chosen, listed), share=_share(pieces, chosen, listed))


def _ranked(pieces: Sequence[Piece], enough: int, mentioned: frozenset[str]) -> Iterator[int]:
    """Indexes of the pieces from the most valuable on, until `enough` characters are reached.

    A value only falls, when better pieces have the same names, so one that did not fall is the best.
    """
    seen: set[str] = set()
    """Names, and whole pieces: a repeated line adds nothing."""

    def value(piece: Piece) -> float:
        asked = sum(MENTIONED * weight(n) for n in piece.names if n in mentioned and n not in seen)
        if piece.bulk:
            return (piece.score + asked) / BULK_LENGTH
        score = 0.0 if piece.text in seen else piece.score
        names = asked + sum(weight(n) for n in piece.names if n not in mentioned and n not in seen)
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
    """The chosen pieces, with what they are part of and what identifies that."""
    kept: set[int] = set()
    waiting = list(chosen)
    while waiting:
        at = waiting.pop()
        if at >= 0 and at not in kept:
            kept.add(at)
            waiting += (pieces[at].parent, pieces[at].identity)
    return kept


def _there(pieces: Sequence[Piece], chosen: Sequence[int]) -> set[str]:
    """The names that the chosen pieces contain."""
    there = {name for at in _with_parents(pieces, chosen) for name in pieces[at].names}
    return there | _tails(there)


RUN = 3
"""Names with consecutive numbers from which on they are listed as a range."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Names:
    """The names of all pieces, and how they are listed."""

    labels: Mapping[str, str]
    """The label of each, in order of appearance."""
    bulk: frozenset[str]
    """Those that are in similar pieces only."""
    ranked: Sequence[str]
    """The most distinctive first, those of similar pieces last."""

    @classmethod
    def of(cls, pieces: Sequence[Piece]) -> _Names:
        labels: dict[str, str] = {}
        for piece in pieces:
            for name, label in zip_longest(piece.names, piece.labels, fillvalue=""):
                labels.setdefault(name, label)
        bulk = labels.keys() - {name for piece in pieces if not piece.bulk for name in piece.names}
        ranked = sorted(labels, key=lambda name: (name in bulk, -_distinction(name)))
        return cls(labels=labels, bulk=frozenset(bulk), ranked=ranked)

    def without_bulk(self) -> _Names:
        ranked = [name for name in self.ranked if name not in self.bulk]
        return _Names(labels=self.labels, bulk=frozenset(), ranked=ranked)

    def missing(self, there: Collection[str]) -> list[str]:
        return [name for name in self.ranked if name not in there]

    def by_label(self, names: Sequence[str]) -> str:
        """The names by label, in order of appearance, without files whose paths are listed."""
        if not names:
            return ""
        listed = set(names) - _tails(names)
        by_label: dict[str, list[str]] = {}
        for name, label in self.labels.items():
            if name in listed:
                by_label.setdefault(label, []).append(name)
        each = ((label, ", ".join(_ranges(found))) for label, found in by_label.items())
        return "; ".join(f"{label} {found}" if label else found for label, found in each)


def _ranges(names: Iterable[str]) -> Iterator[str]:
    """The names as they are listed; those that count up are a range, where the first of them is.

    >>> list(_ranges(["SKU-08", "a.py", "SKU-09", "SKU-10", "SKU-12"]))
    ['SKU-08–SKU-10', 'a.py', 'SKU-12']
    """
    runs: list[list[str]] = []
    newest: dict[str, list[str]] = {}
    for name in names:
        stem = name.rstrip("0123456789")
        run = newest.get(stem)
        if run and _follows(run[-1][len(stem) :], name[len(stem) :]):
            run.append(name)
        else:
            newest[stem] = run = [name]
            runs.append(run)
    for run in runs:
        if len(run) >= RUN:
            yield f"{_listed(run[0])}–{_listed(run[-1])}"
        else:
            yield from map(_listed, run)


def _follows(before: str, after: str) -> bool:
    """Whether these digits are the next number, written with as many digits."""
    if not 0 < len(before) <= len(after) <= MAX_DIGITS:
        return False
    return after == str(int(before) + 1).zfill(len(before))


MAX_DIGITS = 18
"""Digits of a number that counts something."""


def _listed(name: str) -> str:
    """A name, in quotes when it contains a separator of the list."""
    return f'"{name}"' if any(sign in name for sign in ",;]") else name


def _tails(names: Iterable[str]) -> set[str]:
    return {name.rpartition("/")[2] for name in names if "/" in name}


def _with_footer(body: str, omitted: str, names: str) -> str:
    footer = f"{GAP} {omitted} not shown" if omitted else ""
    if names:
        footer = f"{footer}; names in them: {names}" if footer else f"also: {names}"
    return "\n".join(filter(None, (body, f"[{footer}]" if footer else "")))


def _share(pieces: Sequence[Piece], chosen: Sequence[int], listed: Sequence[str]) -> float:
    every = {name for piece in pieces for name in piece.names}
    total = sum(piece.score for piece in pieces) + sum(map(weight, sorted(every)))
    names = {name for at in chosen for name in pieces[at].names}.union(listed)
    left = sum(pieces[at].score for at in chosen) + sum(map(weight, sorted(names)))
    return left / total if total else 0.0
