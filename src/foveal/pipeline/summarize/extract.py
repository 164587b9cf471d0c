"""Summarize messages without a model: an overview, then what was decided, asked, found and broken.

A summary consists of sentences as they were written, in order, the weightiest that fit; it never exceeds the
tokens asked for, nor the length of its source. A sentence weighs by what it does. Sentences are reported with
their speaker, so that an old request is not carried out again; of tool output, and of what the user or the
model repeats or pastes of it, only facts appear.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from foveal.model import Role
from foveal.pipeline.shorten.turn import cut_middle
from foveal.pipeline.signals import identifier_counts, word_counts
from foveal.pipeline.summarize.facts import LOOKED_AT, call_facts, facts
from foveal.pipeline.summarize.language import (
    asks,
    clipped,
    head_and_tail,
    is_unanswered,
    narrates,
    replies,
    reports_problem,
    reports_result,
    sentences,
    split_pasted,
)
from foveal.pipeline.summarize.notes import OPEN_MARK
from foveal.pipeline.summarize.records import RUN, EchoDetector, record_kind
from foveal.pipeline.summarize.values import Ask, Passage, Summary

Count = Callable[[str], int]
TOPICS = 5
OVERVIEW_NAMES = 3
MISFITS = 24
"""Lines too long for the room that is left, after which no other is tried."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A candidate line of a summary."""

    position: int
    weight: float
    text: str
    sentence: str
    """Without its speaker."""


def extractive_summary(ask: Ask, count: Count) -> Summary:
    """The summary that is asked for, in at most `ask.tokens` and shorter than the source; none of an arc."""
    if ask.form == "arc":
        return Summary(text="", tokens=0)
    room = min(ask.tokens, sum(count(passage.text) for passage in ask.passages) - 1)
    lines = _lines(ask)
    overview = next((each for each in _overviews(ask.passages, lines) if count(each) <= room // 2), "")
    text = choose_lines(lines, room, count, overview=overview)
    if not text and room > 0:
        text = _shortest(ask.passages, room, count)
    return Summary(text=text, tokens=count(text) if text else 0)


def _lines(ask: Ask) -> list[Line]:
    if ask.level == 1:
        return list(lines_of_messages(ask.passages))
    below = lines_of_summaries([passage.text for passage in ask.passages])
    # The new overview counts the messages again.
    return [line for line in below if not is_overview(line.text)]


def _shortest(passages: Sequence[Passage], room: int, count: Count) -> str:
    """The first words of a source too short for an overview."""
    own = next(
        (split_pasted(passage.text)[0] for passage in passages if passage.role in ("user", "assistant")), ""
    )
    text = clipped(next(iter(sentences(own)), ""), 8 * room)
    short = cut_middle(text, room, count) if text else ""
    return short if short and count(short) <= room else ""


def _overviews(passages: Sequence[Passage], lines: Sequence[Line]) -> Iterator[str]:
    """The overview, where the topics are names: words alone say little.

    It names no positions, since the same content may occur elsewhere.
    """
    total = sum(last - first + 1 for first, last in {(p.first, p.last) for p in passages})
    many = f"{total:,} message{'' if total == 1 else 's'}"
    said = (line.sentence for line in lines if not line.text.startswith(("- tool", "- model called")))
    if about := _frequent_names(said):
        yield f"{many} about {', '.join(about)}."


def _frequent_names(texts: Iterable[str]) -> list[str]:
    counts: Counter[str] = Counter()
    for text in texts:
        counts.update({name: n for name, n in identifier_counts(text).items() if not name.isdigit()})
    return [name for name, _ in counts.most_common(OVERVIEW_NAMES) if len(name) <= 40]


def topics(texts: Iterable[str], most: int = TOPICS) -> list[str]:
    """The most frequent words and names, each in its most frequent form."""
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


def condense_summaries(texts: Sequence[str], room: int, count: Count, *, known: Collection[str] = ()) -> str:
    """The weightiest lines of several summaries within the room, without the `known` sentences."""
    return choose_lines(
        [line for line in lines_of_summaries(texts) if line.sentence not in known], room, count
    )


def choose_lines(lines: Sequence[Line], room: int, count: Count, *, overview: str = "") -> str:
    """The overview and the weightiest lines that fit, in order; of equals the newest."""
    left = room - (count(f"{overview}\n") if overview else 0)
    kept: list[Line] = []
    seen: set[str] = set()
    misfits = 0
    for line in sorted(lines, key=lambda line: (-line.weight, -line.position)):
        cost = count(f"{line.text}\n")
        if line.sentence in seen or cost > left:
            misfits += cost > left
            if misfits > MISFITS:
                break
            continue
        seen.add(line.sentence)
        kept.append(line)
        left -= cost
    return _written(kept, room, count, overview)


def _written(kept: list[Line], room: int, count: Count, overview: str) -> str:
    while True:
        lines = [line.text for line in sorted(kept, key=lambda line: line.position)]
        text = "\n".join(filter(None, (overview, *lines)))
        # Lines together can cost a token more than one by one.
        if not text or count(text) <= room:
            return text
        overview = overview if kept else ""
        del kept[-1:]


SPEAKERS: dict[Role, str] = {"user": "user", "assistant": "model", "tool": "tool", "system": "system"}
DECISION, RULE, QUESTION, PROBLEM, RESULT, REQUEST, OVERVIEW, PLAIN = 10.0, 8.4, 8.0, 6.0, 5.0, 4.0, 2.5, 1.0
"""The weight of a sentence by what it does; each identifier adds half a point, three at most.
A decision outweighs everything else, so it is the last to go."""
_FACT_VERBS: dict[Role, str] = {
    "user": "pasted",
    "assistant": "quoted",
    "tool": "printed",
    "system": "printed",
}
"""How the facts of text from outside came into a message."""
_CALL = "- model called "
_BULLET = re.compile(
    r"- (?P<open>\[OPEN\] )?"
    r"(?:(?P<who>[^:\n]{1,60}) (?P<verb>said|asked|printed|pasted|quoted): )?(?P<said>.+)"
)
_OVERVIEW = re.compile(r"\d[\d,]* messages?\b")


def lines_of_messages(passages: Sequence[Passage]) -> Iterator[Line]:
    """The sentences that users and models typed, and the facts of tool output and pasted text."""
    is_echo = EchoDetector()
    position = 0
    for passage, reply in zip(passages, replies(passages), strict=True):
        if passage.called:
            is_echo.add(passage.text)
            position += 1
            yield _call_line(passage, position)
            continue
        who = _speaker(passage)
        own, foreign = "", passage.text
        if passage.role in ("user", "assistant"):
            own, foreign = split_pasted(head_and_tail(passage.text, LOOKED_AT))
        if passage.role != "assistant":
            is_echo.add(foreign)
        facts_in = [foreign]
        for nth, sentence in enumerate(sentences(own)):
            position += 1
            if is_echo(_continued(sentence, passage, foreign)) or sentence in passage.outside:
                facts_in.append(sentence)
                continue
            # The last question may be answered by the message after these passages.
            unanswered = reply is not None and is_unanswered(sentence, passage.role, reply)
            yield _sentence_line(
                sentence, position, passage.role, who=who, unanswered=unanswered, first=nth == 0
            )
        if known := facts("\n".join(facts_in)):
            position += 1
            yield _fact_line(known, position, f"- {who} {_FACT_VERBS[passage.role]}: {known}")


def _continued(sentence: str, passage: Passage, foreign: str) -> str:
    """The sentence; what the model says before a colon, with the words after it: both may be a quotation."""
    if passage.role == "assistant" and sentence.endswith(":"):
        return " ".join((sentence, *foreign[: 40 * RUN].split()[: RUN - 1]))
    return sentence


def _speaker(passage: Passage) -> str:
    speaker = SPEAKERS[passage.role]
    author = " ".join(passage.author.replace(":", " ").split())
    return f"{clipped(author, 40)} ({speaker})" if author and passage.role != "tool" else speaker


def _sentence_line(
    sentence: str, position: int, role: Role, *, who: str, unanswered: bool, first: bool
) -> Line:
    said = clipped(sentence)
    weight = QUESTION if unanswered else _weight(said, role)
    weight = max(weight, REQUEST) if first and role == "user" else weight
    verb = "asked" if asks(sentence) else "said"
    text = f"- {OPEN_MARK if unanswered else ''}{who} {verb}: {said}"
    return Line(position=position, weight=weight + _name_weight(said), text=text, sentence=said)


def _name_weight(said: str) -> float:
    return min(3, len(identifier_counts(said))) / 2


def _weight(sentence: str, role: Role) -> float:
    if kind := record_kind(sentence, role):
        return DECISION if kind == "decision" else RULE
    if narrates(sentence) or sentence.count(" ") < 3:
        return PLAIN / 2
    if reports_problem(sentence):
        return PROBLEM
    return RESULT if reports_result(sentence) else PLAIN


def _call_line(passage: Passage, position: int) -> Line:
    arguments = passage.text.removeprefix(f"{passage.called}(").removesuffix(")")
    said = call_facts(passage.called, arguments)
    return Line(position=position, weight=_call_weight(said), text=f"{_CALL}{said}", sentence=said)


def _call_weight(said: str) -> float:
    return PLAIN + _name_weight(said) if ": " in said else PLAIN / 2


def _fact_line(known: str, position: int, text: str) -> Line:
    return Line(position=position, weight=_fact_weight(known), text=text, sentence=known)


def _fact_weight(known: str) -> float:
    return (PROBLEM if known.startswith("“") else PLAIN) + _name_weight(known)


def lines_of_summaries(texts: Sequence[str]) -> Iterator[Line]:
    """The lines of earlier summaries, weighed again."""
    lines = (line.strip() for text in texts for line in text.splitlines())
    return (_weighed(line, position) for position, line in enumerate(filter(None, lines)))


def _weighed(bare: str, position: int) -> Line:
    """A line of a summary with the weight of its sentence."""
    weight, said = _weight_of_line(bare)
    return Line(position=position, weight=weight, text=bare, sentence=said)


@lru_cache(maxsize=1 << 14)
def _weight_of_line(bare: str) -> tuple[float, str]:
    """The weight of a summary's line, and its sentence: every build reads the same summaries again."""
    if bare.startswith(_CALL):
        said = bare.removeprefix(_CALL)
        return _call_weight(said), said
    bullet = _BULLET.fullmatch(bare)
    if bullet is None:
        return (PLAIN / 2 if is_overview(bare) else OVERVIEW), bare
    who, said = bullet["who"] or "", bullet["said"]
    if bullet["verb"] in ("printed", "pasted", "quoted"):
        return _fact_weight(said), said
    role: Role = "user" if who == "user" or who.endswith("(user)") else "assistant"
    return (QUESTION if bullet["open"] else _weight(said, role)) + _name_weight(said), said


def is_overview(line: str) -> bool:
    """Is this the overview that an extractive summary begins with?"""
    return bool(_OVERVIEW.match(line))
