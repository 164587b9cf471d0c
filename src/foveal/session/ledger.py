"""What a process remembers of a stored session, caught up with the store before each use.

An append by anybody costs the new entries; a change of old ones (a pin, a fork) has all entries read again.
Messages are read again where their own entry changed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace

from foveal import wire
from foveal.errors import NotFoundError
from foveal.model import Entry, Message
from foveal.pipeline.history import History
from foveal.session.target import PRIVATE, Target
from foveal.store import Content, Head, SessionRecord, Store

FRESH_MOST = 512
"""Messages just appended that are kept at hand, so that the next build need not read them back."""


HISTORIES_MOST = 3
"""Ways of counting whose turns are kept at hand: a session that alternates models pays once for each."""


class Ledger:
    def __init__(self, store: Store, record: SessionRecord) -> None:
        self._store = store
        self._session = record.id
        self.head = replace(record.head, length=0, version=-1)
        self._entries: list[Entry] = []
        self.erased = 0
        """How many messages of the branch are gone for good."""
        self._fresh: dict[int, Message] = {}
        self._histories: dict[tuple[str, bool], History] = {}
        self._prepared: dict[tuple[str, bool], History] = {}
        """Those of before messages were pinned or left out: most of their turns are still the same."""
        self._counted: dict[str, dict[str, int]] = {}

    @property
    def entries(self) -> Sequence[Entry]:
        return self._entries

    def catch_up(self) -> None:
        """See what others wrote since."""
        head = self._store.head(self._session)
        if (head.branch, head.version) != (self.head.branch, self.head.version):
            prepared = self._histories if head.branch == self.head.branch else {}
            self.reset()
            self._prepared = prepared
        self._move(head)
        if head.length > len(self._entries):
            self._take(self._store.entries(self._session, start=len(self._entries), stop=head.length))

    def _move(self, head: Head) -> None:
        if head.format != self.head.format:  # where turns end depends on it
            self._histories = {}
        self.head = head

    def reset(self) -> None:
        """Forget everything: the store is asked again."""
        self.head = replace(self.head, length=0, version=-1)
        self._entries, self._fresh, self._histories, self._prepared = [], {}, {}, {}
        self.erased = 0

    def appended(self, entries: Sequence[Entry], messages: Sequence[Message]) -> None:
        """Take what this process just stored, if that is all that changed."""
        head = self._store.head(self._session)
        if entries and entries[0].seq == len(self._entries) and head.version == self.head.version:
            self._move(head)
            self._take(entries)
            pairs = zip(entries, messages, strict=True)
            self._fresh |= {entry.seq: _marked(message, entry) for entry, message in pairs}
            while len(self._fresh) > FRESH_MOST:
                del self._fresh[next(iter(self._fresh))]

    def _take(self, entries: Sequence[Entry]) -> None:
        self._entries += entries
        self.erased += sum(entry.absence == "erased" for entry in entries)
        for (key, _), history in self._histories.items():
            history.extend(self._priced(entries, key, history.frame.price))

    def history(self, aim: Target) -> History:
        """The session's turns, as the target sees them; kept from build to build."""
        key = (aim.history_key, aim.handles)
        if key not in self._histories:
            while len(self._histories) >= HISTORIES_MOST:
                del self._histories[next(iter(self._histories))]
            history = History(self.read, aim.frame(self.head.format or "plain"))
            history.extend(self._priced(self._entries, aim.history_key, history.frame.price))
            if before := self._prepared.pop(key, None):
                history.adopt(before)
            self._histories[key] = history
        return self._histories[key]

    def read(self, start: int, stop: int) -> Sequence[Message]:
        """The messages from one position up to another, in the session's format where they may be its."""
        fresh = [self._fresh.get(seq) for seq in range(start, stop)]
        if all(fresh):
            return [self._native(message) for message in fresh if message]
        found = self._store.messages(self._session, start=start, stop=stop)
        entries = self._entries[start:stop]
        return [self._native(self._message(*each)) for each in zip(entries, found, strict=True)]

    def read_unerased(self, entries: Sequence[Entry]) -> Sequence[Message | None]:
        """The messages of entries, None where one was erased."""
        if not entries:
            return []
        runs = entries[-1].seq - entries[0].seq == len(entries) - 1
        if runs and not any(entry.absence == "erased" for entry in entries):
            return self.read(entries[0].seq, entries[-1].seq + 1)
        return [
            None if entry.absence == "erased" else self.read(entry.seq, entry.seq + 1)[0] for entry in entries
        ]

    def _native(self, message: Message) -> Message:
        """Words alone look the same everywhere: once the session has a format, they are in it."""
        form = self.head.format
        if message.format != "plain" or form in (None, "plain", "gemini") or message.role == "system":
            return message
        alone = json.loads(message.body).keys() == {"role", "content"}
        return replace(message, format=form) if alone and not message.results else message

    def _message(self, entry: Entry, content: Content | None) -> Message:
        if content is None:
            raise NotFoundError(
                f"message `{entry.id}` was erased", remedy="nothing brings it back; add it again"
            )
        message = wire.reread(content.body, content.format, entry.role, digest=content.digest)
        return _marked(message, entry)

    def _priced(self, entries: Sequence[Entry], key: str, price: Callable[[Message], int]) -> Sequence[Entry]:
        """The entries with their tokens under a counter: known ones looked up, the others counted."""
        unknown = [entry.digest for entry in entries if entry.counter != key]
        if not unknown:
            return entries
        known = dict(self._store.tokens(unknown, key)) if not key.startswith(PRIVATE) else {}
        counted = self._counted.setdefault(key, {})
        priced = []
        for entry in entries:
            if entry.counter == key or entry.absence == "erased":
                priced.append(entry)
                continue
            tokens = known.get(entry.digest)
            if tokens is None:
                (message,) = self.read(entry.seq, entry.seq + 1)
                tokens = known[entry.digest] = counted[entry.digest] = price(message)
            priced.append(replace(entry, tokens=tokens, counter=key))
        return priced

    def save_counts(self) -> None:
        """Store what was counted anew, so that nobody counts it again."""
        for key, counts in self._counted.items():
            if counts and not key.startswith(PRIVATE):
                self._store.save_tokens(counts, key)
        self._counted = {}


def _marked(message: Message, entry: Entry) -> Message:
    return replace(message, id=entry.id, pinned=entry.pinned, kind=entry.kind)
