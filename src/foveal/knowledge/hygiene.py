"""A sentence about the user in → why it is no memory, or which memory it is a newer form of. Pure.

Kept out: what says nothing, what asks, what orders, what a prompt file says already. What was said before in
other words, or with another value, replaces the older memory: nothing is kept twice.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING

from foveal.pipeline.summarize.language import sentences
from foveal.search.terms import terms

if TYPE_CHECKING:
    from foveal.knowledge.values import Origin

LONGEST = 400
"""Characters of a memory."""
FEWEST = 2
"""Words of one."""
SAME = 0.75
"""Share of the terms of two memories that they have in common when they say the same."""
RESTATED = 0.9
"""Share of a memory's terms that stand in one sentence of a prompt file when that says it already."""
_WORD = re.compile(r"\w+")
_ORDERS = re.compile(
    r"\b(?:ignore|disregard|forget|override|bypass)\b[^.!?\n]{0,60}\b(?:instructions?|rules?|prompts?|polic(?:y|ies))\b"
    r"|\byou (?:must|should|shall|will|are (?:now|to))\b|\bas an? (?:ai|assistant|language model)\b"
    r"|^\s*(?:system|developer|assistant)\s*:|<\|",
    re.IGNORECASE | re.MULTILINE,
)
"""What speaks to a model rather than of a user."""
_GREETING = r"(?:hi|hello|hey|so|well|oh|ok|okay|also|and|but|btw|anyway|yes|yeah|no|sure|thanks)"
OPENING = rf"(?:{_GREETING}\b[\s,!.]{{1,3}}){{0,2}}"
"""What may stand before a sentence, and says nothing."""
_CORRECTING = r"(?:no|nope|sorry|wait|oops|actually|correction|I (?:meant|mean)(?: to say)?(?: that)?)"
_CORRECTION = re.compile(
    rf"{OPENING}(?:{_CORRECTING}(?:\s?[,.!:;…]{{1,3}}\s|\s[-–—]\s"
    rf"|\s(?=(?:I|my|call|always|never|{_CORRECTING})\b))|actually\s){{1,4}}",
    re.IGNORECASE,
)
"""`No sugar` is none: the word stands by itself, or before what can only be a sentence."""
_NOW = r"(?:(?:now|currently|just|recently)[ ])?"
_AM = r"i(?:'m|[ ]am)[ ]"
_JOB = (
    r"(?:developer|designer|teacher|lawyer|programmer|researcher|consultant|accountant|nurse|doctor|professor"
    r"|analyst|architect|chef|driver|farmer|engineer|scientist|dentist|pharmacist|journalist|plumber)"
)
_SINGLE = re.compile(
    rf"""{OPENING}(?:
    (?P<name>my[ ]name(?:'s|[ ]is)|{_AM}(?:called|named))
    | (?P<home>{_AM}{_NOW}(?:based|located|living)[ ]in|i[ ]{_NOW}(?:(?:live|reside)[ ]in|moved[ ]to))
    | (?P<job>(?:{_AM}|i[ ]{_NOW}work[ ]as[ ])an?[ ](?:[\w-]{{1,20}}[ ]){{0,3}}{_JOB}
        |my[ ](?:job|profession)[ ]is)
    | (?P<employer>i[ ]{_NOW}work[ ](?:at|for))
    | (?P<called>(?:please[ ])?call[ ]me)
    | my[ ](?P<own>(?:full|first|last|middle)[ ]name|e-?mail|time[ ]?zone|phone|address|birthday|age
        |job[ ]title|pronouns|username|handle|(?:native[ ]|first[ ])?language|favou?rite[ ][\w-]{{2,20}})
        (?:[ ]address|[ ]number)?[ ](?:is|are)
    )\b""",
    re.IGNORECASE | re.VERBOSE,
)
"""What has one value at a time: a new one takes the place of the old."""
_LEANS = re.compile(r"\b(?:prefer|like|love|hate|dislike|enjoy|can't stand|always|never)\b", re.IGNORECASE)
_COMPARES = re.compile(r"\bprefer (?!to\b)[^.!?]{1,80}\b(?:over|to|rather than|instead of)\b", re.IGNORECASE)


def uncorrected(text: str, *, again: bool = False) -> str:
    """A sentence without the words that say it corrects another; `again`: it begins anew, whatever was cut.

    >>> uncorrected("No, sorry, my name is Maria."), uncorrected("No sugar in my tea.")
    ('My name is Maria.', 'No sugar in my tea.')
    """
    found = _CORRECTION.match(text)
    rest = text[found.end() :] if found else text
    return rest[:1].upper() + rest[1:] if (found or again) and rest.strip() else text


def key_of(text: str) -> str:
    """Equal for equal words, whatever their case and punctuation; it does not tell which.

    >>> key_of("I live in Lyon.") == key_of("i live  in LYON"), key_of("no") == key_of("yes")
    (True, False)
    """
    said = " ".join(_WORD.findall(text.casefold()))
    return sha256(said.encode("utf-8", "surrogatepass")).hexdigest()


def junk(text: str, origin: Origin = "user") -> str:
    """Why a sentence is no memory, in words; empty if it may be one.

    >>> junk("Where do I live?"), junk("I live in Lyon.")
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
    """Says whether prompt files state a sentence already.

    >>> stated = Stated(["You help Maya. She lives in Lyon, France."])
    >>> stated("She lives in Lyon."), stated("She lives in Rome.")
    (True, False)
    """

    def __init__(self, texts: Iterable[str]) -> None:
        self._places: dict[str, list[int]] = {}
        for place, sentence in enumerate(each for text in texts for each in sentences(text)):
            for term in set(terms(sentence).all):
                self._places.setdefault(term, []).append(place)

    def __call__(self, text: str) -> bool:
        mine = set(terms(text).all)
        shared = Counter(place for term in mine for place in self._places.get(term, ()))
        return bool(mine) and max(shared.values(), default=0) >= RESTATED * len(mine)


def older_form(text: str, others: Sequence[str]) -> int | None:
    """The place of the text that this one says anew: nearly its words, another value for the same, or
    another liking of the same things.

    >>> older_form("I live in Rome.", ["I like tea.", "I live in Lyon."])
    1
    >>> older_form("I like very strong tea.", ["I like coffee.", "I like strong tea"])
    1
    """
    slot, mine = _slot(text), set(terms(text).all)
    for place, other in enumerate(others):
        theirs = set(terms(other).all)
        if (slot and slot == _slot(other)) or len(mine & theirs) >= SAME * len(mine | theirs):
            return place
        if _likes_otherwise(text, other):
            return place
    return None


def _slot(text: str) -> str:
    found = _SINGLE.match(" ".join(text.replace("’", "'").split()))
    if not found:
        return ""
    return found["own"].casefold() if found["own"] else found.lastgroup or ""


def _likes_otherwise(text: str, other: str) -> bool:
    """Do both tell a liking of the same things? Of those that are weighed in one, the other may name some."""
    mine, theirs = _liked(text), _liked(other)
    if not mine or not theirs or mine == theirs:
        return bool(mine) and mine == theirs
    wider, fewer = (text, other) if theirs < mine else (other, text)
    some = theirs < mine or mine < theirs
    return some and bool(_COMPARES.search(wider)) and "prefer" in fewer.casefold()


def _liked(text: str) -> frozenset[str]:
    plain, leans = _LEANS.subn(" ", text.replace("’", "'"))
    return frozenset(terms(plain).all) if leans else frozenset()
