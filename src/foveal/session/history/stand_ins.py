"""Put notes in place of turns, and write them again when a message they cover is erased.

A note is data in an envelope. It is stored at the position of the last message it covers; all these messages
are left out and refer to their note. Messages between them that are shown, or were left out on request, are
not covered.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import Generic, TypeVar

from foveal.events import Event
from foveal.model import Entry, Message
from foveal.pipeline.history import History
from foveal.pipeline.summarize.counts import counts_note, is_counts_note
from foveal.pipeline.summarize.extract import extractive_summary
from foveal.pipeline.summarize.notes import RECORDS_MARK, SUMMARY_END, record_line, summary_note
from foveal.pipeline.summarize.records import distinct_records
from foveal.pipeline.summarize.tasks import task_summary
from foveal.pipeline.summarize.values import Answer, Ask, Record, Summary
from foveal.pipeline.summarize.voices import Utterance, voices
from foveal.session.history.records import SessionRecords
from foveal.session.state import SessionState
from foveal.session.summaries.library import Answers
from foveal.session.target import Target
from foveal.store import Head

SHARE = 4
"""A note has at most this fraction of the tokens it replaces, or half where a fraction would be too short."""
LEAST = 24
"""Tokens of text that are worth a note."""
PLANS = 4
"""How often a plan is made while other threads and processes may change the session."""
RESOLVED = 3
"""Resolved errors that a note mentions, the latest: decisions need the room."""
MOST = 300
"""Tokens of a note, however much it replaces: small windows need small notes. Only records may exceed it."""

P = TypeVar("P")
R = TypeVar("R")


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """A text in place of turns."""

    entries: tuple[Entry, ...]
    text: str
    summary: str = ""
    """The summarizer's part of the text."""
    original: int = 0
    """Tokens of the covered messages."""
    tokens: int = 0
    """Tokens of the note as a message."""


def write_note(
    state: SessionState, target: Target, turns: Sequence[int], *, answer: Answer, title: str = ""
) -> Note | None:
    """The note for these turns; None if it would not be worth its tokens.

    It has at most half of their tokens. Records are never left out for that: with them it may have more, but
    always fewer than the turns.
    """
    history = state.log.history(target)
    messages = read_turns(state, history, turns)
    original = sum(each.tokens for each in messages)
    price = partial(_price, history)
    empty = price(_envelop(title, messages))
    room = min(MOST, original // SHARE) - empty
    if room < LEAST:
        room = min(LEAST, original // 2 - empty)
    most = original - 1 if any(each.records for each in messages) else original // 2
    # A model's summary was counted with another vocabulary, and may be too long in this one.
    for by in (answer, partial(extractive_summary, count=target.meter.text)) if room > 0 else ():
        summary = summarize(state, target, messages, tokens=room, answer=by)
        text = _envelop("\n".join(filter(None, (title, summary))), messages)
        if price(text) <= most:
            entries = tuple(history.entries[each.seq] for each in messages)
            return Note(entries=entries, text=text, summary=summary, original=original, tokens=price(text))
    return None


def write_counts(state: SessionState, history: History, turns: Sequence[int]) -> str:
    """The text of a note of counts for these turns, with their records."""
    seqs = [*chain.from_iterable(originals(history, turns))]
    records = distinct_records(
        record for each in read_turns(state, history, turns) for record in each.records
    )
    lines = (RECORDS_MARK, *map(record_line, records)) if records else ()
    return "\n".join((counts_note([message for _, message in read(history, seqs)]), *lines, SUMMARY_END))


def summarize(
    state: SessionState,
    target: Target,
    messages: Sequence[Utterance],
    *,
    answer: Answer,
    tokens: int | None = None,
) -> str:
    """The summary of messages: their records word for word, resolved errors, then the rest in short.

    By default it has at most half of their tokens, and at most as many as a note.
    """
    if not messages:
        return ""
    first, last = messages[0].seq, messages[-1].seq
    most = max(1, min(MOST, sum(each.tokens for each in messages) // 2)) if tokens is None else tokens
    resolved = [
        r for r in state.part(SessionRecords).resolved if first <= r.error_seq and r.resolution_seq <= last
    ]
    return task_summary(messages, resolved[-RESOLVED:], tokens=most, count=target.meter.text, answer=answer)


def insert_note(state: SessionState, note: Note) -> None:
    """Leave the messages out of windows, and show the note at the position of the last one."""
    position = note.entries[-1].seq
    for entry in note.entries:
        text = note.text if entry.seq == position else ""
        state.store.mark(state.id, entry.seq, absence="left out", stand_in=text, noted_by=position)


def rewrite_note(state: SessionState, seqs: Sequence[int], before: str, *, title: str = "") -> None:
    """Write a note again at once, without the message it covered that was just erased."""
    state.log.catch_up()
    for seq in seqs:
        if state.log.entries[seq].absence == "left out":
            state.store.mark(state.id, seq, absence="left out")
    state.log.catch_up()
    target = state.target()
    history = state.log.history(target)
    whole = [turn for turn in sorted({history.turn_of(seq) for seq in seqs}) if _left_out(history, turn)]
    if not whole:
        return
    extract = partial(extractive_summary, count=target.meter.text)
    entries = tuple(entry for turn in whole for entry in _entries(history, turn))
    if is_counts_note(before):
        insert_note(state, Note(entries=entries, text=write_counts(state, history, whole)))
    elif note := write_note(state, target, whole, answer=extract, title=title):
        insert_note(state, note)
    else:
        for entry in entries:
            state.store.mark(state.id, entry.seq, absence="")


def covered(entries: Sequence[Entry], seq: int) -> tuple[int, ...]:
    """Positions of all messages that the note of this one covers, the note's last; empty without a note."""
    note = entries[seq].noted_by
    return () if note is None else tuple(each.seq for each in entries if each.noted_by == note)


def originals(history: History, turns: Sequence[int]) -> list[Sequence[int]]:
    """For each turn the positions of its messages, or of those that the note in its place covers."""
    notes: dict[int, list[int]] = {}
    for entry in history.entries if any(map(history.stand_in, turns)) else ():
        if entry.noted_by is not None:
            notes.setdefault(entry.noted_by, []).append(entry.seq)
    return [
        _covered_by(history, turn, notes) or [entry.seq for entry in _entries(history, turn)]
        for turn in turns
    ]


def shown_tokens(history: History, turn: int) -> int:
    """Tokens that windows may show of a turn: its own, or those of the note in its place."""
    if history.absence(turn):
        return 0
    return history.chunk(turn).tokens if history.stand_in(turn) else history.between(*history.span(turn))


def read_turns(state: SessionState, history: History, turns: Sequence[int]) -> list[Utterance]:
    """The messages of turns as a summarizer sees them, including those that notes cover."""
    state.part(SessionRecords).catch_up()
    return [
        _said(state, history, history.entries[seq], message)
        for seqs in originals(history, turns)
        for seq, message in read(history, seqs)
    ]


def read(history: History, seqs: Sequence[int]) -> Iterable[tuple[int, Message]]:
    """The messages at these positions; consecutive ones are read at once."""
    if seqs and seqs[-1] - seqs[0] == len(seqs) - 1:
        return zip(seqs, history.read(seqs[0], seqs[-1] + 1), strict=True)
    return ((seq, message) for seq in seqs for message in history.read(seq, seq + 1))


def last_shown_turn(history: History) -> int:
    """The last turn that windows show: the model will answer it or just did. -1 if there is none."""
    system = {turn for turn, why in history.pinned.items() if why == "system_prompt"}
    turns = range(len(history) - 1, -1, -1)
    return next((turn for turn in turns if turn not in system and not history.absence(turn)), -1)


def plan_and_apply(
    state: SessionState,
    target: Target,
    plan: Callable[[Answer], P],
    apply: Callable[[P, list[Event]], R],
    *,
    waits: bool = True,
) -> R:
    """Apply a plan in one transaction that waits neither for a model nor for the planning.

    If the messages that the plan is based on were changed meanwhile, it is made again; appended messages do
    not matter. If the session keeps changing, the last plan is made inside the transaction.
    `waits`: a model that writes summaries is waited for before; otherwise they are extracts.
    """
    asked: set[str] = set()
    for _ in range(PLANS):
        with state.reading():
            made = _make(state, target, plan, queues=not waits)
        new = [ask for ask in made.asks if ask.key not in asked]
        asked |= {ask.key for ask in new}
        if waits and _have_written(state, new):
            continue  # the model's summaries change the plan
        with state.writing() as events:
            if made.is_current(state.log.head):
                made.answers.save()
                return apply(made.plan, events)
    with state.writing() as events:
        made = _make(state, target, plan, queues=not waits)
        made.answers.save()
        return apply(made.plan, events)


def planned(state: SessionState, target: Target, plan: Callable[[Answer], P]) -> P:
    """A plan that is not applied; it asks no model."""
    return _make(state, target, plan).plan


@dataclass(frozen=True, slots=True, kw_only=True)
class _Planned(Generic[P]):
    """A plan, the session's head when it was made, and the summaries it asked for."""

    plan: P
    head: Head
    asks: Sequence[Ask]
    answers: Answers

    def is_current(self, head: Head) -> bool:
        return (head.branch, head.version) == (self.head.branch, self.head.version)


def _make(
    state: SessionState, target: Target, plan: Callable[[Answer], P], *, queues: bool = False
) -> _Planned[P]:
    asks: list[Ask] = []
    answers = state.answers(target, queues=queues)

    def answer(ask: Ask) -> Summary:
        asks.append(ask)
        return answers(ask)

    return _Planned(plan=plan(answer), head=state.log.head, asks=asks, answers=answers)


def _have_written(state: SessionState, asks: Iterable[Ask]) -> bool:
    """Have the model write the summaries that are missing or extracts; False if there is nothing to write."""
    write, library = state.resources.writer, state.resources.library
    if write is None:
        return False
    found = ((ask, library.find(ask)) for ask in asks)
    missing = [ask for ask, summary in found if summary is None or summary.by == "extractive"]
    for ask in missing:
        library.save(ask, write(ask))
    return bool(missing)


def _said(state: SessionState, history: History, entry: Entry, message: Message) -> Utterance:
    records = tuple(
        Record(kind=kind, text=text, seq=entry.seq, digest=entry.digest, role=entry.role)
        for kind, text in state.part(SessionRecords).records.get(entry.digest, ())
    )
    outside = state.part(SessionRecords).outside.get(entry.digest, ())
    return Utterance(
        seq=entry.seq,
        role=entry.role,
        passages=tuple(replace(each, outside=outside) for each in voices(message, entry.seq)),
        tokens=entry.tokens,
        opens=history.span(history.turn_of(entry.seq))[0] == entry.seq,
        records=records,
    )


def _covered_by(history: History, turn: int, notes: Mapping[int, list[int]]) -> list[int]:
    return next((notes[entry.seq] for entry in _entries(history, turn) if entry.stand_in), [])


def _left_out(history: History, turn: int) -> bool:
    return all(entry.absence == "left out" for entry in _entries(history, turn))


def _entries(history: History, turn: int) -> Sequence[Entry]:
    first, last = history.span(turn)
    return history.entries[first : last + 1]


def _envelop(text: str, messages: Sequence[Utterance]) -> str:
    by = Counter(each.role for each in messages)
    return summary_note(text, first=messages[0].seq, last=messages[-1].seq, by=by)


def _price(history: History, text: str) -> int:
    return history.frame.price(history.frame.scribe.note(text))
