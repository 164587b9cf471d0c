"""Find the identifiers and the content words of a text, and rate how distinctive an identifier is.

Texts are scanned in one pass over maximal runs of characters, so the time is linear on any input.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import islice
from types import MappingProxyType

CACHED = 1 << 13
"""Texts whose words and identifiers are cached."""
MAX_LENGTH = 200
"""Characters; a longer run is data, not an identifier."""
_RUN = re.compile(r"[\w@/\\.:#?&=%+~$-]+(?:(?<=\d),(?=\d)[\w.]+)*")
_QUOTED = re.compile(r"""["'`]([^\s"'`]{2,64})["'`]""")
_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_LINE = re.compile(r"(?::\d{1,9}){1,2}$")
_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
WORD = re.compile(rf"[{_CJK}]|[^\W_{_CJK}]+")
_STOP_WORDS = """
a about after again all also am an and any are as at be because been before but by can could did do does done
for from get had has have he her here him his how i if in into is it its just let like may me more most my no
nor not now of off on once only or other our out over own please s same she should so some such t than that
the their them then there these they this those through to too under up us very was we were what when where
which while who whom why will with would yes you your
"""
STOP_WORDS = frozenset(_STOP_WORDS.split())


def words(text: str) -> list[str]:
    """The words of a text in lower case, without stop words. Identifiers are split into their words.

    >>> words("Where did we put the auth_token?")
    ['put', 'auth', 'token']
    """
    return [word for word in WORD.findall(text.lower()) if word not in STOP_WORDS]


def identifiers(text: str) -> list[str]:
    """Paths, addresses, hashes, numbers, names in code and quoted ids, as often as they occur.

    A path also yields its last part, so that `src/auth.js` and `auth.js` match.

    >>> identifiers("parser.js:45 raised TypeError for user 48151, see https://a.io/x?id=7.")
    ['parser.js', 'TypeError', '48151', 'https://a.io/x?id=7']
    """
    found = [name for run in _RUN.findall(text) if 2 < len(run) <= MAX_LENGTH for name in _names(run)]
    known = set(found)
    quoted = (match[1] for match in _QUOTED.finditer(text))
    return found + [name for name in quoted if name not in known and _coined(name)]


@lru_cache(maxsize=CACHED)
def word_counts(text: str) -> Mapping[str, int]:
    """How often each word occurs; cached, since every build asks for the same texts."""
    return MappingProxyType(Counter(words(text)))


@lru_cache(maxsize=CACHED)
def identifier_counts(text: str) -> Mapping[str, int]:
    """How often each identifier occurs; cached likewise."""
    return MappingProxyType(Counter(identifiers(text)))


@lru_cache(maxsize=1 << 14)
def _names(run: str) -> tuple[str, ...]:
    """The identifiers in one run; cached, since texts repeat their words."""
    return () if run.isalpha() and run[1:].islower() else tuple(_split(run.strip(".:?&=+-")))


def _split(run: str) -> Iterator[str]:
    if "," in run:
        yield from [run.replace(",", "")] if _THOUSANDS.fullmatch(run) else _listed(run)
    elif "://" in run:
        yield run.rstrip("/")
    elif "@" in run:
        yield from _address(run)
    elif "/" in run or "\\" in run:
        yield from _path(_LINE.sub("", run))
    else:
        for piece in _LINE.sub("", run).replace("=", ":").split(":"):
            yield from _name(piece)


def _listed(run: str) -> Iterator[str]:
    for piece in run.split(","):
        yield from _name(piece)


def _address(run: str) -> Iterator[str]:
    name, _, host = run.partition("@")
    if (name and "." in host.strip(".") and "@" not in host) or (not name and host):
        yield run


def _path(run: str) -> Iterator[str]:
    parts = [part for part in run.replace("\\", "/").split("/") if part not in ("", ".", "..")]
    if len(parts) == 2 and "".join(parts).isalpha() and not STOP_WORDS.isdisjoint(parts):
        return  # and/or
    if len(parts) > 1 or (parts and run[0] in "/.~"):
        yield "/".join(parts)
    if len(parts) > 1:
        yield from _name(parts[-1])


def _name(run: str) -> Iterator[str]:
    run = run.strip(".-+#%$&?~")
    if len(run) > 2 and _is_name(run):
        yield run


def _is_name(run: str) -> bool:
    """Is it a number of three or more digits, a hash, a file, or a name as in code?"""
    digits = sum(map(str.isdigit, run))
    if digits >= 3 or (digits and not run.replace(".", "").isdigit()):
        return True
    stem, dot, ending = run.rpartition(".")
    if dot:
        return len(run) > 3 and stem[-1:].isalnum() and ending.isalnum() and len(ending) <= 8
    return "_" in run or (any(map(str.isupper, run[1:])) and any(map(str.islower, run)))


def _coined(name: str) -> bool:
    """A quoted name only has to look unlike a plain word."""
    return any(not char.isalpha() for char in name) and any(map(str.isalnum, name))


MAX_NAMES = 200
"""Names returned for one text: a text with more is a listing, represented by its first names."""
_CODE = re.compile(r"[A-Z]{3}|(?=\d*[A-Z])(?=[A-Z]*\d)[A-Z0-9]{4,12}")
_ID = re.compile(r"[^\WA-Za-z]*+[A-Za-z](?>\w*?-\d{3}|\w*?_\d{3})\w*")
_HASH = re.compile(r"(?=[a-f-]*\d)[0-9a-f-]{7,40}")
_NUMBER = re.compile(r"[\d.,:%$+/-]+s?")
_FILE = re.compile(r"[\w-]+\.[A-Za-z]\w{0,4}")
_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_TIME = re.compile(r"\d{4}-\d\d-\d\d\S+|\d\d:\d\d\S*")
_ADDRESS_IN_MEMORY = re.compile(r"0x[0-9a-f]+")
_WEIGHTS = (
    (_ADDRESS_IN_MEMORY, 0.1),
    (_CODE, 2.0),
    (_DATE, 1.0),
    (_TIME, 0.3),
    (_HASH, 1.5),
    (_ID, 2.0),
    (_NUMBER, 0.5),
    (_FILE, 1.0),
)
_ADDRESS, _PHRASE, _COINED, _PART, _PLAIN_WORD = 1.5, 0.4, 1.0, 0.5, 0.2


def names_in(text: str) -> tuple[str, ...]:
    """The distinct identifiers of a text, spelled as in the text."""
    found = dict.fromkeys(identifiers(text))
    rooted = (f"/{name}" if "/" in name and f"/{name}" in text else name for name in found)
    return tuple(islice((name for name in rooted if name in text), MAX_NAMES))


@lru_cache(maxsize=1 << 14)
def weight(name: str) -> float:
    """How likely a later turn needs the name: ids and codes that cannot be guessed most, plain words least.

    >>> weight("HAT285") > weight("src/auth.js") > weight("parseLine") > weight("1250") > weight("available")
    True
    """
    if any(map(str.isspace, name)):
        return _PHRASE
    for shape, value in _WEIGHTS:
        if shape.fullmatch(name):
            return value
    if "@" in name or "/" in name:
        return _ADDRESS
    if "." in name:
        return _PART
    coined = "_" in name or name[1:].lower() != name[1:] or any(map(str.isdigit, name))
    return _COINED if coined else _PLAIN_WORD
