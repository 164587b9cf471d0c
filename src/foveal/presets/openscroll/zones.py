"""Render a stretch of the history within room: verbatim, as its key messages, or as a summary.

Turns stay whole. Omitted messages are marked in the text if there is room for the marker, and counted always.

Key messages are scored by position, length, code, questions, decisions, problems and role. Decisions count
without a cap, problems and questions up to one: many errors make a message no more important than three, but
each decision does.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

from foveal.pipeline.shorten.turn import cut_middle
from foveal.pipeline.summarize.extract import condense_summaries
from foveal.pipeline.summarize.notes import message_range, quoted, record_line, summary_note
from foveal.pipeline.summarize.records import distinct_records
from foveal.pipeline.summarize.values import Passage, Record
from foveal.pipeline.summarize.voices import TurnStarts, Utterance
from foveal.window import Score

Count = Callable[[str], int]
Treatment = Literal["full", "trimmed", "folded", "omitted"]
FENCE = "```"
FEWEST_TRIMMED = 50
"""A turn is trimmed only if more tokens than this are left for its head and tail."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A run of messages that are shown in the same way."""

    first: int
    last: int
    """Positions of its first and last message in the history, both included."""
    messages: int
    detail: Treatment
    tokens: int
    """Including the label."""
    text: str | None = None
    """The text that replaces the messages; None if they are verbatim or nothing replaces them."""
    label: str = ""
    """A heading, for callers that join all pieces into one text."""


def verbatim_line(message: Utterance) -> str:
    """A message as part of one text: the speaker, then the words; lines that look like marks get a bar."""
    return "\n".join(f"[{_speaker(message, each)}]: {quoted(each.text)}" for each in message.passages)


def _speaker(message: Utterance, passage: Passage) -> str:
    """The assistant is also the speaker of its calls; a tool is that of its results in a user's message."""
    role = message.role if message.role == "assistant" else passage.role
    author = " ".join(passage.author.translate({ord("["): None, ord("]"): None}).split())
    return f"{role} ({author})" if author else role


def piece_of(
    messages: Sequence[Utterance], detail: Treatment, tokens: int, *, text: str | None = None
) -> Piece:
    return Piece(
        first=messages[0].seq,
        last=messages[-1].seq,
        messages=len(messages),
        detail=detail,
        tokens=tokens,
        text=text,
    )


def omitted(messages: Sequence[Utterance], room: int, count: Count) -> list[Piece]:
    """A marker in place of the messages, or nothing if even that is too long."""
    if not messages:
        return []
    marker = _marker(len(messages))
    fits = count(marker) <= room
    return [piece_of(messages, "omitted", count(marker) if fits else 0, text=marker if fits else None)]


def join_omitted(pieces: Sequence[Piece], count: Count) -> Piece:
    """Neighbouring omitted pieces as one, at no higher cost."""
    messages, room = sum(piece.messages for piece in pieces), sum(piece.tokens for piece in pieces)
    marker = _marker(messages)
    fits = count(marker) <= room
    return replace(
        pieces[0],
        last=pieces[-1].last,
        messages=messages,
        text=marker if fits else None,
        tokens=count(marker) if fits else 0,
    )


def _marker(number: int) -> str:
    return f"[... {number:,} message{'' if number == 1 else 's'} omitted ...]"


def newest(messages: Sequence[Utterance], room: int, count: Count) -> list[Piece]:
    """The newest turns that fit, verbatim; a turn larger than all the room is trimmed."""
    if not messages:
        return []
    heading = count(verbatim_label(messages))
    room -= heading
    tokens = sum(each.tokens for each in messages)
    if tokens <= room:
        return labelled([piece_of(messages, "full", tokens)], verbatim_label(messages), count)
    marker = count(_marker(len(messages)))
    inner = room - marker if 4 * marker <= room else room
    start = first_fitting(messages, inner)
    kept: list[Piece] = []
    if start < len(messages):
        kept = [piece_of(messages[start:], "full", sum(each.tokens for each in messages[start:]))]
    before = TurnStarts.of(messages).back(start - 1)
    if sum(each.tokens for each in messages[before:start]) > inner:
        cut_turn = trimmed(messages[before:start], inner - sum(piece.tokens for piece in kept), count)
        kept, start = [*cut_turn, *kept], before if cut_turn else start
    label = verbatim_label(messages[start:]) if kept else ""
    kept = labelled(kept, label if count(label) <= heading else "", count)
    return [*omitted(messages[:start], room - inner, count), *kept]


def verbatim_label(messages: Sequence[Utterance]) -> str:
    """The label of verbatim messages."""
    return f"[{message_range(messages[0].seq, messages[-1].seq).capitalize()}, verbatim]"


def first_fitting(messages: Sequence[Utterance], room: int) -> int:
    """The position from which on the newest turns fit; the end if not even the last one does."""
    start = len(messages)
    for turn in reversed(TurnStarts.of(messages).within(0, len(messages))):
        room -= sum(messages[index].tokens for index in turn)
        if room < 0:
            break
        start = turn.start
    return start


def trimmed(messages: Sequence[Utterance], room: int, count: Count) -> list[Piece]:
    """The head and tail of a turn, if there is enough room."""
    if room <= FEWEST_TRIMMED:
        return []
    text = cut_middle("\n".join(map(verbatim_line, messages)), room, count)
    return [piece_of(messages, "trimmed", count(text), text=text)] if count(text) <= room else []


def key_turns(
    messages: Sequence[Utterance], room: int, count: Count, *, label: str = "", numbers: KeyMessageNumbers
) -> list[Piece]:
    """The best turns until one does not fit, which is trimmed; gaps are marked."""
    if not messages:
        return []
    room -= count(label) if label else 0
    tokens = sum(each.tokens for each in messages)
    if tokens <= room:
        return labelled([piece_of(messages, "full", tokens)], label, count)
    marker = count(_marker(len(messages)))
    left, kept = room - marker, dict[int, Piece]()
    for turn in _ranked(messages, numbers):
        inside = messages[turn.start : turn.stop]
        left -= marker  # there may be a gap before it
        tokens = sum(each.tokens for each in inside)
        if tokens > left:
            kept.update((turn.start, piece) for piece in trimmed(inside, left, count))
            break
        kept[turn.start] = piece_of(inside, "full", tokens)
        left -= tokens
    return labelled(_with_gaps(messages, kept, marker, count), label, count)


def _ranked(messages: Sequence[Utterance], numbers: KeyMessageNumbers) -> list[range]:
    scores = [score.total for score in key_messages(messages, numbers)]
    turns = TurnStarts.of(messages).within(0, len(messages))
    return sorted(turns, key=lambda turn: -max(scores[turn.start : turn.stop]))


def _with_gaps(messages: Sequence[Utterance], kept: dict[int, Piece], room: int, count: Count) -> list[Piece]:
    pieces: list[Piece] = []
    at = 0
    for start, piece in sorted(kept.items()):
        pieces += [*omitted(messages[at:start], room, count), piece]
        at = start + piece.messages
    return [*pieces, *omitted(messages[at:], room if kept else 0, count)]


def folded(
    messages: Sequence[Utterance], summaries: Sequence[Passage], room: int, count: Count
) -> list[Piece]:
    """One note for all the messages: their records, and the most important lines of their summaries."""
    if not messages:
        return []
    by = Counter(each.role for each in messages)
    left = room - count(summary_note("", first=messages[0].seq, last=messages[-1].seq, by=by))
    while left > 0:
        records = _newest_records(messages, left // 2, count)
        spent = sum(count(f"{record_line(record)}\n") for record in records)
        texts = [summary.text for summary in summaries]
        text = condense_summaries(texts, left - spent, count, known={record.text for record in records})
        note = summary_note(text, first=messages[0].seq, last=messages[-1].seq, by=by, records=records)
        over = count(note) - room
        if over <= 0 and (text or records):
            return [piece_of(messages, "folded", count(note), text=note)]
        left -= max(1, over)
    return omitted(messages, room, count)


def _newest_records(messages: Sequence[Utterance], room: int, count: Count) -> list[Record]:
    """The newest records that fit, in order."""
    kept: list[Record] = []
    for record in reversed(distinct_records(record for each in messages for record in each.records)):
        room -= count(f"{record_line(record)}\n")
        if room < 0:
            break
        kept.append(record)
    return kept[::-1]


def labelled(pieces: list[Piece], label: str, count: Count) -> list[Piece]:
    """The pieces with a heading, if any of them is shown."""
    if not label or not any(piece.tokens for piece in pieces):
        return pieces
    headed = replace(pieces[0], label=label, tokens=pieces[0].tokens + count(label))
    return [headed, *pieces[1:]]


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyMessageNumbers:
    """The scores of key messages; phrases are separated by `|`."""

    recency: float = 20.0
    """Points of the newest message; older ones get a share by their position."""
    substance: float = 5.0
    """Points for length, times the binary logarithm of the number of words plus one."""
    substance_most: float = 25.0
    """The most points for length."""
    code_block: float = 15.0
    """Points for each code block."""
    question: float = 5.0
    """Points for each question mark."""
    question_most: float = 15.0
    """The most points for questions."""
    decision: float = 10.0
    """Points for each phrase of a decision."""
    decisions: str = (
        "decided|decision|let's go with|we'll use|agreed|final|conclusion|solution|answer|resolved"
    )
    """The phrases of a decision."""
    problem: float = 5.0
    """Points for each phrase of a problem."""
    problem_most: float = 15.0
    """The most points for problems."""
    problems: str = "error|bug|issue|problem|failed|broken|fix|crash|exception|TypeError|undefined"
    """The phrases of a problem."""
    user: float = 5.0
    """Points for a message of the user."""
    edge: float = 15.0
    """Points for the first and the last message."""


NUMBERS = KeyMessageNumbers()


def key_messages(messages: Sequence[Utterance], numbers: KeyMessageNumbers = NUMBERS) -> list[Score]:
    """Score every message by its position among these and by its content."""
    total = len(messages)
    return [_score(message, position, total, numbers) for position, message in enumerate(messages)]


def _score(message: Utterance, position: int, total: int, by: KeyMessageNumbers) -> Score:
    text = message.text.replace("’", "'")
    parts = {
        "recency": by.recency * position / total,
        "substance": min(by.substance_most, by.substance * math.log2(len(text.split()) + 1)),
        "code": by.code_block * (text.count(FENCE) // 2),
        "questions": min(by.question_most, by.question * text.count("?")),
        "decisions": by.decision * _counter(by.decisions)(text),
        "problems": min(by.problem_most, by.problem * _counter(by.problems)(text)),
        "user": by.user if message.role == "user" else 0.0,
        "edge": by.edge if position in (0, total - 1) else 0.0,
    }
    return Score(total=sum(parts.values()), parts=parts)


@lru_cache(maxsize=16)
def _counter(phrases: str) -> Callable[[str], int]:
    """A function that counts the phrases in a text, as whole words in any case."""
    listed = [re.escape(phrase) for phrase in phrases.split("|") if phrase]
    pattern = re.compile(rf"\b(?:{'|'.join(listed)})\b", re.IGNORECASE)
    return lambda text: len(pattern.findall(text)) if listed else 0
