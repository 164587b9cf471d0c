"""Check the arguments of public calls, and turn blocking calls into async ones."""

from __future__ import annotations

import re
from collections.abc import Callable, Coroutine, Iterable, Mapping
from functools import wraps
from pathlib import Path
from typing import Any, ParamSpec, TypeVar, get_args
from unicodedata import category

from foveal import wire
from foveal.errors import InputError
from foveal.model import PRIORITY_MOST, is_priority

T = TypeVar("T")
P = ParamSpec("P")
R = TypeVar("R")
MOST = 2**53 - 1
"""The largest integer that every JSON reader reads exactly and the store can hold."""
MOST_CHARACTERS = 500
"""The longest name of a session, a task or a thing, and the longest id or handle."""
_MESSAGE_NUMBER = re.compile(r"[m#]?([1-9][0-9]{0,8})")
_END = 253_402_300_800
"""Seconds from 1970 to the year 10000, where Python's calendar ends."""


def a_text(value: object, name: str) -> str:
    """Non-blank text."""
    if isinstance(value, str) and value.strip():
        return value
    shown = "empty" if isinstance(value, str) else f"a {type(value).__name__}, not text"
    raise InputError(f"`{name}` is {shown}", remedy=f"pass `{name}` as non-empty text", field=name)


def a_count(value: object, name: str) -> int:
    """An integer above 0."""
    if isinstance(value, int) and not isinstance(value, bool) and value > 0:
        return at_most(value, name)
    raise InputError(
        f"`{name}` is {value!r}, not an integer above 0", remedy=f"make `{name}` 1 or more", field=name
    )


def a_non_negative(value: object, name: str) -> int:
    """An integer of 0 or more."""
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    raise InputError(
        f"`{name}` is {value!r}, not an integer of 0 or more", remedy=f"make `{name}` 0 or more", field=name
    )


def at_most(value: int, name: str) -> int:
    """An integer that the store can hold."""
    if an_integer(value, name) <= MOST:
        return value
    raise InputError(f"`{name}` is above {MOST:,}", remedy=f"make `{name}` smaller", field=name)


def an_integer(value: object, name: str) -> int:
    """Any integer: the code that uses it says if it is too small."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    raise InputError(
        f"`{name}` is {value!r}, not an integer", remedy=f"pass `{name}` as an integer", field=name
    )


def a_duration(value: object, name: str) -> float:
    """Seconds, 0 or more."""
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < _END:  # NaN is not
        return value
    raise InputError(
        f"`{name}` is {value!r}, not a number of seconds",
        remedy=f"pass `{name}` as a number of 0 or more",
        field=name,
    )


def a_time(value: object, name: str) -> float | None:
    """Seconds since 1970, or None."""
    known = isinstance(value, int | float) and not isinstance(value, bool)
    if value is None or (known and 0 <= value < _END):  # type: ignore[operator]  # NaN compares false
        return value  # type: ignore[return-value]
    raise InputError(
        f"`{name}` is {value!r}, not a time",
        remedy=f"pass `{name}` in seconds since 1970, or omit it",
        field=name,
    )


def a_priority(value: object, name: str) -> float | None:
    """The priority of a message, or None."""
    if value is None or is_priority(value):
        return value  # type: ignore[return-value]  # a number
    raise InputError(
        f"`{name}` is {value!r}",
        remedy=f"pass `{name}` as a number from 0 to {PRIORITY_MOST:,}, or omit it",
        field=name,
    )


def a_choice(value: T | None, choices: Any, name: str) -> T | None:
    """One of the values of a `Literal`, or None."""
    known = get_args(choices)
    if value is None or value in known:
        return value
    raise InputError(f"`{name}` is {value!r}", remedy=f"use one of: {', '.join(map(str, known))}", field=name)


def message_number(text: str) -> int | None:
    """The number of a message, counted from 1, in any of its spellings.

    >>> message_number("23"), message_number("m23"), message_number("#23"), message_number("fv-23")
    (23, 23, 23, None)
    """
    found = _MESSAGE_NUMBER.fullmatch(text.strip())
    return int(found[1]) if found else None


def any_text(value: object, name: str) -> str:
    """Text, blank or not: a blank query matches nothing."""
    if not isinstance(value, str):
        raise InputError(f"`{name}` is {value!r}, not text", remedy=f"pass `{name}` as text", field=name)
    return value


def a_list(value: object, name: str) -> tuple[Any, ...]:
    """The items of a list or of anything else that has items, but not the characters of a text."""
    if isinstance(value, Iterable) and not isinstance(value, str | bytes | Mapping):
        return tuple(value)
    raise InputError(
        f"`{name}` is a {type(value).__name__}, not a list", remedy=f"pass `{name}` as a list", field=name
    )


def a_path(value: object, name: str) -> Path:
    """The path of a file or a folder."""
    if isinstance(value, str | Path) and not wire.sendable(str(value))[1]:
        return Path(value)
    raise InputError(
        f"`{name}` is {value!r}, not a path", remedy=f"pass `{name}` as text or as a `Path`", field=name
    )


def a_function(value: T | None, name: str) -> T | None:
    """Something to call, or None."""
    if value is None or callable(value):
        return value
    raise InputError(
        f"`{name}` is a {type(value).__name__}, not a function",
        remedy=f"pass `{name}` as a function, or omit it",
        field=name,
    )


def a_yes_or_no(value: object, name: str) -> bool:
    if isinstance(value, bool):
        return value
    raise InputError(
        f"`{name}` is {value!r}, not true or false", remedy=f"pass `{name}` as True or False", field=name
    )


def an_id(value: object, name: str) -> str:
    """Text that is not long: the name, the id or the handle of something."""
    text = any_text(value, name)
    if len(text) > MOST_CHARACTERS:
        raise InputError(
            f"`{name}` has {len(text):,} characters, more than {MOST_CHARACTERS}",
            remedy=f"pass a shorter `{name}`",
            field=name,
        )
    return text


def a_name(value: object, name: str) -> str:
    """A short, non-blank text that everything can show as it is."""
    return a_line(an_id(a_text(value, name), name), name)


def a_session_name(value: object, name: str) -> str:
    """The name of a new session: a segment of a URL can carry it."""
    text = a_name(value, name)
    if text in (".", "..") or any(category(character) == "Cc" for character in text):
        raise InputError(
            f"`{name}` is {text!r}, which cannot be part of a URL",
            remedy="choose a name other than `.` and `..`, without control characters such as line breaks",
            field=name,
        )
    return text


def a_line(value: object, name: str) -> str:
    """Non-blank text that everything can show as it is."""
    text = a_text(value, name)
    if wire.sendable(text)[1]:
        raise InputError(
            f"{name}: has a NUL character or a lone surrogate", remedy=f"remove it from `{name}`", field=name
        )
    return text


def in_thread(call: Callable[P, R]) -> Callable[P, Coroutine[Any, Any, R]]:
    """The async form of a blocking function, run in a thread: there is no second copy of its code."""

    @wraps(call)
    async def run(*args: P.args, **kwargs: P.kwargs) -> R:
        import asyncio

        return await asyncio.to_thread(call, *args, **kwargs)

    return run
