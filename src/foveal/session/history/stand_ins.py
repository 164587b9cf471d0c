"""Turns of a session in → the note that windows show in their place; a message in → whom its note covers.

A note is data in an envelope. It stands where the last message that it covers stood; each of them is left out
and knows its note. What stands between them and is shown, or was left out on request, is covered by none.
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
from foveal.session.state import SessionState
from foveal.session.summaries.library import Answers
from foveal.session.target import Target
from foveal.store import Head

SHARE = 4
"""A note is to be at most this part of what it stands for; where that is too little to say anything, half."""
LEAST = 24
"""Tokens of words that are worth a note."""
PLANS = 4
"""Times that something is planned while others may change the session."""
RESOLVED = 3
"""Errors with what resolved them that a note tells of, the newest: decisions need the room."""
MOST = 300
"""Tokens of a note, whatever it stands for: small windows need small notes. Only records may take more."""

P = TypeVar("P")
R = TypeVar("R")


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """A text in place of turns."""

    entries: tuple[Entry, ...]
    text: str
    summary: str = ""
    """The words in it that a summarizer made."""
    original: int = 0
    """Tokens of what it stands for."""
    tokens: int = 0
    """What it costs as a message."""


def covered(entries: Sequence[Entry], seq: int) -> tuple[int, ...]:
    """The messages that the note over this one covers, its own place last; empty where there is none."""
    note = entries[seq].noted_by
    return () if note is None else tuple(each.seq for each in entries if each.noted_by == note)


def made(
    state: SessionState, target: Target, turns: Sequence[int], *, answer: Answer, title: str = ""
) -> Note | None:
    """The note for these turns; None where it would not be worth its tokens.

    It takes half of theirs at most. Records are never left out for that: with them it may take more, but
    always less than the turns.
    """
    history = state.log.history(target)
    heard = said(state, history, turns)
    original = sum(each.tokens for each in heard)
    price = partial(_price, history)
    empty = price(_enveloped(title, heard))
    room = min(MOST, original // SHARE) - empty
    if room < LEAST:
        room = min(LEAST, original // 2 - empty)
    most = original - 1 if any(each.records for each in heard) else original // 2
    # A model's words are counted by another vocabulary, and may be too many in this one.
    for by in (answer, partial(extractive_summary, count=target.meter.text)) if room > 0 else ():
        summary = told(state, target, heard, tokens=room, answer=by)
        text = _enveloped("\n".join(filter(None, (title, summary))), heard)
        if price(text) <= most:
            entries = tuple(history.entries[each.seq] for each in heard)
            return Note(entries=entries, text=text, summary=summary, original=original, tokens=price(text))
    return None


def told(
    state: SessionState,
    target: Target,
    heard: Sequence[Utterance],
    *,
    answer: Answer,
    tokens: int | None = None,
) -> str:
    """The summary of messages: what was decided word for word, errors with what resolved them, the rest.

    Without a number of tokens, half of the messages' own or as many as a note has at most.
    """
    if not heard:
        return ""
    first, last = heard[0].seq, heard[-1].seq
    most = max(1, min(MOST, sum(each.tokens for each in heard) // 2)) if tokens is None else tokens
    resolved = [r for r in state.walker.resolved if first <= r.error_seq and r.resolution_seq <= last]
    return task_summary(heard, resolved[-RESOLVED:], tokens=most, count=target.meter.text, answer=answer)


def counted(state: SessionState, history: History, turns: Sequence[int]) -> str:
    """The note of counts for these turns, with their records."""
    seqs = [*chain.from_iterable(behind(history, turns))]
    records = distinct_records(record for each in said(state, history, turns) for record in each.records)
    lines = (RECORDS_MARK, *map(record_line, records)) if records else ()
    return "\n".join((counts_note([message for _, message in read(history, seqs)]), *lines, SUMMARY_END))


def shown(history: History, turn: int) -> int:
    """Tokens that windows may show of a turn: its own, or those of the note in its place."""
    if history.absence(turn):
        return 0
    return history.chunk(turn).tokens if history.stand_in(turn) else history.between(*history.span(turn))


def said(state: SessionState, history: History, turns: Sequence[int]) -> list[Utterance]:
    """The messages of turns as compaction sees them, those behind notes included."""
    state.walker.catch_up()
    return [
        _said(state, history, history.entries[seq], message)
        for seqs in behind(history, turns)
        for seq, message in read(history, seqs)
    ]


def read(history: History, seqs: Sequence[int]) -> Iterable[tuple[int, Message]]:
    """The messages at these positions, neighbours in one go."""
    if seqs and seqs[-1] - seqs[0] == len(seqs) - 1:
        return zip(seqs, history.read(seqs[0], seqs[-1] + 1), strict=True)
    return ((seq, message) for seq in seqs for message in history.read(seq, seq + 1))


def _said(state: SessionState, history: History, entry: Entry, message: Message) -> Utterance:
    records = tuple(
        Record(kind=kind, text=text, seq=entry.seq, digest=entry.digest, role=entry.role)
        for kind, text in state.walker.records.get(entry.digest, ())
    )
    outside = state.walker.outside.get(entry.digest, ())
    return Utterance(
        seq=entry.seq,
        role=entry.role,
        passages=tuple(replace(each, outside=outside) for each in voices(message, entry.seq)),
        tokens=entry.tokens,
        opens=history.span(history.turn_of(entry.seq))[0] == entry.seq,
        records=records,
    )


def behind(history: History, turns: Sequence[int]) -> list[Sequence[int]]:
    """For each turn its messages, or those that the note in its place covers."""
    notes: dict[int, list[int]] = {}
    for entry in history.entries if any(map(history.stand_in, turns)) else ():
        if entry.noted_by is not None:
            notes.setdefault(entry.noted_by, []).append(entry.seq)
    return [_note(history, turn, notes) or [entry.seq for entry in _entries(history, turn)] for turn in turns]


def _note(history: History, turn: int, notes: Mapping[int, list[int]]) -> list[int]:
    return next((notes[entry.seq] for entry in _entries(history, turn) if entry.stand_in), [])


def _entries(history: History, turn: int) -> Sequence[Entry]:
    first, last = history.span(turn)
    return history.entries[first : last + 1]


def _enveloped(text: str, heard: Sequence[Utterance]) -> str:
    by = Counter(each.role for each in heard)
    return summary_note(text, first=heard[0].seq, last=heard[-1].seq, by=by)


def _price(history: History, text: str) -> int:
    return history.frame.price(history.frame.scribe.note(text))


def put(state: SessionState, note: Note) -> None:
    """Leave the messages out and let the note stand where the last of them stood."""
    place = note.entries[-1].seq
    for entry in note.entries:
        text = note.text if entry.seq == place else ""
        state.store.mark(state.id, entry.seq, absence="left out", stand_in=text, noted_by=place)


def put_again(state: SessionState, seqs: Sequence[int], before: str, *, title: str = "") -> None:
    """Something that a note covered was erased: the note is made again of what is left, at once."""
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
    entries = tuple(entry for turn in whole for entry in _entries(history, turn))
    if is_counts_note(before):
        put(state, Note(entries=entries, text=counted(state, history, whole)))
    elif note := made(
        state, target, whole, answer=partial(extractive_summary, count=target.meter.text), title=title
    ):
        put(state, note)
    else:
        for entry in entries:
            state.store.mark(state.id, entry.seq, absence="")


def _left_out(history: History, turn: int) -> bool:
    return all(entry.absence == "left out" for entry in _entries(history, turn))


def acted_on(
    state: SessionState, target: Target, plan: Callable[[Answer], P], act: Callable[[P, list[Event]], R]
) -> R:
    """Act on a plan in one transaction that waits neither for a model nor for the plan to be made.

    Where what was planned on changed meanwhile, another plan is made; what was only added changes nothing.
    Among others who change something all the time, the last plan is made while they wait.
    """
    asked: set[str] = set()
    for _ in range(PLANS):
        with state.reading():
            made = _planned(state, target, plan)
        new = [ask for ask in made.asks if ask.key not in asked]
        asked |= {ask.key for ask in new}
        if _written(state, new):
            continue
        with state.writing() as events:
            if made.holds(state.log.head):
                made.answers.save()
                return act(made.plan, events)
    with state.writing() as events:
        made = _planned(state, target, plan)
        made.answers.save()
        return act(made.plan, events)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Planned(Generic[P]):
    """A plan, where the session stood, and what was asked for it."""

    plan: P
    head: Head
    asks: Sequence[Ask]
    answers: Answers

    def holds(self, now: Head) -> bool:
        return (now.branch, now.version) == (self.head.branch, self.head.version)


def _planned(state: SessionState, target: Target, plan: Callable[[Answer], P]) -> _Planned[P]:
    asks: list[Ask] = []
    answers = Answers(state.resources.library, target.meter.text, better=False)

    def answer(ask: Ask) -> Summary:
        asks.append(ask)
        return answers(ask)

    return _Planned(plan=plan(answer), head=state.log.head, asks=asks, answers=answers)


def _written(state: SessionState, asks: Iterable[Ask]) -> bool:
    """Have the model that writes summaries, if one does, answer; False: there was nothing to do for it."""
    write, library = state.resources.writer, state.resources.library
    if write is None:
        return False
    found = ((ask, library.find(ask)) for ask in asks)
    missing = [ask for ask, summary in found if summary is None or summary.by == "extractive"]
    for ask in missing:
        library.save(ask, write(ask))
    return bool(missing)


def open_turn(history: History) -> int:
    """The last turn that windows show, which the model is to answer or has just answered; -1 without one."""
    system = {turn for turn, why in history.pinned.items() if why == "system prompt"}
    turns = range(len(history) - 1, -1, -1)
    return next((turn for turn in turns if turn not in system and not history.absence(turn)), -1)
