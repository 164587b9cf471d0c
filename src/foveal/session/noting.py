"""Turns of a session in → the note that windows show in their place; a message in → whom its note covers.

A note is data in an envelope. It covers the left-out messages before it, back to the note before it or to
the first message that windows still show; system prompts and pins stand aside and are covered by none.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from foveal.model import Entry, Message
from foveal.pipeline.compact.envelope import END, RECORDS, enveloped, recorded
from foveal.pipeline.compact.extract import extractive
from foveal.pipeline.compact.records import Record, distinct
from foveal.pipeline.compact.tasks import task_summary
from foveal.pipeline.compact.values import Answer, Ask, Summary
from foveal.pipeline.compact.voices import Said, voices
from foveal.pipeline.history import History
from foveal.pipeline.summary import of_counts, summary_text
from foveal.session.core import Core
from foveal.session.target import Target

SHARE = 4
"""A note is to be at most this part of what it stands for; where that is too little to say anything, half."""
LEAST = 24
"""Tokens of words that are worth a note."""
RESOLVED = 3
"""Errors with what resolved them that a note tells of, the newest: decisions need the room."""
MOST = 300
"""Tokens of a note, whatever it stands for: small windows need small notes. Only records may take more."""


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
    """The left-out messages whose note covers this one, the note's own last; empty where none does."""
    note = seq
    while note < len(entries) and not entries[note].stand_in:
        if not _aside(entries[note]):
            return ()
        note += 1
    if note == len(entries) or not entries[seq].absence:
        return ()
    found = [note]
    for at in range(note - 1, -1, -1):
        if entries[at].stand_in or not _aside(entries[at]):
            break
        found.append(at)
    return tuple(at for at in reversed(found) if entries[at].absence == "left out")


def noted(entries: Sequence[Entry]) -> set[int]:
    """All positions that some note covers."""
    found: set[int] = set()
    under = False
    for entry in reversed(entries):
        under = bool(entry.stand_in) or (under and _aside(entry))
        if under and entry.absence == "left out":
            found.add(entry.seq)
    return found


def _aside(entry: Entry) -> bool:
    """May it stand among what a note covers?"""
    return bool(entry.absence) or entry.pinned or entry.role == "system"


def made(core: Core, aim: Target, turns: Sequence[int], *, answer: Answer, title: str = "") -> Note | None:
    """The note for these turns; None where it would not be worth its tokens.

    It takes half of theirs at most. Records are never left out for that: with them it may take more, but
    always less than the turns.
    """
    history = core.ledger.history(aim)
    heard = said(core, history, turns)
    original = sum(each.tokens for each in heard)
    price = partial(_price, history)
    empty = price(_enveloped(title, heard))
    room = min(MOST, original // SHARE) - empty
    if room < LEAST:
        room = min(LEAST, original // 2 - empty)
    most = original - 1 if any(each.records for each in heard) else original // 2
    # A model's words are counted by another vocabulary, and may be too many in this one.
    for by in (answer, partial(extractive, count=aim.meter.text)) if room > 0 else ():
        summary = told(core, aim, heard, tokens=room, answer=by)
        text = _enveloped("\n".join(filter(None, (title, summary))), heard)
        if price(text) <= most:
            entries = tuple(e for turn in turns for e in _entries(history, turn))
            return Note(entries=entries, text=text, summary=summary, original=original, tokens=price(text))
    return None


def told(core: Core, aim: Target, heard: Sequence[Said], *, answer: Answer, tokens: int | None = None) -> str:
    """The summary of messages: what was decided word for word, errors with what resolved them, the rest.

    Without a number of tokens, half of the messages' own or as many as a note has at most.
    """
    if not heard:
        return ""
    first, last = heard[0].seq, heard[-1].seq
    most = max(1, min(MOST, sum(each.tokens for each in heard) // 2)) if tokens is None else tokens
    resolved = [r for r in core.walker.resolved if first <= r.error_seq and r.resolution_seq <= last]
    return task_summary(heard, resolved[-RESOLVED:], tokens=most, count=aim.meter.text, answer=answer)


def counted(core: Core, history: History, turns: Sequence[int]) -> str:
    """The note of counts for these turns, with their records."""
    seqs = [seq for turn in turns for seq in behind(history, turn)]
    records = distinct(record for each in said(core, history, turns) for record in each.records)
    lines = (RECORDS, *map(recorded, records)) if records else ()
    return "\n".join((summary_text([message for _, message in read(history, seqs)]), *lines, END))


def shown(history: History, turn: int) -> int:
    """Tokens that windows may show of a turn: its own, or those of the note in its place."""
    if history.absence(turn):
        return 0
    return history.chunk(turn).tokens if history.stand_in(turn) else history.between(*history.span(turn))


def said(core: Core, history: History, turns: Iterable[int]) -> list[Said]:
    """The messages of turns as compaction sees them, those behind notes included."""
    core.walker.catch_up()
    return [
        _said(core, history, history.entries[seq], message)
        for turn in turns
        for seq, message in read(history, behind(history, turn))
    ]


def read(history: History, seqs: Sequence[int]) -> Iterable[tuple[int, Message]]:
    """The messages at these positions, neighbours in one go."""
    if seqs and seqs[-1] - seqs[0] == len(seqs) - 1:
        return zip(seqs, history.read(seqs[0], seqs[-1] + 1), strict=True)
    return ((seq, message) for seq in seqs for message in history.read(seq, seq + 1))


def _said(core: Core, history: History, entry: Entry, message: Message) -> Said:
    records = tuple(
        Record(kind=kind, text=text, seq=entry.seq, digest=entry.digest, role=entry.role)
        for kind, text in core.walker.records.get(entry.digest, ())
    )
    outside = core.walker.outside.get(entry.digest, ())
    return Said(
        seq=entry.seq,
        role=entry.role,
        passages=tuple(replace(each, outside=outside) for each in voices(message, entry.seq)),
        tokens=entry.tokens,
        opens=history.span(history.turn_of(entry.seq))[0] == entry.seq,
        records=records,
    )


def behind(history: History, turn: int) -> Sequence[int]:
    """The messages of a turn, or those that the note in its place covers."""
    own = _entries(history, turn)
    note = next((entry.seq for entry in own if entry.stand_in), None)
    return [entry.seq for entry in own] if note is None else covered(history.entries, note)


def _entries(history: History, turn: int) -> Sequence[Entry]:
    first, last = history.span(turn)
    return history.entries[first : last + 1]


def _enveloped(text: str, heard: Sequence[Said]) -> str:
    by = Counter(each.role for each in heard)
    return enveloped(text, first=heard[0].seq, last=heard[-1].seq, by=by)


def _price(history: History, text: str) -> int:
    return history.frame.price(history.frame.scribe.note(text))


def put(core: Core, note: Note) -> None:
    """Leave the messages out and let the note stand where the last of them stood."""
    for entry in note.entries:
        text = note.text if entry is note.entries[-1] else ""
        core.store.mark(core.id, entry.seq, absence="left out", stand_in=text)


def put_again(core: Core, seqs: Sequence[int], before: str, *, title: str = "") -> None:
    """Something that a note covered was erased: the note is made again of what is left, at once."""
    core.ledger.catch_up()
    for seq in seqs:
        if core.ledger.entries[seq].stand_in:
            core.store.mark(core.id, seq, absence="left out")
    core.ledger.catch_up()
    aim = core.aim()
    history = core.ledger.history(aim)
    whole = [turn for turn in sorted({history.turn_of(seq) for seq in seqs}) if _left_out(history, turn)]
    if not whole:
        return
    entries = tuple(entry for turn in whole for entry in _entries(history, turn))
    if of_counts(before):
        put(core, Note(entries=entries, text=counted(core, history, whole)))
    elif note := made(core, aim, whole, answer=partial(extractive, count=aim.meter.text), title=title):
        put(core, note)
    else:
        for entry in entries:
            core.store.mark(core.id, entry.seq, absence="")


def _left_out(history: History, turn: int) -> bool:
    return all(entry.absence == "left out" for entry in _entries(history, turn))


def written_beforehand(core: Core, aim: Target, plan: Callable[[Answer], object]) -> None:
    """Have the model that writes summaries, if one does, answer what a plan will ask, before it is acted on.

    It may take its time, so nothing is locked meanwhile; where the session changes, extracts serve.
    """
    if core.desk.writer is None:
        return
    asks: list[Ask] = []

    def noted_down(ask: Ask) -> Summary:
        asks.append(ask)
        return extractive(ask, aim.meter.text)

    with core.reading():
        plan(noted_down)
    for ask in asks:
        found = core.desk.library.find(ask)
        if found is None or found.by == "extractive":
            core.desk.library.save(ask, core.desk.writer(ask))


def open_turn(history: History) -> int:
    """The last turn that windows show, which the model is to answer or has just answered; -1 without one."""
    system = {turn for turn, why in history.pinned.items() if why == "system prompt"}
    turns = range(len(history) - 1, -1, -1)
    return next((turn for turn in turns if turn not in system and not history.absence(turn)), -1)
