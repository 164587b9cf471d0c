"""Passages in → the lines that could stand in a summary of them, each with its weight.

A sentence weighs by what it does; who said it is told with it, as reported speech, so that an old request is
not made again. What a tool brought, and what somebody repeats or pastes of it, appears as facts alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from foveal.model import Role
from foveal.pipeline.compact.acts import asks, narrates, tells_a_problem, tells_a_result
from foveal.pipeline.compact.facts import LOOKED_AT, facts
from foveal.pipeline.compact.questions import is_open, replies
from foveal.pipeline.compact.records import Overheard, kind_of
from foveal.pipeline.compact.sentences import clipped, ends, sentences, typed
from foveal.pipeline.compact.values import Passage
from foveal.pipeline.signals import identifier_counts

OPEN = "[OPEN] "
SPEAKERS: dict[Role, str] = {"user": "user", "assistant": "model", "tool": "tool", "system": "system"}
VOICED = ("user", "assistant")
DECISION, RULE, QUESTION, PROBLEM, RESULT, REQUEST, OVERVIEW, PLAIN = 10.0, 8.4, 8.0, 6.0, 5.0, 4.0, 2.5, 1.0
"""What a sentence weighs by what it does; each identifier adds half a point, three at most.
A decision outweighs everything else: it is the last to go."""
_BULLET = re.compile(
    r"- (?P<open>\[OPEN\] )?(?:(?P<who>[^:\n]{1,60}) (?:said|asked|printed|pasted): )?(?P<said>.+)"
)
_COUNTED = re.compile(r"\d[\d,]* messages?\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One line that could stand in a summary."""

    place: int
    weight: float
    text: str
    said: str
    """The sentence in it, without who said it."""


def of_messages(passages: Sequence[Passage]) -> Iterator[Line]:
    """What users and models typed, sentence by sentence; of what was brought the facts."""
    heard = Overheard()
    place = 0
    for passage, reply in zip(passages, replies(passages), strict=True):
        who = _who(passage)
        own, brought = typed(ends(passage.text, LOOKED_AT)) if passage.role in VOICED else ("", passage.text)
        if passage.role != "assistant":
            heard.hear(brought)
        repeated = [brought]
        for nth, sentence in enumerate(sentences(own)):
            place += 1
            if heard(sentence) or sentence in passage.outside:
                repeated.append(sentence)
                continue
            # The reply to what was asked last may be the first message behind these.
            unanswered = reply is not None and is_open(sentence, passage.role, reply)
            yield _said(sentence, place, passage.role, who=who, unanswered=unanswered, first=nth == 0)
        if known := facts("\n".join(repeated)):
            place += 1
            verb = "pasted" if own else "printed"
            yield _fact(known, place, f"- {who} {verb}: {known}")


def _who(passage: Passage) -> str:
    speaker = SPEAKERS[passage.role]
    author = " ".join(passage.author.replace(":", " ").split())
    return f"{clipped(author, 40)} ({speaker})" if author and passage.role != "tool" else speaker


def _said(sentence: str, place: int, role: Role, *, who: str, unanswered: bool, first: bool) -> Line:
    said = clipped(sentence)
    weight = QUESTION if unanswered else _weight(said, role)
    weight = max(weight, REQUEST) if first and role == "user" else weight
    verb = "asked" if asks(sentence) else "said"
    text = f"- {OPEN if unanswered else ''}{who} {verb}: {said}"
    return Line(place=place, weight=weight + _named(said), text=text, said=said)


def _named(said: str) -> float:
    return min(3, len(identifier_counts(said))) / 2


def _weight(sentence: str, role: Role) -> float:
    if kind := kind_of(sentence, role):
        return DECISION if kind == "decision" else RULE
    if narrates(sentence) or sentence.count(" ") < 3:
        return PLAIN / 2
    if tells_a_problem(sentence):
        return PROBLEM
    return RESULT if tells_a_result(sentence) else PLAIN


def _fact(known: str, place: int, text: str) -> Line:
    weight = PROBLEM if known.startswith("“") else PLAIN
    return Line(place=place, weight=weight + _named(known), text=text, said=known)


def of_summaries(texts: Sequence[str]) -> Iterator[Line]:
    """The lines of summaries made before, weighed again."""
    lines = (line.strip() for text in texts for line in text.splitlines())
    return (_again(line, place) for place, line in enumerate(filter(None, lines)))


def _again(bare: str, place: int) -> Line:
    """A line of a summary, weighed as the sentence in it was."""
    bullet = _BULLET.fullmatch(bare)
    if bullet is None:
        weight = PLAIN / 2 if counts(bare) else OVERVIEW
        return Line(place=place, weight=weight, text=bare, said=bare)
    who, said = bullet["who"] or "", bullet["said"]
    if who.endswith("tool") or " pasted: " in bare[:90]:
        return _fact(said, place, bare)
    role: Role = "user" if who == "user" or who.endswith("(user)") else "assistant"
    weight = QUESTION if bullet["open"] else _weight(said, role)
    return Line(place=place, weight=weight + _named(said), text=bare, said=said)


def counts(line: str) -> bool:
    """Is it an overview that a summary without a model begins with?"""
    return bool(_COUNTED.match(line))
