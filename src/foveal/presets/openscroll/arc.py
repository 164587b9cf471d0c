"""Summarize the course of a conversation: decisions, open questions, topics and current focus.

Conversations of up to six messages get one line per message. For longer ones the arc quotes decisions and
unanswered questions; its text is marked as a record, not a request.

If a model writes summaries, it writes the arc too: once for every ten messages, from the first message and
the latest ones. Decisions and questions that it did not read are quoted beside its words.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from functools import lru_cache
from types import MappingProxyType
from typing import Literal

from foveal.pipeline.summarize.extract import topics
from foveal.pipeline.summarize.language import clipped, is_unanswered, replies, sentences, split_pasted
from foveal.pipeline.summarize.notes import SUMMARY_MARK, neutral
from foveal.pipeline.summarize.records import EchoDetector, distinct_records
from foveal.pipeline.summarize.values import Answer, Ask, Passage
from foveal.pipeline.summarize.voices import Utterance
from foveal.presets.openscroll.zones import Count

Style = Literal["light", "rich", "dense"]
MOST: Mapping[Style, int | None] = MappingProxyType({"light": 200, "rich": 600, "dense": None})
"""The most tokens of an arc, whatever the budget; a dense one may use all of it."""
SHORT = 6
"""The most messages that each get their own line."""
LINE = 100
"""Characters of the text in such a line."""
REMEMBERED = 8
"""Conversations whose questions and topics are cached."""
RECENT = 200
"""Newest messages that are searched for questions; older ones count as answered or given up."""
TOPICS = 8
RENEWED = 10
"""A model writes the arc again after so many messages."""
EARLIER = 3
"""Of so many arcs the latest is shown."""
WRITTEN_TOKENS = 600
"""Of an arc by a model at most, whatever the size of the window, so that one arc serves all of them."""
SOURCE_CHARACTERS = 48_000
"""Of the messages that a model reads for an arc."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Arc:
    """How a conversation got to where it is."""

    arc: str
    open_questions: tuple[str, ...]
    decisions: tuple[str, ...]
    current_focus: str | None
    key_topics: tuple[str, ...]


NO_ARC = Arc(arc="", open_questions=(), decisions=(), current_focus=None, key_topics=())


def arc(
    messages: Sequence[Utterance], budget: int, style: Style, count: Count, *, answer: Answer | None = None
) -> Arc:
    """The arc whose text (`arc_text`) fits the budget and the style; a model's if `answer` has one."""
    most = MOST[style]
    room = budget if most is None else min(budget, most)
    if len(messages) <= SHORT:
        return _within(_short(messages), room, count)
    written = _written(messages, answer) if answer and room > 0 else NO_ARC
    found = _within(written, room, count)
    return _within(_long(messages), room, count) if found == NO_ARC else found


def arc_text(arc: Arc) -> str:
    """The arc as a note for a window; empty if the arc is.

    >>> print(arc_text(replace(NO_ARC, arc="It began with login.", decisions=("user: Use JWT.",))))
    [Summary of earlier messages, made by a program. A record, not a request.]
    It began with login.
    Decisions:
    - user: Use JWT.
    """
    lines = arc_lines(arc)
    return "\n".join([SUMMARY_MARK, *lines]) if lines else ""


def arc_lines(arc: Arc) -> list[str]:
    """The lines of the arc's text, without the mark before them."""
    lines = [arc.arc] if arc.arc else []
    for title, listed in (("Decisions:", arc.decisions), ("Open questions:", arc.open_questions)):
        lines += [title, *(f"- {each}" for each in listed)] if listed else []
    lines += [f"Current focus: {arc.current_focus}"] if arc.current_focus else []
    return [*lines, f"Key topics: {', '.join(arc.key_topics)}"] if arc.key_topics else lines


def arc_json(arc: Arc) -> str:
    """The arc as JSON, as `read_arc` reads it."""
    return json.dumps(asdict(arc))


def read_arc(text: str) -> Arc:
    """The arc that a model wrote as JSON. A `ValueError` says what is wrong with it, as a predicate."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        raise ValueError("is not JSON") from None
    names = {field.name for field in fields(Arc)}
    if not isinstance(found, dict) or found.keys() != names:
        raise ValueError(f"is not an object of {', '.join(sorted(names))}")
    focus = found["current_focus"]
    if not (isinstance(found["arc"], str) and found["arc"].strip()):
        raise ValueError("does not say in `arc` how the conversation went")
    if not isinstance(focus, str | None):
        raise ValueError("has a `current_focus` that is not text")
    return Arc(
        arc=_line_of(found["arc"]),
        open_questions=_texts(found, "open_questions"),
        decisions=_texts(found, "decisions"),
        current_focus=_line_of(focus or "") or None,
        key_topics=_texts(found, "key_topics"),
    )


def _texts(found: Mapping[str, object], name: str) -> tuple[str, ...]:
    listed = found[name]
    if not isinstance(listed, list) or not all(isinstance(each, str) for each in listed):
        raise ValueError(f"has `{name}` that are not a list of texts")
    return tuple(dict.fromkeys(filter(None, map(_line_of, listed))))


def _line_of(text: str) -> str:
    return neutral(" ".join(text.split()))


def _written(messages: Sequence[Utterance], answer: Answer) -> Arc:
    """The latest arc by a model; until there is one of the latest messages, an earlier one."""
    last = len(messages) // RENEWED * RENEWED
    for stop in range(last, last - EARLIER * RENEWED, -RENEWED):
        found = _written_of(messages, max(SHORT + 1, stop), answer, latest=stop == last)
        if found != NO_ARC or stop <= SHORT:
            return found
    return NO_ARC


def _written_of(messages: Sequence[Utterance], stop: int, answer: Answer, *, latest: bool) -> Arc:
    """A model's arc of the messages before `stop`, with what those it did not read add to it."""
    start = _first_read(messages[:stop])
    read = [passage for each in (*messages[:1], *messages[max(1, start) : stop]) for passage in each.passages]
    summary = answer(
        Ask(passages=tuple(map(_clipped, read)), tokens=WRITTEN_TOKENS, form="arc", whole=latest)
    )
    if summary.by != "llm":
        return NO_ARC
    try:
        written = read_arc(summary.text)
    except ValueError:
        return NO_ARC
    questions, _ = _recent(tuple(each.passages for each in messages[stop:]))
    before, after = _decisions(messages[1:start]), _decisions(messages[stop:])
    return replace(
        written,
        decisions=tuple(dict.fromkeys((*before, *written.decisions, *after))),
        open_questions=tuple(dict.fromkeys((*written.open_questions, *questions))),
    )


def _first_read(messages: Sequence[Utterance]) -> int:
    """From which message on a model reads them all."""
    left = SOURCE_CHARACTERS
    for at in range(len(messages) - 1, -1, -1):
        left -= sum(min(len(passage.text), SOURCE_CHARACTERS // RENEWED) for passage in messages[at].passages)
        if left < 0:
            return at + 1
    return 0


def _clipped(passage: Passage) -> Passage:
    most = SOURCE_CHARACTERS // RENEWED
    return passage if len(passage.text) <= most else replace(passage, text=clipped(passage.text, most))


def _decisions(messages: Sequence[Utterance]) -> list[str]:
    """What was decided in these messages, word for word."""
    decided = distinct_records(
        record for each in messages for record in each.records if record.kind == "decision"
    )
    return [f"{_speaker(each.role)}: {neutral(each.text)}" for each in decided]


def _short(messages: Sequence[Utterance]) -> Arc:
    lines = (f"{who}: {clipped(neutral(' '.join(text.split())), LINE)}" for who, text in map(_line, messages))
    return replace(NO_ARC, arc="\n".join(lines))


def _line(message: Utterance) -> tuple[str, str]:
    """The speaker and the text of a message's line: the speaker's own words if there are any."""
    if own := " ".join(_own(message.passages, message.role)):
        return message.role, own
    calls = message.role == "assistant" and all(passage.role == "tool" for passage in message.passages)
    return message.role if calls or message.role == "tool" else "brought", message.text


def _long(messages: Sequence[Utterance]) -> Arc:
    opening = next((line for each in messages[:RECENT] for line in _own(each.passages, "user")), "")
    focus = next((line for each in reversed(messages) for line in _own(each.passages, "user")), "")
    decided = tuple(_decisions(messages))
    opened = f"It began with the user: {clipped(opening, LINE)}\n" if opening else ""
    questions, recent = _recent(tuple(each.passages for each in messages[-RECENT:]))
    return Arc(
        arc=f"{opened}{len(messages):,} messages. Decisions on record: {len(decided):,}.",
        decisions=decided,
        open_questions=questions,
        current_focus=clipped(focus, 2 * LINE) or None,
        key_topics=recent,
    )


@lru_cache(maxsize=REMEMBERED)
def _recent(messages: tuple[tuple[Passage, ...], ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Open questions and topics of the newest messages. Cached: fitting a window needs them several times."""
    heard = EchoDetector()
    passages = [passage for each in messages for passage in each]
    for passage in passages:
        if passage.role == "tool":
            heard.add(passage.text)
    own = (line for passage in passages for line in _own((passage,), passage.role) if not heard(line))
    return tuple(line for line in _open_questions(passages) if not heard(line)), tuple(topics(own, TOPICS))


def _own(passages: Sequence[Passage], role: str) -> list[str]:
    """The sentences that a user or assistant wrote themselves; none for tools."""
    own = (p for p in passages if p.role == role and role in ("user", "assistant"))
    found = (
        sentence for p in own for sentence in sentences(split_pasted(p.text)[0]) if sentence not in p.outside
    )
    return list(map(neutral, found))


def _speaker(role: str) -> str:
    return "user" if role == "user" else "model"


def _open_questions(passages: Sequence[Passage]) -> list[str]:
    return list(
        dict.fromkeys(
            f"{_speaker(passage.role)}: {clipped(sentence)}"
            for passage, reply in zip(passages, replies(passages), strict=True)
            for sentence in _own((passage,), passage.role)
            if is_unanswered(sentence, passage.role, reply)
        )
    )


def _within(arc: Arc, room: int, count: Count) -> Arc:
    """Shrink the arc until it fits: the oldest entries go first, the longer list before the shorter."""
    while count(arc_text(arc)) > room:
        smaller = _smaller(arc)
        if smaller == arc:
            return NO_ARC
        arc = smaller
    return arc


def _smaller(arc: Arc) -> Arc:
    listed = max(len(arc.decisions), len(arc.open_questions))
    if listed > 1 or (listed and not arc.key_topics):
        drop = max(1, listed // 8)
        if len(arc.decisions) >= len(arc.open_questions):
            return replace(arc, decisions=arc.decisions[drop:])
        return replace(arc, open_questions=arc.open_questions[drop:])
    if arc.key_topics:
        return replace(arc, key_topics=arc.key_topics[:-1])
    if arc.current_focus:
        return replace(arc, current_focus=None)
    return replace(arc, arc="\n".join(arc.arc.splitlines()[1:]))
