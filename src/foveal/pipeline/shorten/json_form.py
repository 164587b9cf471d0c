"""Split JSON into pieces, one per value with its key, and write the kept ones in lines without braces.

The plain values of an object come before what is nested in it, and those of the outermost object are kept
first: they tell how a call ended. Numbers stay as they are spelled. An object or array that lost values says
so, with how many it had.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Literal, NamedTuple, TypeAlias

from foveal.pipeline.shorten.json_lines import identifying_key
from foveal.pipeline.shorten.outliers import outliers
from foveal.pipeline.shorten.outline import (
    BULK,
    GAP,
    MAX_PIECE,
    PROBLEM,
    Outline,
    Piece,
    end_score,
    failed,
    split_long,
)
from foveal.pipeline.signals import names_in


class Number(str):
    """A number as it is spelled in the text."""

    __slots__ = ()


Value: TypeAlias = "dict[str, Value] | list[Value] | str | bool | None"

MIN_ROWS = 2
"""An array of at least this many objects with the same keys is written as a table."""
SAME_KEYS = "the same keys"
WIDE = 120
"""Characters of a line after which no further value is added, and of an object that is written in one."""
SHORT = 30
"""Characters that a line may have more if no further value follows."""
DEEPEST = 8
"""Levels of indentation."""
MAX_STRING = 120
"""Characters of a string that is one piece; a longer one is split."""
OUTERMOST, FIRST, LATER, UNUSUAL = 5.0, 0.6, 0.1, 1.5
"""The score of a value in the outermost object, in the first element of its array (it shows the schema), in a
later one, and of one that mentions a problem or is an outlier among the values under its key."""
IN_TEXT = 0.3
"""Factor on the score of a part of a long string in one of many elements: short values come first."""
MAX_CELL_VALUES = 40
"""Elements of an array that is a table cell."""
OUTCOME = 2.0
"""Factor on the score of a value whose key says how a call ended."""
_PLAIN = re.compile(r"[^\s,;:|{}\[\]\"…](?:[^,;|{}\[\]\"\n…]*[^\s,;:|{}\[\]\"…])?")
_OUTCOME = re.compile(r"(?:.{0,40}_)?(?:status|state|outcome|result|success|ok)", re.IGNORECASE)
_TYPED = re.compile(r"-?\d+(?:\.\d+)?|true|false|null")
Kind = Literal["value", "values", "text", "object", "rows", "list"]
"""How a piece is written: a value, an array of plain values or a long string after its key; an object; an
array of objects with the same keys; any other array."""
_RANK: Mapping[Kind, int] = {"value": 0, "values": 1, "text": 1, "object": 2, "rows": 2, "list": 2}
"""Their order in an object: what is written in one line comes first."""


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


class _Place(NamedTuple):
    """A value that is still to be split, and where it is."""

    key: str
    value: Value
    parent: int
    score: float
    bulk: bool = False
    """Whether it is in one of many elements of an array."""
    identifies: bool = False
    """Whether it is the value that identifies such an element."""


def json_outline(text: str) -> Outline:
    """Every value is a piece under its object, array or long string; objects with the same keys are rows."""
    pieces: list[Piece] = []
    kinds: list[Kind] = []
    headers: dict[int, str] = {}
    waiting = [_Place("", parse_json(text), -1, OUTERMOST)]
    while waiting:
        place = waiting.pop()
        only = _only_object(place.value)
        if only:
            score = place.score if place.parent < 0 else min(place.score, FIRST)
            place = place._replace(value=only, score=score)
        value, at = place.value, len(pieces)
        element = place.parent >= 0 and kinds[place.parent] == "list" and isinstance(value, dict)
        cells = _short_object(value) if element else {}
        kind: Kind = "value" if cells else _kind(value)
        identity = identifying_key(value) if element and isinstance(value, dict) else ""
        if cells:
            pieces.append(_object_in_line(cells, identity, place))
        elif kind == "value":
            pieces.append(_leaf(place))
        else:
            index = "[0]" if only else ""
            pieces.append(_container(place, kind, index, identity=at + 1 if identity else -1))
        if isinstance(value, dict) and kind == "object":
            waiting += reversed(_members(value, at, place, first=identity))
        elif isinstance(value, list) and kind == "rows":
            headers[at] = " | ".join(map(_key, _columns(value)))
            pieces += _rows(value, at)
        elif isinstance(value, list) and kind != "value":
            waiting += reversed(_elements(value, at, place))
        elif kind == "text":
            pieces += _parts(str(value), at, place)
        kinds.append(kind)
        kinds += repeat("value", len(pieces) - len(kinds))
    return Outline(pieces=tuple(pieces), unit="values", write=_writer(pieces, kinds, headers))


def _members(values: Mapping[str, Value], at: int, place: _Place, *, first: str) -> list[_Place]:
    """The values of an object: the identifying one first, then those written in one line."""
    nested = place.score if len(values) == 1 else min(place.score, FIRST)
    kinds = {key: _kind(value) for key, value in values.items()}
    return [
        _Place(
            key=str(key),
            value=values[key],
            parent=at,
            score=place.score if kinds[key] == "value" else nested,
            bulk=place.bulk,
            identifies=key == first,
        )
        for key in sorted(values, key=lambda key: (key != first, _RANK[kinds[key]]))
    ]


def _elements(values: Sequence[Value], at: int, place: _Place) -> list[_Place]:
    """The values of an array. An object that is unusual passes its score on to all of its plain values."""
    inner = min(place.score, FIRST)
    if not any(isinstance(value, dict) for value in values):
        rest = inner if place.bulk and len(values) <= BULK else LATER
        scores = [inner, *repeat(rest, len(values) - 1)]
        return [_Place("", value, at, score, place.bulk) for value, score in zip(values, scores, strict=True)]
    bulk = place.bulk or len(values) > BULK
    unusual = outliers([_plain(value) for value in values])
    found = []
    for nth, value in enumerate(values):
        usual = inner * end_score(nth, len(values)) if bulk else LATER if nth else inner
        trouble = _trouble(value) if isinstance(value, dict) else 0.0
        score = max(usual, trouble, _stands_out(unusual.get(nth, 0)))
        found.append(_Place("", value, at, score, bulk))
    return found


def _plain(value: Value) -> dict[str, str]:
    """The short values of an object, by key."""
    items = value.items() if isinstance(value, dict) else ()
    return {key: _spelled(each) for key, each in items if _kind(each) == "value"}


def _trouble(values: Mapping[str, Value]) -> float:
    """What an object scores for the problems that its own values mention."""
    return max((_problem(key, value) for key, value in values.items() if isinstance(value, str)), default=0.0)


def _problem(key: str, value: Value) -> float:
    """What a plain value scores for mentioning a problem."""
    text = _spelled(value)
    if value in (None, False, [], {}, "") or not PROBLEM.search(f"{key} {text}"):
        return 0.0
    return UNUSUAL + failed(f"{key.upper()} {text}")


def _stands_out(alike: int) -> float:
    """What an element scores that is unlike the others, of which `alike` are so in the same way."""
    return UNUSUAL * (1 + 1 / alike) if alike else 0.0


def _only_object(value: Value) -> Value:
    """The object that is the only element of an array: it is written as an object, with its index."""
    return value[0] if isinstance(value, list) and len(value) == 1 and isinstance(value[0], dict) else None


def _kind(value: Value) -> Kind:
    if isinstance(value, dict) and value:
        return "object"
    if isinstance(value, list) and value:
        if any(isinstance(each, dict | list) or len(str(each)) > MAX_STRING for each in value):
            return "rows" if _columns(value) else "list"
        return "values"
    return "text" if isinstance(value, str) and len(value) > MAX_STRING else "value"


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
        elif not _fits_cell(inner):
            return {}
        else:
            found[f"{prefix}{key}"] = inner
    return found


def _fits_cell(value: Value) -> bool:
    if isinstance(value, list):
        plain = len(value) <= MAX_CELL_VALUES and not any(isinstance(each, dict | list) for each in value)
        return plain and len(_spelled(value)) <= MAX_STRING
    return not isinstance(value, dict) and len(str(value)) <= MAX_STRING


def _rows(values: Sequence[Value], parent: int) -> Iterator[Piece]:
    rows = [_cells(value) for value in values]
    unusual = outliers([{key: _spelled(cell) for key, cell in row.items()} for row in rows])
    bulk = len(rows) > BULK
    identity = identifying_key(rows[0])
    for at, cells in enumerate(rows):
        text = f"[{' | '.join(map(_spelled, cells.values()))}]"
        words = text.replace("_", " ")
        usual = FIRST * end_score(at, len(rows)) if bulk else LATER
        trouble = max(_stands_out(unusual.get(at, 0)), UNUSUAL if PROBLEM.search(words) else 0.0)
        named = _named_cells(cells, identity, bulk=bulk)
        yield Piece(
            text=text,
            score=max(usual, trouble) + failed(words),
            parent=parent,
            units=len(cells),
            names=tuple(named.values()),
            labels=tuple(named),
            bulk=bulk,
        )


def _named_cells(cells: Mapping[str, Value], identity: str, *, bulk: bool) -> dict[str, str]:
    """The cells that are names: of many elements the ids, not the amounts and texts."""
    return {
        key: cell
        for key, cell in cells.items()
        if isinstance(cell, str) and len(cell) > 1 and (key == identity or not bulk or _is_word(cell))
    }


def _is_word(text: str) -> bool:
    return not isinstance(text, Number) and not any(map(str.isspace, text))


def _short_object(value: Value) -> dict[str, Value]:
    """The values of an object that is written in one line; empty for any other value."""
    cells = _cells(value)
    return (
        cells if sum(len(key) + len(_spelled(cell)) + 4 for key, cell in cells.items()) <= MAX_PIECE else {}
    )


def _object_in_line(cells: Mapping[str, Value], first: str, place: _Place) -> Piece:
    """An element of an array with all of its values, the identifying one first."""
    keys = sorted(cells, key=lambda key: key != first)
    named = _named_cells(cells, first, bulk=place.bulk)
    return Piece(
        text=", ".join(f"{_key(key)}: {_spelled(cells[key])}" for key in keys),
        score=place.score,
        parent=place.parent,
        units=len(cells),
        names=tuple(named.values()),
        labels=tuple(named),
        bulk=place.bulk,
    )


def _container(place: _Place, kind: Kind, index: str, *, identity: int) -> Piece:
    return Piece(
        text=f"{_key(place.key)}{index}" if place.key else "",
        score=FIRST if kind == "rows" else 0.0,
        parent=place.parent,
        units=0,
        names=names_in(place.key) if kind == "object" else (),
        identity=identity,
    )


def _leaf(place: _Place) -> Piece:
    key, value, text = place.key, place.value, _spelled(place.value)
    named = _named_cells({key: value}, key if place.identifies else "", bulk=place.bulk)
    outcome = OUTCOME if _OUTCOME.fullmatch(key) and not place.bulk else 1
    return Piece(
        text=f"{_key(key)}: {text}" if key else text,
        score=max(place.score * outcome, _problem(key, value)),
        parent=place.parent,
        names=tuple(named.values()),
        labels=tuple(named),
        bulk=place.bulk,
    )


def _parts(text: str, parent: int, place: _Place) -> Iterator[Piece]:
    score = min(place.score, FIRST) * (IN_TEXT if place.bulk else 1)
    for part in split_long(text, longest=MAX_STRING):
        yield Piece(
            text=part,
            score=max(score, UNUSUAL * (PROBLEM.search(part) is not None)),
            parent=parent,
            names=names_in(part),
            bulk=place.bulk,
        )


def _key(key: str) -> str:
    return key if _PLAIN.fullmatch(key) else json.dumps(key, ensure_ascii=False)


def _spelled(value: Value) -> str:
    if isinstance(value, Number):
        return value
    if isinstance(value, str) and _PLAIN.fullmatch(value) and not _TYPED.fullmatch(value):
        return value
    return json.dumps(value, ensure_ascii=False)


def _writer(
    pieces: Sequence[Piece], kinds: Sequence[Kind], headers: Mapping[int, str]
) -> Callable[[Sequence[Piece], Sequence[int]], str]:
    totals = Counter(piece.parent for piece in pieces)

    def write(pieces: Sequence[Piece], kept: Sequence[int]) -> str:
        inside: dict[int, list[int]] = {}
        for at in kept:
            inside.setdefault(pieces[at].parent, []).append(at)
        found = _Kept(pieces=pieces, kinds=kinds, headers=headers, totals=totals, inside=inside)
        return "\n".join(found.lines()) if kept else ""

    return write


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kept:
    """The kept pieces, and how many there were."""

    pieces: Sequence[Piece]
    kinds: Sequence[Kind]
    headers: Mapping[int, str]
    totals: Mapping[int, int]
    inside: Mapping[int, Sequence[int]]

    def lines(self) -> Iterator[str]:
        header = ""
        waiting = [(0, "")]
        while waiting:
            at, indent = waiting.pop()
            element = self.pieces[at].parent >= 0 and self.kinds[self.pieces[at].parent] == "list"
            begin = f"{indent}- " if element else indent
            deeper = f"{indent}  "[: 2 * DEEPEST]
            children = self.inside.get(at, ())
            if self._is_plain(at):
                yield f"{begin}{self._pair(at)}"
            elif self.kinds[at] == "object":
                yield from self._object(at, begin, deeper)
                nested = (each for each in reversed(children) if not self._is_plain(each))
                waiting += [(each, deeper if at else indent) for each in nested]
            elif self.kinds[at] == "rows":
                again = header == self.headers[at] and len(header) > len(SAME_KEYS)
                header = self.headers[at]
                yield f"{begin}{self._head(at)} [{SAME_KEYS if again else header}]"
                yield from (f"{indent}{self.pieces[each].text}" for each in children)
            else:
                yield f"{begin}{self._head(at, 'elements')}"
                waiting += [(each, deeper if at else indent) for each in reversed(children)]

    def _is_plain(self, at: int) -> bool:
        """Whether it is written after its key, in a line with others."""
        return _RANK[self.kinds[at]] < _RANK["object"] or (
            self.kinds[at] == "object" and at not in self.inside
        )

    def _pair(self, at: int) -> str:
        text, kind, children = self.pieces[at].text, self.kinds[at], self.inside.get(at, ())
        if kind == "value":
            return text
        lost = self.totals[at] - len(children)
        parts = [self.pieces[each].text for each in children]
        if kind == "values":
            more = [f"{GAP} {lost:,} more of {self.totals[at]:,}"] if lost else []
            value = f"[{', '.join([*parts, *more])}]"
        elif kind == "text":
            value = f'"{"".join(self._with_gaps(at, children))}"'
        else:
            value = GAP
        return f"{text}: {value}" if text else value

    def _with_gaps(self, at: int, children: Sequence[int]) -> Iterator[str]:
        """The kept parts of a long string."""
        before = at
        for each in children:
            yield (GAP if each != before + 1 else "") + self.pieces[each].text
            before = each
        if before != at + self.totals[at]:
            yield GAP

    def _object(self, at: int, begin: str, deeper: str) -> Iterator[str]:
        """An object's key and its plain values, in one line if they are short."""
        pairs = [self._pair(each) for each in self.inside.get(at, ()) if self._is_plain(each)]
        key, lost = self.pieces[at].text, self.totals[at] > len(self.inside.get(at, ()))
        if key:
            inner = ", ".join(pairs) + f" {GAP}" * lost
            if pairs and len(inner) <= WIDE:
                yield f"{begin}{key} ({inner})"
                return
            yield f"{begin}{self._head(at, 'keys')}"
            yield from (f"{deeper}{line}" for line in _wrapped(pairs))
        elif pairs:
            first, *others = _wrapped(pairs, f" {GAP}" if lost else "")
            yield f"{begin}{first}"
            yield from (f"{deeper if at else begin}{line}" for line in others)
        elif at or lost:
            yield f"{begin}{self._head(at, 'keys')}"

    def _head(self, at: int, noun: str = "") -> str:
        """The key of an object or array with how many values it has, and how many are shown."""
        key, total, shown = self.pieces[at].text, self.totals[at], len(self.inside.get(at, ()))
        noun = noun or ("" if key else "elements")
        many = f"{total:,}" if shown == total else f"{shown:,} of {total:,}"
        many += f" {noun.removesuffix('s') if total == 1 else noun}" if noun else ""
        many += " shown" if shown != total else ""
        return f"{key} ({many})" if key else many


def _wrapped(pairs: Sequence[str], end: str = "") -> list[str]:
    """Pairs in lines of about the same width; no short one is left for the last line."""
    lines: list[str] = []
    for left, pair in zip(range(len(pairs), 0, -1), pairs, strict=True):
        most = WIDE + SHORT if left == 1 else WIDE
        if lines and len(lines[-1]) + len(pair) <= most:
            lines[-1] += f", {pair}"
        else:
            lines.append(pair)
    return [*lines[:-1], *(f"{line}{end}" for line in lines[-1:])]
