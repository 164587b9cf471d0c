"""An `Ask` in → its summary without a model: an overview, then what was decided, asked, found and broken.

Sentences as they were written, in their order, the weightiest of them that fit: never more than was asked
for, never as long as the source.

Passages in → the lines that could stand in a summary of them, each with its weight.

A sentence weighs by what it does; who said it is told with it, as reported speech, so that an old request is
not made again. What a tool brought, and what somebody repeats or pastes of it, appears as facts alone.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from foveal.model import Role
from foveal.pipeline.shorten.turn import cut
from foveal.pipeline.signals import identifier_counts, word_counts
from foveal.pipeline.summarize.facts import LOOKED_AT, facts
from foveal.pipeline.summarize.language import (
    asks,
    clipped,
    ends,
    is_open,
    narrates,
    replies,
    sentences,
    tells_a_problem,
    tells_a_result,
    typed,
)
from foveal.pipeline.summarize.records import Overheard, kind_of
from foveal.pipeline.summarize.values import Ask, Passage, Summary

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


Count = Callable[[str], int]
TOPICS = 5
MISFITS = 24
"""Lines too long for what is left, after which no other is tried."""


def extractive(ask: Ask, count: Count) -> Summary:
    """The summary of what is asked for, in at most `ask.tokens` and less than the source."""
    room = min(ask.tokens, sum(count(passage.text) for passage in ask.passages) - 1)
    lines = _lines(ask)
    overview = next((each for each in _overviews(ask.passages, lines) if count(each) <= room // 2), "")
    text = chosen(lines, room, count, overview=overview)
    if not text and room > 0:
        text = _shortest(ask.passages, room, count)
    return Summary(text=text, tokens=count(text) if text else 0)


def _lines(ask: Ask) -> list[Line]:
    if ask.level == 1:
        return list(of_messages(ask.passages))
    below = of_summaries([passage.text for passage in ask.passages])
    # Their overviews count messages, which the new overview does again.
    return [line for line in below if not counts(line.text)]


def digested(texts: Sequence[str], room: int, count: Count, *, known: Collection[str] = ()) -> str:
    """The weightiest lines of several summaries within the room, without sentences that are known already."""
    return chosen([line for line in of_summaries(texts) if line.said not in known], room, count)


def chosen(lines: Sequence[Line], room: int, count: Count, *, overview: str = "") -> str:
    """The overview and the weightiest lines that fit, in their order; of equals the newest."""
    left = room - (count(f"{overview}\n") if overview else 0)
    kept: list[Line] = []
    told: set[str] = set()
    misfits = 0
    for line in sorted(lines, key=lambda line: (-line.weight, -line.place)):
        cost = count(f"{line.text}\n")
        if line.said in told or cost > left:
            misfits += cost > left
            if misfits > MISFITS:
                break
            continue
        told.add(line.said)
        kept.append(line)
        left -= cost
    return _written(kept, room, count, overview)


def _written(kept: list[Line], room: int, count: Count, overview: str) -> str:
    while True:
        lines = [line.text for line in sorted(kept, key=lambda line: line.place)]
        text = "\n".join(filter(None, (overview, *lines)))
        # Lines together can cost a token more than one by one.
        if not text or count(text) <= room:
            return text
        overview = overview if kept else ""
        del kept[-1:]


def _shortest(passages: Sequence[Passage], room: int, count: Count) -> str:
    """For a source too short for an overview: its first words."""
    own = next((typed(passage.text)[0] for passage in passages if passage.role in ("user", "assistant")), "")
    text = clipped(next(iter(sentences(own)), ""), 8 * room)
    short = cut(text, room, count) if text else ""
    return short if short and count(short) <= room else ""


def _overviews(passages: Sequence[Passage], lines: Sequence[Line]) -> Iterator[str]:
    """What there is, the longest form first. No positions: the same content may stand elsewhere."""
    total = sum(last - first + 1 for first, last in {(p.first, p.last) for p in passages})
    many = f"{total:,} message{'' if total == 1 else 's'}"
    about = ", ".join(topics(line.said for line in lines if not line.text.startswith("- tool")))
    if about:
        yield f"{many} about {about}."
    yield f"{many}."


def topics(texts: Iterable[str], most: int = TOPICS) -> list[str]:
    """The words and names that come up most; of several forms of one the most frequent."""
    counts: Counter[str] = Counter()
    for text in texts:
        names = identifier_counts(text)
        counts.update({name: 2 * number for name, number in names.items() if not name.isdigit()})
        inside = {word for name in names for word in word_counts(name)}
        counts.update({w: n for w, n in word_counts(text).items() if len(w) > 3 and w not in inside})
    forms = {
        word.rstrip("s()").lower(): word for word, _ in reversed(counts.most_common()) if len(word) <= 40
    }
    return sorted(forms.values(), key=lambda word: -counts[word])[:most]
