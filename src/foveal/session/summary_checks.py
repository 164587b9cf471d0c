"""A model's summary and what it was asked in → what is wrong with it, in words; empty when it can be used.

A fault has numbers in it and no word of the text. Time is linear in the text and its source.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from foveal.pipeline.compact.facts import directs
from foveal.pipeline.compact.records import Overheard
from foveal.pipeline.compact.sentences import sentences, typed
from foveal.pipeline.compact.values import Ask
from foveal.pipeline.signals import identifier_counts, identifiers

MOST_NAMES = 8
SHARE = 0.8
"""Of the names that only the model or its tools mentioned, so many must be kept; of the user's, all."""
ECHO = 4
"""Words in a row that say where a request comes from."""
SHORTEST = 3
"""Words of a request: two in a row stand everywhere."""

_NO_TEXT = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\U000e0000-\U000e007f]")
_MARKERS = re.compile(
    r"<\|[^|\n]{1,40}\|>|\[/?INST\]|<</?SYS>>"
    r"|</?(?:system|developer|assistant|user|human|tool|instructions?)\b[^>\n]{0,40}>"
    r"|^[^\w\n]{0,8}(?:system|developer)[ \t*]{0,4}:|^(?:human|assistant|user)[ \t]{0,3}:",
    re.IGNORECASE | re.MULTILINE,
)
_OVERRIDES = re.compile(
    r"\b(?:ignore|disregard|forget|override)\b[^.\n]{0,40}\b(?:previous|prior|above|earlier|all|your)\b"
    r"[^.\n]{0,40}\b(?:instructions?|prompts?|rules?|guidelines)\b|\byou are now\b|\bfrom now on,? you\b",
    re.IGNORECASE,
)
_CLAUSE = re.compile(r"[.!?:;,\n—]+(?:\s|$)|\n")
_WORD = re.compile(r"[\w']+")
_REQUESTING = """
act add always answer approve call change click commit contact copy create curl delete disable disregard do
don't download drop email enable enter execute export fetch follow forget forward get give go grant ignore
include insert install invoke keep leak let make must need never now obey open output paste pay please post
pretend print provide publish push read remember remove repeat replace reply respond reveal rm run say send
set share show skip start stop submit sudo tell then transfer treat uninstall update upload use visit wire
write you
"""
REQUESTS = frozenset(_REQUESTING.split())
"""Words that a request begins with."""


def must_keep(ask: Ask, kept: str) -> tuple[str, ...]:
    """The most mentioned identifiers of the source, among those that another summary of it keeps."""
    counts: Counter[str] = Counter()
    for passage in ask.passages:
        counts.update(identifier_counts(passage.text))
    there = set(identifiers(kept))
    return tuple(name for name, _ in counts.most_common() if name in there)[:MOST_NAMES]


def fault_in(text: str, ask: Ask, *, count: Callable[[str], int], names: Sequence[str], mark: str) -> str:
    """The first thing that is wrong, as the rest of a sentence about the summary."""
    if not text.strip():
        return "is blank"
    if _NO_TEXT.search(text):
        return "holds characters that are no text"
    tokens = count(text)
    if tokens > ask.tokens:
        return f"has {tokens:,} tokens; {ask.tokens:,} were asked for"
    if not _smaller(tokens, ask, count):
        return f"is no smaller than its source: it has {tokens:,} tokens"
    return _lacking(text, ask, names) or _commanding(text, ask, mark)


def _smaller(tokens: int, ask: Ask, count: Callable[[str], int]) -> bool:
    """Whether the source has more tokens; it is counted no further than that."""
    source = 0
    for passage in ask.passages:
        source += count(passage.text)
        if source > tokens:
            return True
    return False


def _lacking(text: str, ask: Ask, names: Sequence[str]) -> str:
    there = set(identifiers(text))
    gone = {name for name in names if name not in there and not _stands(name, text)}
    told = {
        name for passage in ask.passages if passage.role == "user" for name in identifier_counts(passage.text)
    }
    others = [name for name in names if name not in told]
    kept = sum(name not in gone for name in others)
    if gone & told or kept < SHARE * len(others):
        return f"lacks {len(gone)} of the {len(names)} names that it must keep"
    return ""


def _stands(name: str, text: str) -> bool:
    """Whether the name is there as a word of its own."""
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) is not None


def _commanding(text: str, ask: Ask, mark: str) -> str:
    if mark in text:
        return "repeats the marks around its source"
    if _MARKERS.search(text):
        return "holds the marks of a chat's roles"
    if _OVERRIDES.search(text):
        return "asks to set instructions aside"
    if orders := _orders(text, ask) or _echoes(text, ask):
        return f"repeats {orders} of the requests in what tools brought"
    return ""


def _echoes(text: str, ask: Ask) -> int:
    """How many sentences direct a reader in words that came from outside and the user never typed."""
    directing = [sentence for sentence in sentences(text) if directs(sentence)]
    if not directing:
        return 0
    heard, known = Overheard(), Overheard()
    own, outside = _voices(ask)
    heard.hear("\n".join(outside))
    known.hear("\n".join(own))
    return sum(heard(sentence) and not known(sentence) for sentence in directing)


def _orders(text: str, ask: Ask) -> int:
    """How many clauses request something in words that came from outside and the user never typed."""
    echoes = [set(_runs(words, min(ECHO, len(words)))) for words in _requests(text)]
    if not echoes:
        return 0
    wanted = set().union(*echoes)
    own, outside = _voices(ask)
    strange = _spoken(outside, wanted) - _spoken(own, wanted)
    return sum(not strange.isdisjoint(echo) for echo in echoes)


def _voices(ask: Ask) -> tuple[list[str], list[str]]:
    """What the user typed, and what tools brought or somebody pasted or repeated."""
    told = [typed(passage.text) for passage in ask.passages if passage.role == "user"]
    brought = [passage.text for passage in ask.passages if passage.role == "tool"]
    brought += [sentence for passage in ask.passages for sentence in passage.outside]
    return [own for own, _ in told], brought + [pasted for _, pasted in told]


def _requests(text: str) -> Iterator[list[str]]:
    """The clauses that begin as requests do, in words."""
    for clause in _CLAUSE.split(text):
        words = _WORD.findall(clause.lower())
        if len(words) >= SHORTEST and words[0] in REQUESTS:
            yield words


def _spoken(texts: Sequence[str], wanted: set[tuple[str, ...]]) -> set[tuple[str, ...]]:
    """Which of the runs of words stand in the texts."""
    lengths = {len(run) for run in wanted}
    found: set[tuple[str, ...]] = set()
    for text in texts:
        words = _WORD.findall(text.lower())
        for length in lengths:
            found |= wanted.intersection(_runs(words, length))
    return found


def _runs(words: Sequence[str], length: int) -> Iterator[tuple[str, ...]]:
    """Every so many words in a row."""
    return zip(*(words[start:] for start in range(length)), strict=False)
