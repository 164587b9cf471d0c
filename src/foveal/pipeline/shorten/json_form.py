"""Split JSON into pieces, one per value with its key, and write the kept ones without needless quotes.

Numbers stay as they are spelled. An object or array that lost values says so, an array with its length.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeAlias

from foveal.pipeline.shorten.outline import GAP, PROBLEM, Outline, Piece, failed, split_long
from foveal.pipeline.signals import names_in


class Number(str):
    """A number as it is spelled in the text."""

    __slots__ = ()


Value: TypeAlias = "dict[str, Value] | list[Value] | str | bool | None"

MIN_ROWS = 2
"""An array of at least this many objects with the same keys is written as a table."""
SAME_KEYS = "[the same keys:"
MAX_STRING = 120
"""Characters of a string that is one piece; a longer one is split."""
FIRST, LATER, UNUSUAL = 0.6, 0.1, 1.5
"""The score of a value in the first element of its array (it shows the schema), in a later one, and of one
that mentions a problem or is an outlier among the values under its key."""
OUTLIER = 4.0
"""Times the mean distance from the mean."""
MIN_COLUMN = 8
"""Numbers that a column needs to have outliers."""
HUGE = 1e100
"""Larger numbers are not measurements."""
_PLAIN = re.compile(r"[^\s,;:|{}\[\]\"…](?:[^,;|{}\[\]\"\n…]*[^\s,;:|{}\[\]\"…])?")
_TYPED = re.compile(r"-?\d+(?:\.\d+)?|true|false|null")
_CLOSING = {"{": "}", "[": "]", '"': '"', ":": "]"}


def parse_json(text: str) -> Value:
    """The object or array in the text, or a list of those in its lines; None for any other text."""
    head = text.lstrip()[:1]
    if head not in ("{", "["):
        return None
    value = _loaded(text)
    if value is None and head == "{" and "\n" in text.strip():
        values = [_loaded(line) for line in text.split("\n") if line.strip()]
        value = values if all(values) else None
    return value


def _loaded(text: str) -> Value:
    try:
        value: Value = json.loads(text, parse_int=Number, parse_float=Number, parse_constant=Number)
    except (ValueError, RecursionError):
        return None
    return value if value and isinstance(value, dict | list) else None


def json_outline(text: str) -> Outline:
    """Every value is a piece under its object, array or long string; objects with the same keys are rows."""
    pieces: list[Piece] = []
    waiting: list[tuple[str, Value, int, bool]] = [("", parse_json(text), -1, True)]
    while waiting:
        key, value, parent, first = waiting.pop()
        at = len(pieces)
        if isinstance(value, dict) and value:
            pieces.append(Piece(text=f"{_prefix(key)}{{", parent=parent, units=0, names=names_in(key)))
            waiting += [(str(k), inner, at, first) for k, inner in reversed(value.items())]
        elif isinstance(value, list) and (columns := _columns(value)):
            header = ", ".join(map(_spelled, columns))
            pieces.append(Piece(text=f"{_prefix(key)}[{header}:", score=FIRST, parent=parent, units=0))
            pieces += _rows(value, at)
        elif isinstance(value, list) and value:
            pieces.append(Piece(text=f"{_prefix(key)}[", parent=parent, units=0))
            within = [("", inner, at, first and not nth) for nth, inner in enumerate(value)]
            waiting += reversed(within)
        elif isinstance(value, str) and len(value) > MAX_STRING:
            pieces.append(Piece(text=f'{_prefix(key)}"', parent=parent, units=0))
            pieces += _parts(value, at, first=first)
        else:
            pieces.append(_leaf(key, value, parent, first=first))
    return Outline(pieces=tuple(pieces), unit="values", write=_writer(pieces))


def _columns(values: Sequence[Value]) -> tuple[str, ...]:
    """The keys that all objects of an array share, including those of inner objects; empty if they differ."""
    if len(values) < MIN_ROWS or not all(isinstance(value, dict) for value in values):
        return ()
    cells = [_cells(value) for value in values]
    first = tuple(cells[0])
    return first if first and all(tuple(each) == first for each in cells) else ()


def _cells(value: Value, prefix: str = "") -> dict[str, Value]:
    """The values of an object by key; empty when a value does not fit a table cell."""
    found: dict[str, Value] = {}
    for key, inner in value.items() if isinstance(value, dict) else ():
        if isinstance(inner, dict) and inner and not prefix:
            within = _cells(inner, f"{key}.")
            if not within:
                return {}
            found |= within
        elif isinstance(inner, dict | list) or len(str(inner)) > MAX_STRING:
            return {}
        else:
            found[f"{prefix}{key}"] = inner
    return found


def _rows(values: Sequence[Value], parent: int) -> Iterator[Piece]:
    rows = [_cells(value) for value in values]
    outliers = _outliers(rows)
    for at, cells in enumerate(rows):
        text = " | ".join(_spelled(cell) for cell in cells.values())
        names = [(cell, key) for key, cell in cells.items() if isinstance(cell, str) and len(cell) > 1]
        yield Piece(
            text=text,
            score=(UNUSUAL if at in outliers or PROBLEM.search(text) else LATER) + failed(text),
            parent=parent,
            units=len(cells),
            names=tuple(cell for cell, _ in names),
            labels=tuple(key for _, key in names),
        )


def _outliers(rows: Sequence[Mapping[str, Value]]) -> set[int]:
    """The rows with a number far from the others in its column."""
    found: set[int] = set()
    for key in rows[0] if len(rows) >= MIN_COLUMN else ():
        numbers = {at: float(cell) for at, row in enumerate(rows) if isinstance(cell := row[key], Number)}
        numbers = {at: number for at, number in numbers.items() if abs(number) < HUGE}
        if len(numbers) >= MIN_COLUMN:
            middle = sum(numbers.values()) / len(numbers)
            spread = sum(abs(number - middle) for number in numbers.values()) / len(numbers)
            found |= {at for at, number in numbers.items() if abs(number - middle) > OUTLIER * spread > 0}
    return found


def _leaf(key: str, value: Value, parent: int, *, first: bool) -> Piece:
    text = _spelled(value)
    named = isinstance(value, str) and len(value) > 1
    problem = PROBLEM.search(f"{key} {text}") is not None and value not in (None, False, [], {}, "")
    return Piece(
        text=f"{_prefix(key)}{text}",
        score=(UNUSUAL if problem else FIRST if first else LATER) + failed(f"{key.upper()} {text}" * problem),
        parent=parent,
        names=(value,) if named and isinstance(value, str) else (),
        labels=(key,) if named else (),
    )


def _parts(text: str, parent: int, *, first: bool) -> Iterator[Piece]:
    for part in split_long(text, longest=MAX_STRING):
        score = UNUSUAL if PROBLEM.search(part) else FIRST if first else LATER
        yield Piece(text=part, score=score, parent=parent, names=names_in(part))


def _prefix(key: str) -> str:
    return f"{key if _PLAIN.fullmatch(key) else json.dumps(key, ensure_ascii=False)}: " if key else ""


def _spelled(value: Value) -> str:
    if isinstance(value, Number):
        return value
    if isinstance(value, str) and _PLAIN.fullmatch(value) and not _TYPED.fullmatch(value):
        return value
    return json.dumps(value, ensure_ascii=False)


def _writer(pieces: Sequence[Piece]) -> Callable[[Sequence[Piece], Sequence[int]], str]:
    totals = Counter(piece.parent for piece in pieces)

    def write(pieces: Sequence[Piece], kept: Sequence[int]) -> str:
        inside = Counter(pieces[at].parent for at in kept)
        written: list[str] = []
        opened: list[int] = []
        before, header = -1, ""
        for at in kept:
            parent = pieces[at].parent
            while opened and opened[-1] != parent:
                last = opened.pop()
                written.append(_ending(pieces[last].text[-1], totals[last], inside[last]))
            written.append(_between(pieces, before, at))
            written.append(pieces[at].text if pieces[at].text != header else SAME_KEYS)
            if pieces[at].text.endswith(":"):
                header = pieces[at].text
            if _opens(pieces[at]):
                opened.append(at)
            before = at
        for last in reversed(opened):
            written.append(_ending(pieces[last].text[-1], totals[last], inside[last]))
        return "".join(written)

    return write


def _opens(piece: Piece) -> bool:
    return piece.units == 0


def _between(pieces: Sequence[Piece], before: int, at: int) -> str:
    """Nothing after an opening bracket, a comma between values, a new line before an object in an array."""
    parent = pieces[at].parent
    if parent < 0 or (parent == before and not pieces[parent].text.endswith(":")):
        return ""
    if pieces[parent].text.endswith('"'):
        return "" if at == before + 1 else GAP
    if pieces[parent].text.endswith(":"):
        return "\n"
    return ",\n" if _opens(pieces[at]) else ", "


def _ending(bracket: str, total: int, inside: int) -> str:
    if total == inside:
        return _CLOSING[bracket]
    if bracket in "[:":
        return f", {GAP} {total - inside:,} more of {total:,}]"
    return f"{GAP}{_CLOSING[bracket]}"
