"""What a caller gave in → the same, or an `InputError` that names the argument."""

from __future__ import annotations

from typing import Any, TypeVar, get_args

from foveal.errors import InputError

T = TypeVar("T")


def a_text(value: object, name: str) -> str:
    """Text with something in it."""
    if isinstance(value, str) and value.strip():
        return value
    shown = "empty" if isinstance(value, str) else f"a {type(value).__name__}, not text"
    raise InputError(f"`{name}` is {shown}", remedy=f"give `{name}` as text with something in it")


def a_count(value: object, name: str) -> int:
    """A whole number above zero."""
    if isinstance(value, int) and not isinstance(value, bool) and value > 0:
        return value
    raise InputError(
        f"`{name}` is {value!r}, not a whole number above 0", remedy=f"give `{name}` as an int, 1 or more"
    )


def a_choice(value: T | None, choices: Any, name: str) -> T | None:
    """One of the words of a `Literal`, or nothing."""
    known = get_args(choices)
    if value is None or value in known:
        return value
    raise InputError(f"`{name}` is {value!r}", remedy=f"use one of: {', '.join(map(str, known))}")


def some_words(value: object, name: str) -> str:
    """Text, be it empty: a question of no words has an answer of no messages."""
    if not isinstance(value, str):
        raise InputError(f"`{name}` is {value!r}, not text", remedy=f"give `{name}` as text")
    return value
