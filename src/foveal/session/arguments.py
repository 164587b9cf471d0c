"""What a caller gave in → the same, or an `InputError` that names the argument.

A blocking call in → the same call for async callers, off the event loop. There is no second copy.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any, ParamSpec, TypeVar, get_args

from foveal import wire
from foveal.errors import InputError

T = TypeVar("T")
MOST = 2**53 - 1
"""The largest whole number: every reader of JSON holds it exactly, and a store takes it."""
_END = 253_402_300_800
"""Seconds to the year 10000, where calendars end."""


def a_text(value: object, name: str) -> str:
    """Text with something in it."""
    if isinstance(value, str) and value.strip():
        return value
    shown = "empty" if isinstance(value, str) else f"a {type(value).__name__}, not text"
    raise InputError(f"`{name}` is {shown}", remedy=f"give `{name}` as text with something in it", field=name)


def a_count(value: object, name: str) -> int:
    """A whole number above zero."""
    if isinstance(value, int) and not isinstance(value, bool) and value > 0:
        return at_most(value, name)
    raise InputError(
        f"`{name}` is {value!r}, not a whole number above 0", remedy=f"make `{name}` 1 or more", field=name
    )


def a_number(value: object, name: str) -> int:
    """A whole number, 0 included."""
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    raise InputError(
        f"`{name}` is {value!r}, not a whole number of 0 or more", remedy=f"correct `{name}`", field=name
    )


def at_most(value: int, name: str) -> int:
    """A whole number that a store can hold."""
    if value <= MOST:
        return value
    raise InputError(f"`{name}` is above {MOST:,}", remedy=f"make `{name}` smaller", field=name)


def a_whole_number(value: object, name: str) -> int:
    """Of any size: what is too small for its use is said where it is used."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    raise InputError(
        f"`{name}` is {value!r}, not a whole number", remedy=f"make `{name}` a whole number", field=name
    )


def a_moment(value: object, name: str) -> float | None:
    """Seconds since 1970, or nothing."""
    known = isinstance(value, int | float) and not isinstance(value, bool)
    if value is None or (known and 0 <= value < _END):  # type: ignore[operator]  # not-a-number is not below
        return value  # type: ignore[return-value]
    raise InputError(
        f"`{name}` is {value!r}, not a moment",
        remedy=f"give `{name}` in seconds since 1970, or leave it out",
        field=name,
    )


def a_choice(value: T | None, choices: Any, name: str) -> T | None:
    """One of the words of a `Literal`, or nothing."""
    known = get_args(choices)
    if value is None or value in known:
        return value
    raise InputError(f"`{name}` is {value!r}", remedy=f"use one of: {', '.join(map(str, known))}", field=name)


def some_words(value: object, name: str) -> str:
    """Text, be it empty: a question of no words has an answer of no messages."""
    if not isinstance(value, str):
        raise InputError(f"`{name}` is {value!r}, not text", remedy=f"give `{name}` as text", field=name)
    return value


def a_name(value: object, name: str) -> str:
    """Text with something in it that can be stored."""
    text = a_text(value, name)
    wire.to_json(text, name)
    return text


P = ParamSpec("P")
R = TypeVar("R")


def in_thread(call: Callable[P, R]) -> Callable[P, Coroutine[Any, Any, R]]:
    """The async form of a function that may wait for a disk."""

    @wraps(call)
    async def run(*args: P.args, **kwargs: P.kwargs) -> R:
        import asyncio

        return await asyncio.to_thread(call, *args, **kwargs)

    return run
