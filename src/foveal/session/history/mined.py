"""A session in → what is learnt by walking through it in order: its typed records, its resolved errors.

Only new messages cost anything: the walk goes on where it ended, and starts again when the past changed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from foveal.model import Entry, Message
from foveal.pipeline.summarize.failures import FailureTracker, ResolvedError
from foveal.pipeline.summarize.records import EchoDetector
from foveal.pipeline.summarize.values import RecordKind
from foveal.pipeline.summarize.voices import read_message
from foveal.session.values import Recorded

if TYPE_CHECKING:
    from foveal.session.state import SessionState

READ = 512
"""Messages that are read at a time."""
_ALL = 1 << 62


class Walker:
    """How far a process has walked through one session, and what it heard on the way."""

    def __init__(self, state: SessionState) -> None:
        self._state = state
        self._known: tuple[int, int] = (-1, 0)
        """The branch, and how many of its messages were erased, when the walk began."""
        self._begin()

    def _begin(self) -> None:
        self._at = 0
        self._heard, self._walk = EchoDetector(), FailureTracker()
        self.records: dict[str, tuple[tuple[RecordKind, str], ...]] = {}
        """Kind and text of each, by content."""
        self.outside: dict[str, tuple[str, ...]] = {}
        """Sentences that only repeat what came from outside, by content."""
        self.resolved: list[ResolvedError] = []
        """Errors of before with what resolved them, in the order of their resolutions."""

    def catch_up(self) -> None:
        log = self._state.log
        known = (log.head.branch, log.erased)
        if known != self._known or self._at > len(log.entries):
            self._begin()
            self._known = known
        for start in range(self._at, len(log.entries), READ):
            entries = log.entries[start : start + READ]
            for entry, message in zip(entries, log.read_unerased(entries), strict=True):
                if message is not None:
                    self._over(entry, message)
        self._at = len(log.entries)

    def _over(self, entry: Entry, message: Message) -> None:
        said = read_message(message, entry.seq, self._heard)
        self.records.setdefault(entry.digest, tuple((each.kind, each.text) for each in said.records))
        if outside := tuple(sentence for passage in said.passages for sentence in passage.outside):
            self.outside.setdefault(entry.digest, outside)
        self.resolved += self._walk.read(message, entry.seq)


def session_records(state: SessionState) -> tuple[Recorded, ...]:
    with state.reading():
        found = _unsaved(state)
    if found:
        state.store.save_records(state.id, found)
    with state.reading():
        ids = [entry.id for entry in state.log.entries]
        return tuple(
            Recorded(kind=each.kind, text=each.text, id=ids[each.seq], role=each.role)
            for each in state.store.records(state.id)
        )


def _unsaved(state: SessionState) -> Mapping[str, tuple[tuple[RecordKind, str], ...]]:
    """The records of contents that were not mined here yet; a session without such contents is not walked."""
    missing = {content.digest for content in state.store.unmined(state.id, limit=_ALL)}
    if missing.isdisjoint(entry.digest for entry in state.log.entries):
        return {}
    state.walker.catch_up()
    return {digest: state.walker.records[digest] for digest in missing & state.walker.records.keys()}
