"""JSON text in → its values with their keys as pieces; those kept are written with no quotes nobody needs.

Numbers stay spelled as they came. An object or array that lost values says so, an array with how many it had.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeAlias

from foveal.pipeline.shorten.outline import GAP, PROBLEM, Outline, Piece, split_long
from foveal.pipeline.signals import names_in


class Number(str):
    """A number as it is spelled in the text."""

    __slots__ = ()


Value: TypeAlias = "dict[str, Value] | list[Value] | str | bool | None"

ROWS = 2
"""Alike objects in an array from which on it is written as a table: every key once."""
SAME = "[the same keys:"
LONG = 120
"""Characters of a string that is one piece; a longer one is taken apart."""
FIRST, LATER, TROUBLED = 0.6, 0.1, 1.5
"""What a value is worth in itself: in the first element of its array (it shows the schema), in a later one,
and when it speaks of trouble or lies far from the other values under its key."""
FAR = 4.0
"""Times the mean distance from the mean."""
MANY = 8
"""Numbers of a column from which on one can be far from the others."""
HUGE = 1e100
"""A number that is no measure of anything."""
_PLAIN = re.compile(r"[^\s,;:|{}\[\]\"…](?:[^,;|{}\[\]\"\n…]*[^\s,;:|{}\[\]\"…])?")
_TYPED = re.compile(r"-?\d+(?:\.\d+)?|true|false|null")
_CLOSING = {"{": "}", "[": "]", '"': '"', ":": "]"}


def parse_json(text: str) -> Value:
    """The object or array that the text is, or its lines are one each; None for anything else."""
    head = text.lstrip()[:1]
    if head not in ("{", "["):
        return None
    whole = _loaded(text)
    if whole is None and head == "{" and "\n" in text.strip():
        values = [_loaded(line) for line in text.split("\n") if line.strip()]
        whole = values if all(values) else None
    return whole


def _loaded(text: str) -> Value:
    try:
        value: Value = json.loads(text, parse_int=Number, parse_float=Number, parse_constant=Number)
    except (ValueError, RecursionError):
        return None
    return value if value and isinstance(value, dict | list) else None


def json_outline(text: str) -> Outline:
    """Every value a piece under its object, array or long string; alike objects in an array are rows."""
    pieces: list[Piece] = []
    waiting: list[tuple[str, Value, int, bool]] = [("", parse_json(text), -1, True)]
    while waiting:
        key, value, under, first = waiting.pop()
        place = len(pieces)
        if isinstance(value, dict) and value:
            pieces.append(Piece(text=f"{_prefix(key)}{{", under=under, units=0, names=names_in(key)))
            waiting += [(str(k), inner, place, first) for k, inner in reversed(value.items())]
        elif isinstance(value, list) and (columns := columns_of(value)):
            header = ", ".join(map(_spelled, columns))
            pieces.append(Piece(text=f"{_prefix(key)}[{header}:", worth=FIRST, under=under, units=0))
            pieces += _rows(value, place)
        elif isinstance(value, list) and value:
            pieces.append(Piece(text=f"{_prefix(key)}[", under=under, units=0))
            within = [("", inner, place, first and not at) for at, inner in enumerate(value)]
            waiting += reversed(within)
        elif isinstance(value, str) and len(value) > LONG:
            pieces.append(Piece(text=f'{_prefix(key)}"', under=under, units=0))
            pieces += _parts(value, place, first=first)
        else:
            pieces.append(_leaf(key, value, under, first=first))
    return Outline(pieces=tuple(pieces), unit="values", write=_writer(pieces))


def columns_of(values: Sequence[Value]) -> tuple[str, ...]:
    """The keys that all objects of an array have, inner ones with theirs; empty if they differ."""
    if len(values) < ROWS or not all(isinstance(value, dict) for value in values):
        return ()
    cells = [_cells(value) for value in values]
    first = tuple(cells[0])
    return first if first and all(tuple(each) == first for each in cells) else ()


def _cells(value: Value, prefix: str = "") -> dict[str, Value]:
    """The values of an object by key; empty when it holds what no cell does."""
    found: dict[str, Value] = {}
    for key, inner in value.items() if isinstance(value, dict) else ():
        if isinstance(inner, dict) and inner and not prefix:
            within = _cells(inner, f"{key}.")
            if not within:
                return {}
            found |= within
        elif isinstance(inner, dict | list) or len(str(inner)) > LONG:
            return {}
        else:
            found[f"{prefix}{key}"] = inner
    return found


def _rows(values: Sequence[Value], under: int) -> Iterator[Piece]:
    rows = [_cells(value) for value in values]
    far = _far(rows)
    for place, cells in enumerate(rows):
        text = " | ".join(_spelled(cell) for cell in cells.values())
        told = [(cell, key) for key, cell in cells.items() if isinstance(cell, str) and len(cell) > 1]
        yield Piece(
            text=text,
            worth=TROUBLED if place in far or PROBLEM.search(text) else LATER,
            under=under,
            units=len(cells),
            names=tuple(cell for cell, _ in told),
            labels=tuple(key for _, key in told),
        )


def _far(rows: Sequence[Mapping[str, Value]]) -> set[int]:
    """The rows with a number far from the others of its column."""
    found: set[int] = set()
    for key in rows[0] if len(rows) >= MANY else ():
        numbers = {at: float(cell) for at, row in enumerate(rows) if isinstance(cell := row[key], Number)}
        numbers = {at: number for at, number in numbers.items() if abs(number) < HUGE}
        if len(numbers) >= MANY:
            middle = sum(numbers.values()) / len(numbers)
            spread = sum(abs(number - middle) for number in numbers.values()) / len(numbers)
            found |= {at for at, number in numbers.items() if abs(number - middle) > FAR * spread > 0}
    return found


def _leaf(key: str, value: Value, under: int, *, first: bool) -> Piece:
    text = _spelled(value)
    told = isinstance(value, str) and len(value) > 1
    trouble = PROBLEM.search(f"{key} {text}") is not None and value not in (None, False, [], {}, "")
    return Piece(
        text=f"{_prefix(key)}{text}",
        worth=TROUBLED if trouble else FIRST if first else LATER,
        under=under,
        names=(value,) if told and isinstance(value, str) else (),
        labels=(key,) if told else (),
    )


def _parts(text: str, under: int, *, first: bool) -> Iterator[Piece]:
    for part in split_long(text, longest=LONG):
        trouble = PROBLEM.search(part) is not None
        worth = TROUBLED if trouble else FIRST if first else LATER
        yield Piece(text=part, worth=worth, under=under, names=names_in(part))


def _prefix(key: str) -> str:
    return f"{key if _PLAIN.fullmatch(key) else json.dumps(key, ensure_ascii=False)}: " if key else ""


def _spelled(value: Value) -> str:
    if isinstance(value, Number):
        return value
    if isinstance(value, str) and _PLAIN.fullmatch(value) and not _TYPED.fullmatch(value):
        return value
    return json.dumps(value, ensure_ascii=False)


def _writer(pieces: Sequence[Piece]) -> Callable[[Sequence[Piece], Sequence[int]], str]:
    totals = Counter(piece.under for piece in pieces)

    def write(pieces: Sequence[Piece], kept: Sequence[int]) -> str:
        inside = Counter(pieces[place].under for place in kept)
        written: list[str] = []
        opened: list[int] = []
        before, header = -1, ""
        for place in kept:
            under = pieces[place].under
            while opened and opened[-1] != under:
                last = opened.pop()
                written.append(_ending(pieces[last].text[-1], totals[last], inside[last]))
            written.append(_between(pieces, before, place))
            written.append(pieces[place].text if pieces[place].text != header else SAME)
            if pieces[place].text.endswith(":"):
                header = pieces[place].text
            if _opens(pieces[place]):
                opened.append(place)
            before = place
        for last in reversed(opened):
            written.append(_ending(pieces[last].text[-1], totals[last], inside[last]))
        return "".join(written)

    return write


def _opens(piece: Piece) -> bool:
    return piece.units == 0


def _between(pieces: Sequence[Piece], before: int, place: int) -> str:
    """Nothing after an opening bracket, a comma between values, a new line before an object in an array."""
    under = pieces[place].under
    if under < 0 or (under == before and not pieces[under].text.endswith(":")):
        return ""
    if pieces[under].text.endswith('"'):
        return "" if place == before + 1 else GAP
    if pieces[under].text.endswith(":"):
        return "\n"
    return ",\n" if _opens(pieces[place]) else ", "


def _ending(bracket: str, total: int, inside: int) -> str:
    if total == inside:
        return _CLOSING[bracket]
    if bracket in "[:":
        return f", {GAP} {total - inside:,} more of {total:,}]"
    return f"{GAP}{_CLOSING[bracket]}"
