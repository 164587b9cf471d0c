"""Write notes again once a model has written the summaries that were extracts when they were made.

A build and the background insert notes without waiting for a model. What it writes later is stored under the
key of the request for it; a note is written again when all of its summaries are stored.
"""

from __future__ import annotations

from functools import partial

from foveal.events import Event
from foveal.pipeline.summarize.counts import is_counts_note
from foveal.pipeline.summarize.values import Answer, Ask, Summary
from foveal.session.history import stand_ins
from foveal.session.history.stand_ins import Note
from foveal.session.history.tasks import title_of
from foveal.session.state import SessionState


class NoteRenewal:
    """The notes of one session whose summaries a model has not written yet."""

    def __init__(self, state: SessionState) -> None:
        self._state = state
        self._missing: dict[str, frozenset[str]] = {}
        """By the text of a note, the keys of the summaries that are still extracts; none: it is final."""

    @property
    def ready(self) -> bool:
        """Whether a model has written what a note waits for."""
        return any(keys and self._written(keys) for keys in self._missing.values())

    def renew_one(self) -> bool:
        """Look at one note that was not looked at, or is ready; returns whether another may be left."""
        state = self._state
        if state.resources.writer is None:
            return False
        with state.reading():
            notes = {entry.stand_in: entry.seq for entry in state.log.entries if entry.stand_in}
            self._missing = {text: keys for text, keys in self._missing.items() if text in notes}
            open = [text for text in notes if text not in self._missing]
            open += [text for text, keys in self._missing.items() if keys and self._written(keys)]
        if not open:
            return False
        self._renew(open[0], notes[open[0]])
        return len(open) > 1

    def _renew(self, text: str, seq: int) -> None:
        state, target, keys = self._state, self._state.target(), set[str]()

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

        stand_ins.plan_and_apply(state, target, plan, partial(self._replace, text), waits=False)
        self._missing[text] = frozenset(keys)

    def _replace(self, text: str, note: Note | None, _events: list[Event]) -> None:
        if note and note.text != text:
            stand_ins.insert_note(self._state, note)
            self._missing[note.text] = frozenset()

    def _written(self, keys: frozenset[str]) -> bool:
        found = self._state.store.summaries(sorted(keys))
        return all(key in found and found[key].by == "llm" for key in keys)
