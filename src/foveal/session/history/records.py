"""Read a session in order to find its records and its resolved errors.

Only new messages are read: reading continues where it stopped, and starts over when earlier messages changed.
"""

from __future__ import annotations

from collections.abc import Mapping

from foveal.model import Entry, Message
from foveal.pipeline.summarize.failures import FailureTracker, ResolvedError
from foveal.pipeline.summarize.records import EchoDetector
from foveal.pipeline.summarize.values import RecordKind
from foveal.pipeline.summarize.voices import read_message
from foveal.session.state import SessionState
from foveal.session.values import Recorded

READ = 512
"""Messages that are read at a time."""
_ALL = 1 << 62


class SessionRecords:
    """What this process has found in one session so far."""

    def __init__(self, state: SessionState) -> None:
        self._state = state
        self._known: tuple[int, int] = (-1, 0)
        """The branch, and how many of its messages were erased, when reading began."""
        self._begin()

    def _begin(self) -> None:
        self._at = 0
        self._heard, self._walk = EchoDetector(), FailureTracker()
        self.records: dict[str, tuple[tuple[RecordKind, str], ...]] = {}
        """Kind and text of each record, by the digest of its message."""
        self.outside: dict[str, tuple[str, ...]] = {}
        """Sentences that only repeat text from outside the conversation, by the digest of their message."""
        self.resolved: list[ResolvedError] = []
        """Earlier errors with what resolved them, in the order of their resolutions."""

    def catch_up(self) -> None:
        """Read the messages that are new; all of them after an edit of the history or an erasure."""
        log = self._state.log
        known = (log.head.branch, log.erased)
        if known != self._known or self._at > len(log.entries):
            self._begin()
            self._known = known
        for start in range(self._at, len(log.entries), READ):
            entries = log.entries[start : start + READ]
            for entry, message in zip(entries, log.read_unerased(entries), strict=True):
                if message is not None:
                    self._read(entry, message)
        self._at = len(log.entries)

    def _read(self, entry: Entry, message: Message) -> None:
        said = read_message(message, entry.seq, self._heard)
        self.records.setdefault(entry.digest, tuple((each.kind, each.text) for each in said.records))
        if outside := tuple(sentence for passage in said.passages for sentence in passage.outside):
            self.outside.setdefault(entry.digest, outside)
        self.resolved += self._walk.read(message, entry.seq)


def session_records(state: SessionState) -> tuple[Recorded, ...]:
    """The decisions, constraints and corrections of a session, in order; new ones are stored first."""
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
    """The records of messages that were not mined yet; the session is read only if it has such messages."""
    missing = {content.digest for content in state.store.unmined(state.id, limit=_ALL)}
    if missing.isdisjoint(entry.digest for entry in state.log.entries):
        return {}
    state.part(SessionRecords).catch_up()
    return {
        digest: state.part(SessionRecords).records[digest]
        for digest in missing & state.part(SessionRecords).records.keys()
    }
