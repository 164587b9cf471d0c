"""Stretches of plain words in → the phrases that may be what they are about: what stands after an article.

`my adoption agency is` names a thing; `adopt a child` and `a great day` do not. By the words alone: English.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from foveal.knowledge import names_listed as listed
from foveal.pipeline.signals import STOP_WORDS

LONGEST_PHRASE = 3
_VERBAL = ("ing", "ed", "ly")
"""How first words end that tell what is done, or how."""


def phrases(prose: Iterable[Sequence[str]]) -> Iterator[tuple[str, ...]]:
    """The phrases of one to three words that may be nouns, the last word in the singular.

    >>> list(phrases([("i", "called", "my", "adoption", "agencies", "on", "a", "great", "day")]))
    [('adoption', 'agency')]
    """
    for stretch in prose:
        start = 0
        for at, word in enumerate((*stretch, "")):
            if word and word not in STOP_WORDS and word not in listed.OPENERS:
                continue
            found = stretch[start:at]
            if (
                start
                and stretch[start - 1] in listed.OPENERS
                and (not word or word in listed.CLOSERS)
                and _is_noun(found)
            ):
                yield (*found[:-1], singular(found[-1]))
            start = at + 1


def _is_noun(words: Sequence[str]) -> bool:
    if not 0 < len(words) <= LONGEST_PHRASE or min(map(len, words)) < 3:
        return False
    if not listed.GENERAL.isdisjoint(words):
        return False
    return not words[0].endswith(_VERBAL) and not words[-1].endswith(("ed", "ly"))


def singular(word: str) -> str:
    """The word without the ending of a plural.

    >>> [singular(word) for word in ("agencies", "classes", "topics", "analysis", "bus")]
    ['agency', 'class', 'topic', 'analysis', 'bus']
    """
    if len(word) > 4 and word.endswith("ies"):
        return f"{word[:-3]}y"
    if word.endswith(("sses", "ches", "shes", "xes")):
        return word[:-2]
    return (
        word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")) else word
    )
