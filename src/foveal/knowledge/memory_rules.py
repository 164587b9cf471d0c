"""Decide whether a sentence about the user can be a memory, and which older memory it replaces. Pure.

Refused are sentences that say nothing, questions, instructions to a model, and what a prompt file already
says. A sentence that says the same in other words, or with another value, replaces the older memory.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING

from foveal.pipeline.summarize.language import sentences
from foveal.pipeline.summarize.rules import supersedes
from foveal.search.terms import terms

if TYPE_CHECKING:
    from foveal.knowledge.values import Origin

LONGEST = 400
"""The most characters of a memory."""
FEWEST = 2
"""The fewest words of a memory."""
RESTATED = 0.9
"""The share of a memory's terms in one sentence of a prompt file from which on the file already says it."""
_WORD = re.compile(r"\w+")
_ORDERS = re.compile(
    r"\b(?:ignore|disregard|forget|override|bypass)\b[^.!?\n]{0,60}\b(?:instructions?|rules?|prompts?|polic(?:y|ies))\b"
    r"|\byou (?:must|should|shall|will|are (?:now|to))\b|\bas an? (?:ai|assistant|language model)\b"
    r"|^[^\S\n]*+(?:system|developer|assistant)\s*:|<\|",
    re.IGNORECASE | re.MULTILINE,
)
"""Text that addresses a model instead of describing a user."""
_GREETING = r"(?:hi|hello|hey|so|well|oh|ok|okay|also|and|but|btw|anyway|yes|yeah|no|sure|thanks)"
_OPENING = rf"(?:{_GREETING}\b[\s,!.]{{1,3}}){{0,2}}"
"""Filler words at the start of a sentence."""
_CORRECTING = r"(?:no|nope|sorry|wait|oops|actually|correction|I (?:meant|mean)(?: to say)?(?: that)?)"
_CORRECTION = re.compile(
    rf"{_OPENING}(?:{_CORRECTING}(?:\s?[,.!:;…]{{1,3}}\s|\s[-–—]\s"
    rf"|\s(?=(?:I|my|call|always|never|{_CORRECTING})\b))|actually\s){{1,4}}",
    re.IGNORECASE,
)
"""`No sugar` is not a correction: the word must stand alone, or before a complete sentence."""


def without_correction(text: str, *, again: bool = False) -> str:
    """Remove the words that mark a sentence as a correction; `again` capitalizes it even if there were none.

    >>> without_correction("No, sorry, my name is Maria."), without_correction("No sugar in my tea.")
    ('My name is Maria.', 'No sugar in my tea.')
    """
    found = _CORRECTION.match(text)
    rest = text[found.end() :] if found else text
    return rest[:1].upper() + rest[1:] if (found or again) and rest.strip() else text


def key_of(text: str) -> str:
    """A hash that is equal for equal words, whatever their case and punctuation.

    >>> key_of("I live in Lyon.") == key_of("i live  in LYON"), key_of("no") == key_of("yes")
    (True, False)
    """
    said = " ".join(_WORD.findall(text.casefold()))
    return sha256(said.encode("utf-8", "surrogatepass")).hexdigest()


def refusal(text: str, origin: Origin = "user") -> str:
    """The reason why a sentence cannot be a memory; empty if it can.

    >>> refusal("Where do I live?"), refusal("I live in Lyon.")
    ('it asks', '')
    """
    if len(text) > LONGEST:
        return f"it has {len(text):,} characters, more than {LONGEST}"
    if len(_WORD.findall(text)) < FEWEST:
        return f"it has fewer than {FEWEST} words"
    if text.rstrip().endswith(("?", "？")):
        return "it asks"
    if origin == "model" and _ORDERS.search(text):
        return "it speaks to a model, not of the user"
    return ""


class Stated:
    """Decides whether prompt files already state a sentence.

    >>> stated = Stated(["You help Maya. She lives in Lyon, France."])
    >>> stated("She lives in Lyon."), stated("She lives in Rome.")
    (True, False)
    """

    def __init__(self, texts: Iterable[str]) -> None:
        self._sentences: dict[str, list[int]] = {}
        """By term, the numbers of the sentences that contain it."""
        for number, sentence in enumerate(each for text in texts for each in sentences(text)):
            for term in set(terms(sentence).all):
                self._sentences.setdefault(term, []).append(number)

    def __call__(self, text: str) -> bool:
        mine = set(terms(text).all)
        shared = Counter(number for term in mine for number in self._sentences.get(term, ()))
        return bool(mine) and max(shared.values(), default=0) >= RESTATED * len(mine)


def older_forms(text: str, others: Sequence[str]) -> list[int]:
    """The indexes of the texts that this one replaces: the same in other words, the opposite, another value.

    >>> older_forms("I live in Rome.", ["I like tea.", "I live in Lyon."])
    [1]
    """
    return [index for index, other in enumerate(others) if supersedes(text, other)]
