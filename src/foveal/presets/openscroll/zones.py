"""A stretch of the history and room in → pieces of it: verbatim, its key exchanges, or a summary; never over.

Turns stay whole. What is left out is said in words where there is room for them, and counted in any case.

Messages in → how much each tells of a conversation: its place, substance, code, questions, decisions.

Decisions count without a cap, problems and questions up to one: a message full of errors is no better than
one with three, a message that settles four things is.
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
from foveal.pipeline.values import Item, Scene
from foveal.window import Score

FENCE = "```"


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyMessageNumbers:
    """What makes a message a key message; phrases are separated by `|`."""

    recency: float = 20.0
    substance: float = 5.0
    """Times the binary logarithm of the words and one."""
    substance_most: float = 25.0
    code_block: float = 15.0
    question: float = 5.0
    question_most: float = 15.0
    decision: float = 10.0
    decisions: str = (
        "decided|decision|let's go with|we'll use|agreed|final|conclusion|solution|answer|resolved"
    )
    problem: float = 5.0
    problem_most: float = 15.0
    problems: str = "error|bug|issue|problem|failed|broken|fix|crash|exception|TypeError|undefined"
    user: float = 5.0
    edge: float = 15.0
    """For the first and the last message."""


def key_messages(
    items: Sequence[Item], _scene: Scene, *, numbers: KeyMessageNumbers | None = None
) -> Sequence[Score]:
    """Score every item by its place among these and by what it says."""
    by = numbers or KeyMessageNumbers()
    return [_score(item, place, len(items), by) for place, item in enumerate(items)]


def _score(item: Item, place: int, total: int, by: KeyMessageNumbers) -> Score:
    text = item.text.replace("’", "'")
    parts = {
        "recency": by.recency * place / total,
        "substance": min(by.substance_most, by.substance * math.log2(len(text.split()) + 1)),
        "code": by.code_block * (text.count(FENCE) // 2),
        "questions": min(by.question_most, by.question * text.count("?")),
        "decisions": by.decision * _counter(by.decisions)(text),
        "problems": min(by.problem_most, by.problem * _counter(by.problems)(text)),
        "user": by.user if item.role == "user" else 0.0,
        "edge": by.edge if place in (0, total - 1) else 0.0,
    }
    return Score(total=sum(parts.values()), parts=parts)


@lru_cache(maxsize=16)
def _counter(phrases: str) -> Callable[[str], int]:
    """How often a text has one of the phrases, as whole words in any case."""
    listed = [re.escape(phrase) for phrase in phrases.split("|") if phrase]
    pattern = re.compile(rf"\b(?:{'|'.join(listed)})\b", re.IGNORECASE)
    return lambda text: len(pattern.findall(text)) if listed else 0


Count = Callable[[str], int]
Treatment = Literal["full", "trimmed", "folded", "omitted"]
WORTH_TRIMMING = 50
"""Tokens that must be left for the head and tail of a turn that does not fit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A run of messages treated alike."""

    first: int
    last: int
    """Positions of its first and last message in the history, both included."""
    messages: int
    detail: Treatment
    tokens: int
    """With the label."""
    text: str | None = None
    """What stands for the messages; None where they stand for themselves, or where nothing does."""
    label: str = ""
    """A heading for those who write all pieces into one text."""


def verbatim_line(said: Utterance) -> str:
    """A message in a text of many: who speaks, then the words. A line that looks like a mark gets a bar."""
    return "\n".join(f"[{_speaker(said, each)}]: {quoted(each.text)}" for each in said.passages)


def _speaker(said: Utterance, passage: Passage) -> str:
    """The model speaks its calls too; a result in a user's message is a tool's all the same."""
    role = said.role if said.role == "assistant" else passage.role
    author = " ".join(passage.author.translate({ord("["): None, ord("]"): None}).split())
    return f"{role} ({author})" if author else role


def run(said: Sequence[Utterance], detail: Treatment, tokens: int, *, text: str | None = None) -> Piece:
    return Piece(
        first=said[0].seq, last=said[-1].seq, messages=len(said), detail=detail, tokens=tokens, text=text
    )


def omitted(said: Sequence[Utterance], room: int, count: Count) -> list[Piece]:
    """A marker in place of the messages, or their bare absence when even that is too long."""
    if not said:
        return []
    marker = _marker(len(said))
    fits = count(marker) <= room
    return [run(said, "omitted", count(marker) if fits else 0, text=marker if fits else None)]


def left_out(pieces: Sequence[Piece], count: Count) -> Piece:
    """Neighbours that are left out, as one, for no more than they cost."""
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


def newest(said: Sequence[Utterance], room: int, count: Count) -> list[Piece]:
    """The newest turns that fit, verbatim; one that is larger than all the room by itself is trimmed."""
    if not said:
        return []
    heading = count(verbatim(said))
    room -= heading
    tokens = sum(each.tokens for each in said)
    if tokens <= room:
        return labelled([run(said, "full", tokens)], verbatim(said), count)
    marker = count(_marker(len(said)))
    inner = room - marker if 4 * marker <= room else room
    start = fitting(said, inner)
    kept = [run(said[start:], "full", sum(each.tokens for each in said[start:]))] if start < len(said) else []
    before = TurnStarts.of(said).back(start - 1)
    if sum(each.tokens for each in said[before:start]) > inner:
        cut_turn = trimmed(said[before:start], inner - sum(piece.tokens for piece in kept), count)
        kept, start = [*cut_turn, *kept], before if cut_turn else start
    label = verbatim(said[start:]) if kept else ""
    kept = labelled(kept, label if count(label) <= heading else "", count)
    return [*omitted(said[:start], room - inner, count), *kept]


def verbatim(said: Sequence[Utterance]) -> str:
    """The label of messages that stand as they were written."""
    return f"[{message_range(said[0].seq, said[-1].seq)}, verbatim]"


def fitting(said: Sequence[Utterance], room: int) -> int:
    """The place from which on the newest turns fit; the end when not even the last one does."""
    start = len(said)
    for turn in reversed(TurnStarts.of(said).within(0, len(said))):
        room -= sum(said[place].tokens for place in turn)
        if room < 0:
            break
        start = turn.start
    return start


def trimmed(said: Sequence[Utterance], room: int, count: Count) -> list[Piece]:
    """Head and tail of a turn, when there is room for something of them."""
    if room <= WORTH_TRIMMING:
        return []
    text = cut_middle("\n".join(map(verbatim_line, said)), room, count)
    return [run(said, "trimmed", count(text), text=text)] if count(text) <= room else []


def key(said: Sequence[Utterance], room: int, count: Count, *, label: str = "") -> list[Piece]:
    """The turns that tell most, best first until one does not fit: that one is trimmed; gaps are marked."""
    if not said:
        return []
    room -= count(label) if label else 0
    tokens = sum(each.tokens for each in said)
    if tokens <= room:
        return labelled([run(said, "full", tokens)], label, count)
    marker = count(_marker(len(said)))
    left, kept = room - marker, dict[int, Piece]()
    for turn in _ranked(said):
        inside = said[turn.start : turn.stop]
        left -= marker  # there may be a gap before it
        tokens = sum(each.tokens for each in inside)
        if tokens > left:
            kept.update((turn.start, piece) for piece in trimmed(inside, left, count))
            break
        kept[turn.start] = run(inside, "full", tokens)
        left -= tokens
    return labelled(_with_gaps(said, kept, marker, count), label, count)


def _ranked(said: Sequence[Utterance]) -> list[range]:
    items = [
        Item(index=at, id="", role=each.role, kind="chat_history_user", text=each.text, tokens=each.tokens)
        for at, each in enumerate(said)
    ]
    scores = [score.total for score in key_messages(items, Scene(now=0.0))]
    turns = TurnStarts.of(said).within(0, len(said))
    return sorted(turns, key=lambda turn: -max(scores[turn.start : turn.stop]))


def _with_gaps(said: Sequence[Utterance], kept: dict[int, Piece], room: int, count: Count) -> list[Piece]:
    pieces: list[Piece] = []
    at = 0
    for start, piece in sorted(kept.items()):
        pieces += [*omitted(said[at:start], room, count), piece]
        at = start + piece.messages
    return [*pieces, *omitted(said[at:], room if kept else 0, count)]


def folded(said: Sequence[Utterance], summaries: Sequence[Passage], room: int, count: Count) -> list[Piece]:
    """One note for all the messages: their records, and the weightiest lines of their summaries."""
    if not said:
        return []
    by = Counter(each.role for each in said)
    left = room - count(summary_note("", first=said[0].seq, last=said[-1].seq, by=by))
    while left > 0:
        records = _carried(said, left // 2, count)
        spent = sum(count(f"{record_line(record)}\n") for record in records)
        texts = [summary.text for summary in summaries]
        text = condense_summaries(texts, left - spent, count, known={record.text for record in records})
        note = summary_note(text, first=said[0].seq, last=said[-1].seq, by=by, records=records)
        over = count(note) - room
        if over <= 0 and (text or records):
            return [run(said, "folded", count(note), text=note)]
        left -= max(1, over)
    return omitted(said, room, count)


def _carried(said: Sequence[Utterance], room: int, count: Count) -> list[Record]:
    """The newest records that fit, in their order."""
    kept: list[Record] = []
    for record in reversed(distinct_records(record for each in said for record in each.records)):
        room -= count(f"{record_line(record)}\n")
        if room < 0:
            break
        kept.append(record)
    return kept[::-1]


def labelled(pieces: list[Piece], label: str, count: Count) -> list[Piece]:
    """The pieces with a heading, if anything of them is shown."""
    if not label or not any(piece.tokens for piece in pieces):
        return pieces
    headed = replace(pieces[0], label=label, tokens=pieces[0].tokens + count(label))
    return [headed, *pieces[1:]]
