"""Read what an agent shares out of its session: decisions and facts, changed files, results of checks.

Only new messages are read, each turn once it is complete; everything is read again after an edit or an
erasure. A private message shares nothing, nor does the turn that it is in. A fact never changes: where the
state of a file or a check moves on, a new fact replaces it, so a note with the earlier one stays as it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from foveal.model import Entry, Message
from foveal.pipeline.summarize.language import sentences
from foveal.pipeline.summarize.notes import quoted_line
from foveal.pipeline.summarize.rules import rules_in
from foveal.pipeline.summarize.statements import is_supposition
from foveal.pipeline.values import FactKey
from foveal.presets.foveal.log import LogEntry, LogReader
from foveal.presets.foveal.log_note import LogLine, head
from foveal.presets.foveal.paths import Paths
from foveal.search.terms import terms
from foveal.session.history.records import SessionRecords
from foveal.session.state import SessionState

FINDINGS = 8
"""Sentences with names that are shared of one message: those with the most."""
NAMED = 1.0
"""The weight of the names that such a sentence has at least."""
LONGEST = 300
"""Characters of a fact."""
BEGINNING = 200
"""Characters by which the sentence is found that a record has the beginning of."""
FILES = 6
"""Changed files, the latest, that a fact is found by."""
WORTH = {"decided": 1.5, "changed": 1.2, "checked": 1.0, "said": 1.0}
"""What a fact counts for, by kind, where it matches what another agent is doing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """Something that an agent shares."""

    key: FactKey
    agent: str
    kind: str
    """decided, changed, checked or said."""
    voice: str
    """Who said it: user or agent."""
    text: str
    """As a note quotes it, in one line."""
    said_at: float
    terms: tuple[str, ...]
    subjects: tuple[str, ...] = ()
    """The files or the check that it is about: the agent's next fact about all of them replaces it."""

    @property
    def order(self) -> tuple[float, FactKey]:
        return self.said_at, self.key


class SharedFacts:
    """The facts of one session, in order."""

    def __init__(self, state: SessionState) -> None:
        self.state = state
        self.readings = 0
        """How often reading began: positions in `facts` are valid for one reading."""
        self._known: tuple[int, int] = (-1, 0)
        self._begin()

    def _begin(self) -> None:
        self.facts: list[Fact] = []
        self._turn = 0
        self.texts: set[str] = set()
        """Their texts without case."""
        self._latest: dict[str, int] = {}
        self._changed: list[str] = []
        """The latest changed files, by which results of checks are found too."""
        self._asked, self._touched = "", list[str]()
        """Its user's latest words, and the files changed since: by them, what it says is found too."""
        self._sum = 0
        self._summed = 0
        self.readings += 1

    def catch_up(self) -> None:
        """Read the turns that are new and complete. The caller reads the store."""
        log = self.state.log
        log.catch_up()
        known = (log.head.branch, log.erased)
        if known != self._known:
            self._begin()
            self._known = known
        self._sum += sum(entry.tokens for entry in log.entries[self._summed :])
        self._summed = len(log.entries)
        records, target = self.state.part(SessionRecords), self.state.target()
        records.catch_up()
        history, reader = log.history(target), LogReader(target.meter.text)
        while self._turn < len(history):
            first, last = history.span(self._turn)
            entries = log.entries[first : last + 1]
            if self._turn == len(history) - 1 and not _complete(entries):
                return
            if not any(entry.private for entry in entries):
                self._read(entries, log.read_unerased(entries), reader)
            self._turn += 1

    @property
    def tokens(self) -> int:
        """Tokens of all messages."""
        return self._sum

    @property
    def latest(self) -> float:
        """When the latest message was added; 0 if there is none."""
        entries = self.state.log.entries
        return entries[-1].created_at or 0.0 if entries else 0.0

    def is_shared(self, number: int) -> bool:
        """Whether windows may show the message that a fact is from: it was not left out on request."""
        entry = self.state.log.entries[self.facts[number].key[1]]
        return not entry.absence or entry.noted_by is not None or bool(entry.stand_in)

    def is_current(self, number: int) -> bool:
        """Whether no later fact has replaced it."""
        subjects = self.facts[number].subjects
        return not subjects or any(self._latest[each] == number for each in subjects)

    def _read(self, entries: Sequence[Entry], messages: Sequence[Message | None], reader: LogReader) -> None:
        there = [
            (e, m) for e, m in zip(entries, messages, strict=True) if m is not None and e.role != "system"
        ]
        by_seq = {entry.seq: entry for entry, _ in there}
        number: dict[int, int] = {}
        for found in reader.read([(entry.seq, message) for entry, message in there]):
            entry = by_seq[found.seq]
            for kind, text, about, subjects in self._facts_of(found, entry):
                part = number.get(entry.seq, 0)
                number[entry.seq] = part + 1
                self._add(entry, part, kind=kind, text=text, about=about, subjects=subjects)

    def _add(
        self, entry: Entry, part: int, *, kind: str, text: str, about: str, subjects: tuple[str, ...]
    ) -> None:
        text = quoted_line(text[: 2 * LONGEST])[:LONGEST]
        own = terms(text).all
        fact = Fact(
            key=(self.state.id, entry.seq, part, entry.digest[:16]),
            agent=self.state.name,
            kind=kind,
            voice="user" if entry.role == "user" else "agent",
            text=text,
            said_at=entry.created_at or 0.0,
            terms=(*own, *own, *terms(about).all),  # its own words count twice
            subjects=subjects,
        )
        self._latest |= dict.fromkeys(subjects, len(self.facts))
        self.facts.append(fact)
        self.texts.add(text.casefold())

    def _facts_of(self, found: LogEntry, entry: Entry) -> Iterator[tuple[str, str, str, tuple[str, ...]]]:
        """Kind, text, what else it is found by, and subjects of the facts in one entry of a log."""
        action, ended = found.action, found.outcome
        if action is None or ended is None:
            if found.voice == "user":
                self._asked, self._touched = found.excerpts.text[:LONGEST], []
            doing = " ".join((self._asked, *self._touched))
            yield from ((kind, text, doing, ()) for kind, text in self._said(found, entry))
            return
        if action.kind == "change" and ended.ok and (files := (*action.files, *action.removed)):
            self._changed = [*self._changed, *files][-FILES:]
            self._touched = [*self._touched, *files][-FILES:]
            yield "changed", _line(found), " ".join(files), files
        elif action.checks and ended.ok is not None and not ended.rejected:
            yield "checked", _line(found), " ".join(self._changed), (f"check {action.checks}",)

    def _said(self, found: LogEntry, entry: Entry) -> Iterator[tuple[str, str]]:
        """What an agent or its user decided, stated or found out."""
        if found.voice == "tool" or found.part:  # the records are those of the whole message
            return
        texts = [text for _, text in self.state.part(SessionRecords).records.get(entry.digest, ())]
        if found.voice == "user":
            texts += [rule.text for rule in rules_in(found.excerpts.text, entry.seq)]
        texts = [text for text in dict.fromkeys(texts) if not is_supposition(text)]
        yield from (("decided", text) for text in texts)
        if found.voice == "assistant":
            parts = [part for part in found.excerpts.parts if part.worth >= NAMED]
            best = sorted(parts, key=lambda part: -part.worth)[:FINDINGS]
            texts += _unclipped(texts, found.excerpts.text)
            for part in parts:
                text = found.excerpts.text[part.start : part.end].strip()
                if part in best and not any(text in known or known in text for known in texts):
                    yield "said", text


def _unclipped(texts: Sequence[str], whole: str) -> list[str]:
    """The sentences of a message of which such a text is only the beginning."""
    begun = {text[:BEGINNING] for text in texts if text.endswith("…")}
    return [sentence for sentence in sentences(whole) if sentence[:BEGINNING] in begun] if begun else []


def _line(found: LogEntry) -> str:
    """A call and how it ended, as a log shows it, without the number of its message."""
    return head(LogLine(entries=(found,)), Paths()).partition("] ")[2]


def _complete(entries: Sequence[Entry]) -> bool:
    """Whether every call of a turn has its result."""
    calls = {key for entry in entries for key in entry.calls}
    return calls <= {key for entry in entries for key in entry.answers}
