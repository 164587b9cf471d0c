"""Any JSON, for properties: the arguments of calls, and unknown fields.

It is made from one number: to draw it piece by piece took longer than the tests themselves.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

from hypothesis import strategies as st

JSON = dict[str, Any]
_SIGNS = "abcxyz019 .,:;_-/\\'\"{}[]()<>&%$#@!?\n\t\r\x1b\x7fäßé中🙂\u200b\u2028\ufeff"


def _seeded(make: Callable[[Random], Any]) -> st.SearchStrategy[Any]:
    return st.integers(0, 1 << 24).map(lambda seed: make(Random(seed)))


def _word(by: Random, shortest: int = 0) -> str:
    """Mostly what programs stumble over, now and then any letter."""
    signs = (by.choice(_SIGNS) if by.random() < 0.8 else chr(by.randrange(1, 0xD800)) for _ in range(10))
    return "".join(signs)[: by.choice((shortest, 1, 2, 5, 10))]


def _value(by: Random, depth: int = 2) -> Any:
    match by.randrange(4) if depth else 3:
        case 0:
            return [_value(by, depth - 1) for _ in range(by.randrange(4))]
        case 1:
            return _object(by, depth - 1)
        case _:
            scalars = (None, True, False, 0, -1, 2**53, -(2**53), by.randrange(10**6), _word(by), _word(by))
            return by.choice(scalars)


def _object(by: Random, depth: int = 2) -> JSON:
    return {_word(by, 1).strip() or "key": _value(by, depth) for _ in range(by.randrange(4))}


values = _seeded(_value)
objects = _seeded(_object)
