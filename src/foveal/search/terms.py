"""Split a text into search terms: stems without stop words, and whole identifiers.

Questions and messages are split alike. Time is linear in the text, whatever it contains.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module

from foveal.pipeline.signals import STOP_WORDS, identifiers, words

LONGEST = 64
"""Characters of a term; longer ones differ in their beginning, or are data."""
_WORD = re.compile(r"[^\W_]+")
_CONTRACTED = frozenset(
    {"d", "didn", "doesn", "don", "hadn", "hasn", "haven", "isn", "ll", "re", "ve", "wasn"}
)
"""What an apostrophe leaves of contracted stop words."""

LONGEST_QUESTION = 400
"""Characters of a question; a longer one says something too."""
SAME = 0.75
"""The share of a question's terms that a query must have to ask the same."""
_ASKS = re.compile(
    r"""(?:(?:and|but|so|ok|okay|hey|hi|sorry|again|wait|please|well)\b[\s,]*){0,3}
    (?:who|whose|what|when|where|which|why|how|did|do|does|is|are|was|were|can|could|should|would|will
    |has|have|had|remind[ ]me|tell[ ]me)\b
    (?:[^.!?\n]|[.](?=\w))*\?*""",
    re.IGNORECASE | re.VERBOSE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """The terms of one text."""

    all: list[str]
    """With repetitions."""
    names: frozenset[str]
    """Terms written like names: with a capital letter, or as a number of three or more digits."""
    coined: frozenset[str]
    """Identifiers that are not plain words: `func_17_3`, `src/auth.js`."""


def terms(text: str) -> Terms:
    """Split one text.

    >>> found = terms("Melanie's kids went hiking near src/auth.js")
    >>> found.all
    ['melani', 'kid', 'went', 'hike', 'near', 'src', 'auth', 'js', 'auth.js', 'src/auth.js']
    >>> sorted(found.names)
    ['melani']
    """
    # A new stemmer each time: they are not thread-safe, and cost nothing to create.
    stems: Callable[[list[str]], list[str]] = import_module("Stemmer").Stemmer("english", 0).stemWords
    plain = [word[:LONGEST] for word in words(text) if word not in _CONTRACTED]
    whole = {name.lower() for name in identifiers(text)}.difference(plain)
    named = {word.lower()[:LONGEST] for word in _WORD.findall(text) if _is_name(word)} - STOP_WORDS
    return Terms(
        all=stems(plain) + sorted(whole), names=frozenset(stems(sorted(named))), coined=frozenset(whole)
    )


def asks(text: str) -> bool:
    """Whether a text is one question and nothing else.

    >>> [asks(text) for text in ("Where did we decide on JWT?", "We use JWT, ok?", "Why? It is fast.")]
    [True, False, False]
    """
    return len(text) <= LONGEST_QUESTION and _ASKS.fullmatch(text.strip()) is not None


def repeats(question: frozenset[str], query: frozenset[str]) -> bool:
    """Whether the terms of a question are mostly those of the query."""
    return len(question & query) >= SAME * len(question)


def _is_name(word: str) -> bool:
    return word[0].isupper() or (len(word) > 2 and word.isdecimal())
