"""Hold one session's state in this process: its messages, its layouts and cost totals, its locks.

`MessageLog` mirrors the stored messages and catches up with the store before each use. An append by any
process costs the new entries; a change of older ones (a pin, a fork) reads all entries again, and a message
again only where its own entry changed.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from threading import RLock
from typing import Any, TypeVar

from foveal import presets, wire
from foveal.errors import FovealError, NotFoundError
from foveal.events import Event
from foveal.model import Entry, Format, Message
from foveal.pipeline.history import History
from foveal.pipeline.tokens.estimate import RECENT, calibration
from foveal.pipeline.values import Layout
from foveal.presets import Preset
from foveal.session.arguments import message_number
from foveal.session.costs import CostTotals
from foveal.session.resources import Parts, Resources
from foveal.session.summaries.library import Answers
from foveal.session.target import PRIVATE, Count, Target, check_counter, target_for
from foveal.store import Content, Head, Located, SessionRecord, Store

FRESH_MOST = 512
"""Messages appended or read last that stay in memory, so that the next build need not read them again."""
AHEAD, AHEAD_TOKENS = 32, 16_384
"""So many messages are read at a time, if they have no more tokens together: neighbours are read next."""
HISTORIES_MOST = 3
"""Histories that stay in memory, one per way of counting: a session that alternates models pays once each."""
TARGETS_MOST = 8
"""Targets that a session keeps."""
T = TypeVar("T")


class MessageLog:
    """The messages of a stored session, mirrored in memory."""

    def __init__(self, store: Store, record: SessionRecord) -> None:
        self._store = store
        self._session = record.id
        self.head = replace(record.head, length=0, version=-1)
        self._entries: list[Entry] = []
        self.erased = 0
        """Erased messages on this branch."""
        self._fresh: dict[int, Message] = {}
        self._last_read = (-1, -1)
        self._histories: dict[tuple[str, bool], History] = {}
        self._earlier: dict[tuple[str, bool], History] = {}
        """Histories from before messages were pinned or left out: most of their turns are still valid."""
        self._counted: dict[str, dict[str, int]] = {}

    @property
    def entries(self) -> Sequence[Entry]:
        return self._entries

    def catch_up(self) -> None:
        """Read what was written since, by this process or another; an interrupted one starts again."""
        try:
            self._catch_up()
        except BaseException:
            self.reset()  # histories may lack messages that the entries have
            raise

    def _catch_up(self) -> None:
        head = self._store.head(self._session)
        if (head.branch, head.version) != (self.head.branch, self.head.version):
            earlier = self._histories if head.branch == self.head.branch else {}
            self.reset()
            self._earlier = earlier
        self._move(head)
        if head.length > len(self._entries):
            self._take(self._store.entries(self._session, start=len(self._entries), stop=head.length))

    def _move(self, head: Head) -> None:
        if head.format != self.head.format:  # where turns end depends on it
            self._histories, self._fresh = {}, {}
        self.head = head

    def reset(self) -> None:
        """Drop everything; the next use reads the store again."""
        self.head = replace(self.head, length=0, version=-1)
        self._entries, self._fresh, self._histories, self._earlier = [], {}, {}, {}
        self.erased = 0

    def appended(self, entries: Sequence[Entry], messages: Sequence[Message]) -> None:
        """Add messages that this process just stored, if nothing else changed."""
        head = self._store.head(self._session)
        if entries and entries[0].seq == len(self._entries) and head.version == self.head.version:
            self._move(head)
            self._take(entries)
            pairs = zip(entries, messages, strict=True)
            self._keep({entry.seq: self._native(_marked(message, entry)) for entry, message in pairs})

    def _keep(self, messages: dict[int, Message]) -> None:
        """Keep these messages in memory, in place of those that came first."""
        self._fresh |= messages
        while len(self._fresh) > FRESH_MOST:
            del self._fresh[next(iter(self._fresh))]

    def _take(self, entries: Sequence[Entry]) -> None:
        self._entries += entries
        self.erased += sum(entry.absence == "erased" for entry in entries)
        for (key, _), history in self._histories.items():
            history.extend(self._priced(entries, key, history.frame.price))

    def history(self, target: Target) -> History:
        """The session's turns as the target sees them; kept between builds."""
        key = (target.history_key, target.handles)
        if key not in self._histories:
            while len(self._histories) >= HISTORIES_MOST:
                del self._histories[next(iter(self._histories))]
            history = History(self.read, target.frame(self.head.format or "plain"))
            history.extend(self._priced(self._entries, target.history_key, history.frame.price))
            if earlier := self._earlier.pop(key, None):
                history.adopt(earlier)
            self._histories[key] = history
        return self._histories[key]

    def read(self, start: int, stop: int) -> Sequence[Message]:
        """The messages from `start` up to `stop`, in the session's format where they can be written in it."""
        fresh = [self._fresh.get(seq) for seq in range(start, stop)]
        if not all(fresh) and stop - start < AHEAD and self._goes_on(start, stop):
            self._read_ahead(start, stop)
            fresh = [self._fresh.get(seq) for seq in range(start, stop)]
        self._last_read = start, stop
        if all(fresh):
            return [message for message in fresh if message]
        return self._stored(start, stop)

    def _goes_on(self, start: int, stop: int) -> bool:
        """Whether these messages are read right after their neighbours: then more of them will be."""
        first, last = self._last_read
        return start in (last, last + 1) or stop in (first, first - 1)

    def _read_ahead(self, start: int, stop: int) -> None:
        """Read these messages and those around them; not if one of those is large, or cannot be read."""
        first, last = start - start % AHEAD, min(stop + -stop % AHEAD, len(self._entries))
        around = self._entries[first:last]
        if sum(entry.tokens for entry in around) > AHEAD_TOKENS:
            return
        if any(entry.absence == "erased" for entry in around):
            return
        try:
            self._keep(dict(enumerate(self._stored(first, last), first)))
        except FovealError:
            return

    def _stored(self, start: int, stop: int) -> list[Message]:
        found = self._store.messages(self._session, start=start, stop=stop)
        entries = self._entries[start:stop]
        return [self._native(self._message(*each)) for each in zip(entries, found, strict=True)]

    def read_unerased(self, entries: Sequence[Entry]) -> Sequence[Message | None]:
        """The messages of these entries, None for an erased one."""
        if not entries:
            return []
        consecutive = entries[-1].seq - entries[0].seq == len(entries) - 1
        if consecutive and not any(entry.absence == "erased" for entry in entries):
            return self.read(entries[0].seq, entries[-1].seq + 1)
        return [
            None if entry.absence == "erased" else self.read(entry.seq, entry.seq + 1)[0] for entry in entries
        ]

    def _native(self, message: Message) -> Message:
        """A plain text message in the session's format: it reads the same in all of them."""
        form = self.head.format
        if message.format != "plain" or form in (None, "plain", "gemini") or message.results:
            return message
        if form == "anthropic" and message.role == "system":
            return message
        body = json.loads(message.body)
        same = form != "responses" or isinstance(body.get("content"), str)
        return replace(message, format=form) if same and body.keys() == {"role", "content"} else message

    def _message(self, entry: Entry, content: Content | None) -> Message:
        if content is None:
            raise _erased(entry.id)
        message = wire.reread(content.body, content.format, entry.role, digest=content.digest)
        return _marked(message, entry)

    def _priced(self, entries: Sequence[Entry], key: str, price: Callable[[Message], int]) -> Sequence[Entry]:
        """The entries with their tokens under a counter, looked up where they are stored, else counted."""
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
        """Store new token counts, so that no process counts these messages again."""
        for key, counts in self._counted.items():
            if counts and not key.startswith(PRIVATE):
                self._store.save_tokens(counts, key)
        self._counted = {}


def _marked(message: Message, entry: Entry) -> Message:
    return replace(message, id=entry.id, pinned=entry.pinned, kind=entry.kind)


def _erased(id: str) -> NotFoundError:
    return NotFoundError(f"message {id!r} was erased", remedy="it cannot be restored; add it again")


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredLayout:
    """The layout that a session's windows keep, and the build whose record has it."""

    layout: Layout
    past: int
    """Decisions about the messages before the layout's first turn."""
    left_out: int
    """How many of those messages are left out of the window."""
    build: int = 0
    """The build that stored it, with the decisions about its past; 0 before it is stored."""


class SessionState:
    """One session in this process. Every change happens inside `writing`."""

    def __init__(self, resources: Resources, record: SessionRecord) -> None:
        self.name = record.name
        self.resources = resources
        self.store = resources.store
        self.id = record.id
        self.log = MessageLog(resources.store, record)
        self.lock = RLock()
        self.repaired: set[tuple[int, int, str]] = set()
        """Repairs already reported: branch, position, rule."""
        self.cost_totals = CostTotals()
        """What the session's windows have cost so far."""
        self.layouts: dict[str, StoredLayout | None] = {}
        """The layouts that windows keep, by preset, counter and version of the history."""
        self.layouts_since = 0
        """The latest build when `layouts` was read; a build by another process makes it read again."""
        self._targets: dict[tuple[str, Format, str | Count | None], Target] = {}
        self._parts = Parts()

    def part(self, kind: Callable[[SessionState], T]) -> T:
        """The session's component of that kind, made on first use."""
        return self._parts.of(self, kind)

    def answers(self, target: Target, *, queues: bool = True) -> Answers:
        """The source of summaries for one build; `queues`: a model is to write better ones than extracts."""
        better = queues and self.resources.writer is not None
        return Answers(self.resources.library, target.meter.text, better=better)

    @property
    def model(self) -> str:
        return self.log.head.model

    @property
    def format(self) -> Format:
        # A system prompt among the messages is the shape of a client for other models.
        led = any(entry.role == "system" for entry in self.log.entries[:1])
        return self.log.head.format or ("plain" if led else wire.usual_format(self.model))

    @contextmanager
    def writing(self) -> Iterator[list[Event]]:
        """One transaction for a change and its events; subscribers get the events once it is committed."""
        events: list[Event] = []
        self.resources.worker.busy()
        with self.lock:
            try:
                with self.store.transaction():
                    self.log.catch_up()
                    yield events
                    if events:
                        self.store.log(self.name, events, now=time.time())
            except BaseException:
                self.log.reset()  # it may mirror what was rolled back
                raise
        if events:
            self.resources.changed(self.name)
        self.resources.bus.emit(events)

    @contextmanager
    def reading(self) -> Iterator[None]:
        """One consistent view of the store, with the log caught up."""
        self.resources.worker.busy()
        with self.lock, self.store.transaction(write=False):
            self.log.catch_up()
            yield

    def target(
        self, model: str = "", format: Format | None = None, counter: str | Count | None = None
    ) -> Target:
        """How windows for a model are counted, written and limited; kept between builds."""
        check_counter(counter)
        key = (model or self.model, format or self.format, counter or self.resources.counter)
        if key not in self._targets:
            while len(self._targets) >= TARGETS_MOST:
                del self._targets[next(iter(self._targets))]
            name, form, by = key
            self._targets[key] = target_for(
                name, form, counter=by, catalogue=self.resources.catalogue, learned=self.learned
            )
        return self._targets[key]

    def preset(self, name: str = "") -> Preset:
        """The preset of that name, else the session's own, with the numbers that are set for it."""
        return presets.find(name or self.log.head.preset, self.resources.numbers)

    def reset_targets(self) -> None:
        """Drop the targets: bills have changed how the model's tokens are estimated."""
        with self.lock:
            self._targets.clear()

    def learned(self, model: str, tokenizer: str) -> float:
        """The factor that the model's bills put on an estimate."""
        return calibration(self.store.bills(model, tokenizer, limit=RECENT))

    def original(self, handle: str, *, everywhere: bool = False) -> Any:
        """The message behind a handle or an id, exactly as it came in.

        `everywhere`: of any session, unless it is private there.
        """
        place = self.locate(handle)
        content = (
            place.content if place else self.store.by_handle(handle, shared=True) if everywhere else None
        )
        if content is not None:
            return wire.original(content.body, content.digest)
        if place is None:
            raise self.unknown(handle)
        raise _erased(handle)

    def locate(self, name: str) -> Located | None:
        """The message with that id or handle, else with that number, as `23`, `#23` or `m23`.

        After a fork, an id such as `m23` may belong to another message than the number.
        """
        place, number = self.store.locate(self.id, name), message_number(name)
        if place is not None or number is None:
            return place
        with self.reading():
            entries = self.log.entries
            return self.store.locate(self.id, entries[number - 1].id) if number <= len(entries) else None

    def located(self, id: str) -> Located:
        place = self.locate(id)
        if place is None:
            raise self.unknown(id)
        return place

    def unknown(self, id: str) -> NotFoundError:
        return NotFoundError(
            f"session `{self.name}` has no message {id!r}",
            remedy="`search` and `entries` give ids and handles",
            see="messages",
        )
