"""A text in → the terms it is found by: stems without the words that say nothing, identifiers whole as well.

Questions and messages are read alike. Linear time on any input.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module

from foveal.pipeline.signals import STOP_WORDS, identifiers, words

LONGEST = 64
"""Characters of a term; what is longer differs in its beginning, or is data."""
_WORD = re.compile(r"[^\W_]+")
_CONTRACTED = frozenset(
    {"d", "didn", "doesn", "don", "hadn", "hasn", "haven", "isn", "ll", "re", "ve", "wasn"}
)
"""What an apostrophe leaves of words that say nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What one text is found by."""

    all: list[str]
    """As often as they occur."""
    names: frozenset[str]
    """Those that are written as names are: with a capital letter, or as a number of three digits and more."""
    coined: frozenset[str]
    """Identifiers that are no plain words: `func_17_3`, `src/auth.js`."""


def terms(text: str) -> Terms:
    """Read one text.

    >>> found = terms("Melanie's kids went hiking near src/auth.js")
    >>> found.all
    ['melani', 'kid', 'went', 'hike', 'near', 'src', 'auth', 'js', 'auth.js', 'src/auth.js']
    >>> sorted(found.names)
    ['melani']
    """
    # A stemmer of one's own: they must not be shared between threads, and cost nothing to make.
    stems: Callable[[list[str]], list[str]] = import_module("Stemmer").Stemmer("english", 0).stemWords
    plain = [word[:LONGEST] for word in words(text) if word not in _CONTRACTED]
    whole = {name.lower() for name in identifiers(text)}.difference(plain)
    named = {word.lower()[:LONGEST] for word in _WORD.findall(text) if _is_name(word)} - STOP_WORDS
    return Terms(
        all=stems(plain) + sorted(whole), names=frozenset(stems(sorted(named))), coined=frozenset(whole)
    )


def _is_name(word: str) -> bool:
    return word[0].isupper() or (len(word) > 2 and word.isdecimal())
