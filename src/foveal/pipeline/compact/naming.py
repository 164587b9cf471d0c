"""A text in → its names as it spells them; a name in → how likely a later turn needs it, by its spelling."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import islice

from foveal.pipeline.signals import identifiers

MOST = 200
"""Names of one piece: what names more than that is a listing, and its first names stand for it."""
_CODE = re.compile(r"[A-Z]{3}|(?=\d*[A-Z])(?=[A-Z]*\d)[A-Z0-9]{4,12}")
_ID = re.compile(r"\w*[A-Za-z]\w*[_-]\d{3,}\w*")
_HASH = re.compile(r"(?=[a-f-]*\d)[0-9a-f-]{7,40}")
_NUMBER = re.compile(r"[\d.,:%$+/-]+s?")
_FILE = re.compile(r"[\w-]+\.[A-Za-z]\w{0,4}")
_TIME = re.compile(r"\d{4}-\d\d-\d\d\S*|\d\d:\d\d\S*")
_ADDRESS_IN_MEMORY = re.compile(r"0x[0-9a-f]+")
_WEIGHTS = (
    (_ADDRESS_IN_MEMORY, 0.1),
    (_CODE, 2.0),
    (_TIME, 1.0),
    (_HASH, 1.5),
    (_ID, 2.0),
    (_NUMBER, 0.5),
    (_FILE, 1.0),
)
_ADDRESS, _PHRASE, _COINED, _PART, _WORD = 1.5, 0.4, 1.0, 0.5, 0.2


def names_in(text: str) -> tuple[str, ...]:
    """The identifiers of a text, each once and spelled as the text does."""
    found = dict.fromkeys(identifiers(text))
    rooted = (f"/{name}" if "/" in name and f"/{name}" in text else name for name in found)
    return tuple(islice((name for name in rooted if name in text), MOST))


@lru_cache(maxsize=1 << 14)
def weight(name: str) -> float:
    """The most for what nobody can guess, ids and codes; the least for plain words and short numbers.

    >>> weight("HAT285") > weight("src/auth.js") > weight("parseLine") > weight("1250") > weight("available")
    True
    """
    if any(map(str.isspace, name)):
        return _PHRASE
    for shape, each in _WEIGHTS:
        if shape.fullmatch(name):
            return each
    if "@" in name or "/" in name:
        return _ADDRESS
    if "." in name:
        return _PART
    return _COINED if "_" in name or name[1:].lower() != name[1:] or any(map(str.isdigit, name)) else _WORD
