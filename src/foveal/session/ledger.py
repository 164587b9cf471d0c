"""What a process remembers of a stored session, caught up with the store before each use.

An append by anybody costs the new entries; a change of old ones (a pin, a fork) has all entries read again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from foveal import wire
from foveal.errors import NotFoundError
from foveal.model import Entry, Format, Message
from foveal.pipeline.history import History
from foveal.session.target import Target
from foveal.store import Content, Head, Store

FRESH_MOST = 512
"""Messages just appended that are kept at hand, so that the next build need not read them back."""


class Ledger:
    def __init__(self, store: Store, session: int) -> None:
        self._store = store
        self._session = session
        self._head = Head(branch=-1, length=0, version=-1)
        self._entries: list[Entry] = []
        self._ids: dict[str, int] = {}
        self._fresh: dict[int, Message] = {}
        self._history: tuple[Target, History] | None = None

    @property
    def entries(self) -> Sequence[Entry]:
        return self._entries

    def catch_up(self) -> None:
        """See what others wrote since."""
        head = self._store.head(self._session)
        if (head.branch, head.version) != (self._head.branch, self._head.version):
            self._entries, self._ids, self._fresh, self._history = [], {}, {}, None
        if head.length > len(self._entries):
            self._take(self._store.entries(self._session, start=len(self._entries), stop=head.length))
        self._head = head

    def appended(self, entries: Sequence[Entry], messages: Sequence[Message]) -> None:
        """Take what this process just stored, if nobody else wrote in between."""
        if entries and entries[0].seq == len(self._entries):
            self._take(entries)
            self._head = replace(self._head, length=len(self._entries))
            self._fresh |= {entry.seq: m for entry, m in zip(entries, messages, strict=True)}
            while len(self._fresh) > FRESH_MOST:
                del self._fresh[next(iter(self._fresh))]

    def _take(self, entries: Sequence[Entry]) -> None:
        self._entries += entries
        self._ids |= {entry.id: entry.seq for entry in entries}
        if self._history:
            aim, history = self._history
            history.extend(self._priced(entries, aim))

    def entry(self, id: str) -> Entry:
        """The entry of that id or handle."""
        seq = self._ids.get(id)
        if seq is None and id.startswith("fv-"):
            seq = next((e.seq for e in reversed(self._entries) if e.handle == id), None)
        if seq is None:
            raise NotFoundError(
                f"no message {id!r} among {len(self._entries):,} of this session",
                remedy="`foveal search` shows the ids",
            )
        return self._entries[seq]

    def history(self, aim: Target, stored: Format) -> History:
        """The session's turns, as the target sees them; kept from build to build."""
        if self._history and self._history[0] is aim:
            return self._history[1]
        history = History(self.read, aim.frame(stored))
        history.extend(self._priced(self._entries, aim))
        self._history = (aim, history)
        return history

    def read(self, start: int, stop: int) -> Sequence[Message]:
        """The messages from one position up to another."""
        fresh = [self._fresh.get(seq) for seq in range(start, stop)]
        if all(fresh):
            return [message for message in fresh if message]
        found = self._store.messages(self._session, start=start, stop=stop)
        return [self._message(self._entries[start + at], content) for at, content in enumerate(found)]

    def _message(self, entry: Entry, content: Content | None) -> Message:
        if content is None:
            raise NotFoundError(
                f"message `{entry.id}` was erased", remedy="nothing brings it back; add it again"
            )
        message = wire.reread(content.body, content.format, entry.role, digest=content.digest)
        return replace(message, id=entry.id, pinned=entry.pinned)

    def _priced(self, entries: Sequence[Entry], aim: Target) -> Sequence[Entry]:
        """The entries with their tokens under the target's counter: known ones looked up, others counted."""
        counter = aim.counter_key
        unknown = [entry.digest for entry in entries if entry.counter != counter or not counter]
        known = self._store.tokens(unknown, counter) if unknown and counter else {}
        priced = []
        counted: dict[str, int] = {}
        for entry in entries:
            if (counter and entry.counter == counter) or entry.absence == "erased":
                priced.append(entry)
                continue
            tokens = known.get(entry.digest)
            if tokens is None:
                (message,) = self.read(entry.seq, entry.seq + 1)
                tokens = counted[entry.digest] = aim.meter.message(message)
            priced.append(replace(entry, tokens=tokens, counter=counter))
        if counted and counter:
            self._store.save_tokens(counted, counter)
        return priced
