"""Write notes again once a model has written the summaries that were extracts when they were made.

A build and the background insert notes without waiting for a model. What it writes later is stored under the
key of the request for it; a note is written again when all of its summaries are stored.
"""

from __future__ import annotations

from collections.abc import Container
from functools import partial
from hashlib import sha256

from foveal.events import Event
from foveal.pipeline.summarize.counts import is_counts_note
from foveal.pipeline.summarize.values import Answer, Ask, Summary
from foveal.session.history import stand_ins
from foveal.session.history.stand_ins import Note
from foveal.session.history.tasks import title_of
from foveal.session.state import SessionState


class NoteRenewal:
    """The summaries that the notes of one session wait for. It outlives the session's state in memory."""

    def __init__(self) -> None:
        self._missing: dict[bytes, frozenset[str]] = {}
        """By the hash of a note, the keys of the summaries that are still extracts; none: it is final."""

        self.left = False
        """Whether notes are left to look at until the model's queue has room for their summaries."""

    @property
    def keys(self) -> frozenset[str]:
        """The keys of all summaries that notes wait for."""
        return frozenset().union(*self._missing.values())

    def ready(self, written: Container[str]) -> bool:
        """Whether all that a note waits for is among the written summaries."""
        return any(keys and all(key in written for key in keys) for keys in self._missing.values())

    def renew_one(self, state: SessionState) -> bool:
        """Look at one note that was not looked at, or is ready; returns whether another may be left."""
        library = state.resources.library
        if state.resources.writer is None:
            return False
        written = library.written(self.keys)
        with state.reading():
            notes = {_hash(entry.stand_in): entry.seq for entry in state.log.entries if entry.stand_in}
            texts = {seq: state.log.entries[seq].stand_in for seq in notes.values()}
        self._missing = {note: keys for note, keys in self._missing.items() if note in notes}
        open = [note for note, keys in self._missing.items() if keys and keys <= written]
        new = [note for note in notes if note not in self._missing]
        self.left = bool(new) and library.crowded
        open += [] if library.crowded else new
        if not open:
            return False
        self._renew(state, texts[notes[open[0]]], notes[open[0]])
        return len(open) > 1

    def _renew(self, state: SessionState, text: str, seq: int) -> None:
        target, keys = state.target(), set[str]()

        def plan(answer: Answer) -> Note | None:
            def followed(ask: Ask) -> Summary:
                summary = answer(ask)
                if summary.by != "llm":
                    keys.add(ask.key)
                return summary

            keys.clear()
            history = state.log.history(target)
            turn = history.turn_of(seq)
            covered = stand_ins.covered(history.entries, seq)
            if history.stand_in(turn) != text or is_counts_note(text) or title_of(state, covered, text):
                return None
            return stand_ins.write_note(state, target, [turn], answer=followed)

        stand_ins.plan_and_apply(state, target, plan, partial(self._replace, state, text), waits=False)
        self._missing[_hash(text)] = frozenset(keys)

    def _replace(self, state: SessionState, text: str, note: Note | None, _events: list[Event]) -> None:
        if note and note.text != text:
            stand_ins.insert_note(state, note)
            self._missing[_hash(note.text)] = frozenset()


def _hash(note: str) -> bytes:
    return sha256(note.encode()).digest()
