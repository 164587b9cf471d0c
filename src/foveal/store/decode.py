"""Refuse stored data that no version of Foveal has written.

Rows become values in `store/sqlite/connection.py`, where every column is checked against the type that its
value is declared with. Data that is stored as JSON is read inside `decoding`. So damage that SQLite itself
does not notice is a `StoreDamagedError` where it is read, and never a surprise later on.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from functools import lru_cache
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from foveal.errors import InputError, StoreDamagedError
from foveal.wire.times import LATEST

T = TypeVar("T")
Check = Callable[[Any], bool]
REMEDY = "run `foveal verify` to see what is damaged, and restore a copy made with `foveal backup`"
MOST = 2**53 - 1
"""The largest integer that is stored; every JSON reader reads it exactly."""


def damaged(what: str) -> StoreDamagedError:
    return StoreDamagedError(f"the store is damaged: {what}", remedy=REMEDY)


@contextmanager
def decoding(what: str) -> Iterator[None]:
    """Raise `StoreDamagedError` for stored data that is not what it should be; the block only decodes."""
    try:
        yield
    except (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError) as error:
        raise damaged(f"{what} cannot be read ({type(error).__name__})") from error
    except InputError as error:
        raise damaged(f"{what} cannot be read: {error.what}") from error


def checked(value: T) -> T:
    """A dataclass made of stored data, if each of its fields has the declared type, at any depth.

    >>> from foveal.store import LoggedEvent
    >>> checked(LoggedEvent(number=1, created_at=0.0, name="a", session="", payload="{}")).number
    1
    >>> checked(LoggedEvent(number=1, created_at=0.0, name=b"a", session="", payload="{}"))
    Traceback (most recent call last):
    foveal.errors.StoreDamagedError: the store is damaged: `name` of a LoggedEvent is an invalid bytes
      try: run `foveal verify` to see what is damaged, and restore a copy made with `foveal backup`
    """
    record: Any = type(value)
    for name, fits in _field_checks(record):
        if not fits(getattr(value, name)):
            kind = type(getattr(value, name)).__name__
            raise damaged(f"`{name}` of a {type(value).__name__} is an invalid {kind}")
    return value


@lru_cache(maxsize=64)
def declared(record: Any) -> Mapping[str, Any]:
    """The declared type of each field."""
    return get_type_hints(record)


@lru_cache(maxsize=64)
def _field_checks(record: Any) -> tuple[tuple[str, Check], ...]:
    hints = declared(record)
    return tuple((each.name, column_check(each.name, hints[each.name])) for each in fields(record))


def column_check(name: str, kind: Any) -> Check:
    """The check of a column or a field: a name that ends in `_at` is of a time, which a calendar can show."""
    fits = check_of(kind)
    if not name.endswith("_at"):
        return fits
    return lambda value: fits(value) and (value is None or abs(value) <= LATEST)


@lru_cache(maxsize=256)
def check_of(kind: Any) -> Check:
    """Whether a value is of a declared type; integers and numbers also of a size that is ever stored."""
    if kind in _PLAIN:
        return _PLAIN[kind]
    if isinstance(kind, type) and is_dataclass(kind):
        return lambda value: (
            isinstance(value, kind) and all(fits(getattr(value, name)) for name, fits in _field_checks(kind))
        )
    found, arguments = get_origin(kind), get_args(kind)
    if found is Literal:
        return lambda value: isinstance(value, str) and value in arguments
    if found in (Union, UnionType):
        any_of = tuple(map(check_of, arguments))
        return lambda value: any(fits(value) for fits in any_of)
    return _collection_check(found, arguments)


def _collection_check(found: Any, arguments: tuple[Any, ...]) -> Check:
    if found is tuple and arguments[1:] != (...,):
        parts = tuple(map(check_of, arguments))
        return lambda value: (
            isinstance(value, tuple)
            and len(value) == len(parts)
            and all(fits(item) for fits, item in zip(parts, value, strict=True))
        )
    if found is tuple or (isinstance(found, type) and issubclass(found, Sequence)):
        one = check_of(arguments[0])
        return lambda value: isinstance(value, list | tuple) and all(map(one, value))
    assert issubclass(found, Mapping)
    key, item = map(check_of, arguments)
    return lambda value: (
        isinstance(value, Mapping) and all(map(key, value)) and all(map(item, value.values()))
    )


def _is_integer(value: object) -> bool:
    return type(value) is int and -MOST <= value <= MOST


def _is_number(value: object) -> bool:
    return type(value) in (int, float) and math.isfinite(value) and abs(value) < 1e15  # type: ignore[arg-type]


_PLAIN: Mapping[Any, Check] = {
    int: _is_integer,
    float: _is_number,
    bool: lambda value: type(value) is bool,
    str: lambda value: type(value) is str,
    bytes: lambda value: type(value) is bytes,
    NoneType: lambda value: value is None,
    object: lambda _: True,
    Any: lambda _: True,
}
