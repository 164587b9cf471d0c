"""Write the values of a JSON text as lines that can be read alone, each value after its key.

The plain values of an object come first, together, then what is nested in it. An element of a list begins a
line with the value that identifies it; further lines of it, and those of a nested object, repeat the name of
the element and the keys that lead there.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from foveal.pipeline.shorten.outline import GAP

WIDE = 90
"""Characters of a line after which no further value is added, but for a short one that is the last."""
SHORT = 40
"""Characters of a value that may name the object it is in."""
DEEP = 3
"""Of the keys that lead to an object, how many are repeated: those nearest to it."""
WORDS = 3
"""Words of a line that can be read alone; a shorter one is joined with the next."""
_WORD = re.compile(r"\w+")
_IDS = (
    re.compile(r"id|uuid|guid|key|sku", re.IGNORECASE),
    re.compile(r".{0,40}_(?:id|uuid|guid|key|sku)|.{1,40}(?-i:Id)", re.IGNORECASE),
    re.compile(r"(?:.{0,40}_)?(?:number|code|path)", re.IGNORECASE),
)
"""The keys of ids, the best first."""
_NAMES = (re.compile(r"name|title", re.IGNORECASE), re.compile(r".{0,40}_(?:name|title)", re.IGNORECASE))


@dataclass(frozen=True, slots=True, kw_only=True)
class JsonLine:
    """A line of keys and values."""

    text: str
    element: str = ""
    """The name it repeats: that of the list's element that an earlier line began."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    """A value that is still to be written, and how its lines begin."""

    value: object
    keys: tuple[str, ...] = ()
    """Those that lead to it from the element it is in, or from the outermost object."""
    element: str = ""
    begins: bool = False
    """Whether it is itself an element of a list."""

    @property
    def label(self) -> str:
        keys = " ".join(map(_brief, self.keys[-DEEP:]))
        return f"{keys} of {self.element}: " if keys and self.element else f"{keys}: " if keys else ""


def json_lines(text: str) -> Iterator[JsonLine]:
    """The lines of a JSON text; none if it is not JSON."""
    try:
        document = json.loads(text, parse_int=str, parse_float=str, parse_constant=str)
    except (ValueError, RecursionError):
        return iter(())
    return _joined(_lines(document))


def _lines(document: object) -> Iterator[JsonLine]:
    waiting = [_Place(value=document)]
    while waiting:
        place = waiting.pop()
        value = place.value
        if isinstance(value, dict):
            key = identifying_key(value) if place.begins else ""
            yield from _object_lines(place, key)
            inner = replace(place, keys=() if key else place.keys, begins=False)
            inner = replace(inner, element=_written(value[key])) if key else inner
            nested = [
                replace(inner, value=each, keys=(*inner.keys[-DEEP:], name))
                for name, each in value.items()
                if _is_nested(each)
            ]
            waiting += reversed(nested)
        elif isinstance(value, list) and _is_nested(value):
            waiting += [replace(place, value=each, begins=True) for each in reversed(value)]
        else:
            for pair in _pairs("", value):
                yield JsonLine(text=f"{place.label}{pair}", element=place.element)


def _is_nested(value: object) -> bool:
    if isinstance(value, list):
        return any(isinstance(each, dict | list) for each in value)
    return isinstance(value, dict) and bool(value)


def identifying_key(element: Mapping[str, object]) -> str:
    """The key of the value that identifies an element: an id before a name, else its first short value."""
    short = [
        key
        for key, value in element.items()
        if isinstance(value, str) and 0 < len(value) <= SHORT and not value.isspace()
    ]
    for shape in (*_IDS, *_NAMES):
        if found := next(filter(shape.fullmatch, short), ""):
            return found
    return short[0] if short else ""


def _object_lines(place: _Place, key: str) -> Iterator[JsonLine]:
    """The plain values of an object, the identifying one first and long ones last."""
    values = place.value if isinstance(place.value, dict) else {}
    order = [key, *(each for each in values if each != key)] if key else values
    last = place.keys[-1:]
    plain = [
        list(_pairs(each, values[each]))
        for each in order
        if not _is_nested(values[each]) and (values[each],) != last  # the id that is its key as well
    ]
    plain.sort(key=lambda pairs: len(pairs[0]) > WIDE)
    label, element = place.label, place.element
    if not element and any(shape.fullmatch(key) for shape in _IDS):
        label = ""  # the key of an id says what it is the id of
    for line in _packed([pair for pairs in plain for pair in pairs]):
        yield JsonLine(text=f"{label}{line}", element=element)
        if key:
            element = _written(values[key])
            label = f"{_brief(key)} {element}: "


def _pairs(key: str, value: object) -> Iterator[str]:
    """A key with its value; with each part of a long list."""
    if not isinstance(value, list) or not value:
        yield f"{_written(key)} {_written(value)}".strip()
        return
    part = ""
    for each in map(_written, value):
        if len(part) > WIDE:
            yield part
            part = ""
        part = f"{part}, {each}" if part else f"{_written(key)} {each}".strip()
    yield part


def _packed(pairs: Sequence[str]) -> Iterator[str]:
    """As many pairs in a line as are short enough."""
    line = ""
    for left, pair in zip(range(len(pairs), 0, -1), pairs, strict=True):
        full = len(line) > WIDE and (left > 1 or len(pair) > SHORT)
        if line and (full or len(pair) > WIDE):
            yield line
            line = ""
        line = f"{line}; {pair}" if line else pair
    if line:
        yield line


def _joined(lines: Iterable[JsonLine]) -> Iterator[JsonLine]:
    """Join a line of one or two words with the next."""
    pending = ""
    for line in lines:
        text = f"{pending}; {line.text}" if pending else line.text
        pending = ""
        if len(text) <= WIDE and len(_WORD.findall(text)) < WORDS:
            pending = text
        else:
            yield replace(line, text=text)
    if pending:
        yield JsonLine(text=pending)


def _written(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value)
    return " ".join(text.split())


def _brief(key: str) -> str:
    """A key that is repeated: of a long one the beginning."""
    key = _written(key)
    return key if len(key) <= SHORT else f"{key[:SHORT]}{GAP}"
