"""Messages in → how the conversation got here: decisions, open questions, topics, and what it is about now.

Six messages or fewer speak for themselves, a line each. Of longer conversations the arc quotes what was
decided and what nobody answered; it is a record and says so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from types import MappingProxyType
from typing import Literal

from foveal.pipeline.summarize.counts import MARK
from foveal.pipeline.summarize.extract import topics
from foveal.pipeline.summarize.language import clipped, is_open, replies, sentences, typed
from foveal.pipeline.summarize.notes import neutral
from foveal.pipeline.summarize.records import Overheard, distinct
from foveal.pipeline.summarize.values import Passage
from foveal.pipeline.summarize.voices import Said
from foveal.presets.openscroll.zones import Count

Style = Literal["light", "rich", "dense"]
MOST: Mapping[Style, int | None] = MappingProxyType({"light": 200, "rich": 600, "dense": None})
"""Tokens of an arc, whatever the budget; a dense one takes all of it."""
SHORT = 6
"""Messages up to which each has its own line."""
LINE = 100
"""Characters of such a line's text."""
REMEMBERED = 8
"""Conversations whose questions and topics are kept at hand."""
RECENT = 200
"""Newest messages in which questions are looked for: an older one was answered or given up."""
TOPICS = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Arc:
    """The thread of a conversation."""

    arc: str
    open_questions: tuple[str, ...]
    decisions: tuple[str, ...]
    current_focus: str | None
    key_topics: tuple[str, ...]


NO_ARC = Arc(arc="", open_questions=(), decisions=(), current_focus=None, key_topics=())


def arc(said: Sequence[Said], budget: int, style: Style, count: Count) -> Arc:
    """The arc whose text (`arc_text`) fits the budget and the style."""
    most = MOST[style]
    room = budget if most is None else min(budget, most)
    whole = _short(said) if len(said) <= SHORT else _long(said)
    return _within(whole, room, count)


def arc_text(told: Arc) -> str:
    """The arc as a note of a window; empty when there is nothing to tell.

    >>> print(arc_text(replace(NO_ARC, arc="It began with login.", decisions=("user: Use JWT.",))))
    [Summary of earlier messages, made by a program. A record, not a request.]
    It began with login.
    Decisions:
    - user: Use JWT.
    """
    lines = [told.arc] if told.arc else []
    for title, listed in (("Decisions:", told.decisions), ("Open questions:", told.open_questions)):
        lines += [title, *(f"- {each}" for each in listed)] if listed else []
    lines += [f"Current focus: {told.current_focus}"] if told.current_focus else []
    lines += [f"Key topics: {', '.join(told.key_topics)}"] if told.key_topics else []
    return "\n".join([MARK, *lines]) if lines else ""


def _short(said: Sequence[Said]) -> Arc:
    lines = (f"{who}: {clipped(neutral(' '.join(text.split())), LINE)}" for who, text in map(_line, said))
    return replace(NO_ARC, arc="\n".join(lines))


def _line(said: Said) -> tuple[str, str]:
    """Whose words a message's line has: the speaker's own if there are any."""
    if own := " ".join(_own(said.passages, said.role)):
        return said.role, own
    calls = said.role == "assistant" and all(passage.role == "tool" for passage in said.passages)
    return said.role if calls or said.role == "tool" else "brought", said.text


def _long(said: Sequence[Said]) -> Arc:
    opening = next((line for each in said[:RECENT] for line in _own(each.passages, "user")), "")
    focus = next((line for each in reversed(said) for line in _own(each.passages, "user")), "")
    decided = distinct(record for each in said for record in each.records if record.kind == "decision")
    began = f"It began with the user: {clipped(opening, LINE)}\n" if opening else ""
    questions, about = _lately(tuple(each.passages for each in said[-RECENT:]))
    return Arc(
        arc=f"{began}{len(said):,} messages. Decisions on record: {len(decided):,}.",
        decisions=tuple(f"{_speaker(each.role)}: {neutral(each.text)}" for each in decided),
        open_questions=questions,
        current_focus=clipped(focus, 2 * LINE) or None,
        key_topics=about,
    )


@lru_cache(maxsize=REMEMBERED)
def _lately(said: tuple[tuple[Passage, ...], ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Open questions and topics of the newest messages. Fitting a window asks for the same several times."""
    heard = Overheard()
    passages = [passage for each in said for passage in each]
    for passage in passages:
        if passage.role == "tool":
            heard.hear(passage.text)
    own = (line for passage in passages for line in _own((passage,), passage.role) if not heard(line))
    return tuple(line for line in _open(passages) if not heard(line)), tuple(topics(own, TOPICS))


def _own(passages: Sequence[Passage], role: str) -> list[str]:
    """What a speaker typed, sentence by sentence; tools say nothing here."""
    own = (p for p in passages if p.role == role and role in ("user", "assistant"))
    said = (sentence for p in own for sentence in sentences(typed(p.text)[0]) if sentence not in p.outside)
    return list(map(neutral, said))


def _speaker(role: str) -> str:
    return "user" if role == "user" else "model"


def _open(passages: Sequence[Passage]) -> list[str]:
    return list(
        dict.fromkeys(
            f"{_speaker(passage.role)}: {clipped(sentence)}"
            for passage, reply in zip(passages, replies(passages), strict=True)
            for sentence in _own((passage,), passage.role)
            if is_open(sentence, passage.role, reply)
        )
    )


def _within(told: Arc, room: int, count: Count) -> Arc:
    """Less and less of it until it fits: the oldest entries go first, the longer list before the shorter."""
    while count(arc_text(told)) > room:
        smaller = _smaller(told)
        if smaller == told:
            return NO_ARC
        told = smaller
    return told


def _smaller(told: Arc) -> Arc:
    listed = max(len(told.decisions), len(told.open_questions))
    if listed > 1 or (listed and not told.key_topics):
        drop = max(1, listed // 8)
        if len(told.decisions) >= len(told.open_questions):
            return replace(told, decisions=told.decisions[drop:])
        return replace(told, open_questions=told.open_questions[drop:])
    if told.key_topics:
        return replace(told, key_topics=told.key_topics[:-1])
    if told.current_focus:
        return replace(told, current_focus=None)
    return replace(told, arc="\n".join(told.arc.splitlines()[1:]))
