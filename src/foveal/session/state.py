"""What the parts of a session share: its store, its memory of it, one transaction around a change.

What a process remembers of a stored session, caught up with the store before each use.

An append by anybody costs the new entries; a change of old ones (a pin, a fork) has all entries read again.
Messages are read again where their own entry changed.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Lock, RLock
from typing import TYPE_CHECKING, Any

from foveal import wire
from foveal.config import Tables
from foveal.errors import NotFoundError
from foveal.events import Bus, Event
from foveal.jobs import Worker
from foveal.model import Entry, Format, Message
from foveal.pipeline.history import History
from foveal.pipeline.summarize.values import Answer
from foveal.pipeline.tokens.estimate import RECENT, calibration
from foveal.pipeline.values import Layout
from foveal.presets.fifth.levels import FifthNumbers
from foveal.presets.numbers import overridden
from foveal.presets.reploid import ReploidNumbers
from foveal.session.costs import CostTotals
from foveal.session.summaries.library import Answers, Library
from foveal.session.target import PRIVATE, Count, Target, target_for
from foveal.store import Content, Head, Located, SessionRecord, Store

if TYPE_CHECKING:
    from foveal.search.embed import Embedder
    from foveal.session.build.material import Kept
    from foveal.session.history.mined import Walker
    from foveal.session.knowledge.mine import Reader
    from foveal.session.knowledge.warmup import Warmer
    from foveal.session.search.search import Finder

FRESH_MOST = 512
"""Messages just appended that are kept at hand, so that the next build need not read them back."""


HISTORIES_MOST = 3
"""Ways of counting whose turns are kept at hand: a session that alternates models pays once for each."""


class MessageLog:
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

    def history(self, target: Target) -> History:
        """The session's turns, as the target sees them; kept from build to build."""
        key = (target.history_key, target.handles)
        if key not in self._histories:
            while len(self._histories) >= HISTORIES_MOST:
                del self._histories[next(iter(self._histories))]
            history = History(self.read, target.frame(self.head.format or "plain"))
            history.extend(self._priced(self._entries, target.history_key, history.frame.price))
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


REPLOID = ReploidNumbers()
FIFTH = FifthNumbers()
TARGETS_MOST = 8
"""Ways of counting a session keeps at hand."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Resources:
    """What every session of one `Foveal` shares."""

    store: Store
    bus: Bus
    worker: Worker
    library: Library
    reader: Reader
    """Who reads messages for what is known of their user."""
    warmer: Warmer
    """Who compiles bundles before they are needed."""
    catalogue: Path | None = None
    counter: str | None = None
    numbers: Tables | None = None
    choose_embedder: Callable[[], Embedder | None]
    """Made when first needed: a table of words is read, a model is loaded."""
    light: bool = True
    """Vectors are of a table of words, or nobody's: no model and no endpoint is asked for one."""
    writer: Answer | None = None
    """The model that writes summaries, if one does."""
    workspaces: dict[str, Kept] = field(default_factory=dict)
    """By root: what was read and parsed for one build serves the next."""
    remembering: Lock = field(default_factory=Lock)
    """Held while `workspaces` changes: sessions are built at once."""

    @property
    def embedder(self) -> Embedder | None:
        return self.choose_embedder()

    @property
    def reploid(self) -> ReploidNumbers:
        return overridden(REPLOID, self._set("reploid"), "numbers, preset reploid")

    @property
    def fifth(self) -> FifthNumbers:
        return overridden(FIFTH, self._set("fifth"), "numbers, preset fifth")

    def _set(self, preset: str) -> Mapping[str, object]:
        return (self.numbers or {}).get(preset, {})


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredLayout:
    """How the windows of a session hold still, and where that is stored."""

    layout: Layout
    past: int
    """Decisions about the messages before its first."""
    left_out: int
    """Of these messages, how many are not in the windows."""
    build: int = 0
    """The build whose record has it, with what was decided before it; 0: none yet."""


class SessionState:
    """One session's memory in this process. Whoever changes anything does it inside `writing`."""

    def __init__(self, resources: Resources, record: SessionRecord) -> None:
        self.name = record.name
        self.resources = resources
        self.store = resources.store
        self.id = record.id
        self.log = MessageLog(resources.store, record)
        self.lock = RLock()
        self.repaired: set[tuple[int, int, str]] = set()
        """Repairs that were told: branch, place, rule."""
        self.cost_totals = CostTotals()
        """What its windows cost so far."""
        self.layouts: dict[str, StoredLayout | None] = {}
        """The layouts of windows that hold still, by what they are good for."""
        self.layouts_since = 0
        """The newest build when they were right: after one of another process they are read again."""
        self._targets: dict[tuple[str, Format, str | Count | None], Target] = {}
        self._finder: Finder | None = None
        self._walker: Walker | None = None

    @property
    def finder(self) -> Finder:
        """The session's index; made when first needed."""
        from foveal.session.search.search import Finder

        if self._finder is None:
            self._finder = Finder(self)
        return self._finder

    @property
    def walker(self) -> Walker:
        """What is learnt by reading the session in order; made when first needed."""
        from foveal.session.history.mined import Walker

        if self._walker is None:
            self._walker = Walker(self)
        return self._walker

    def answers(self, target: Target) -> Answers:
        """Who answers one build for its summaries."""
        return Answers(self.resources.library, target.meter.text, better=self.resources.writer is not None)

    @property
    def model(self) -> str:
        return self.log.head.model

    @property
    def format(self) -> Format:
        return self.log.head.format or "plain"

    @contextmanager
    def writing(self) -> Iterator[list[Event]]:
        """One transaction for a change and its events; listeners hear of it when it is done."""
        events: list[Event] = []
        self.resources.worker.busy()
        with self.lock:
            try:
                with self.store.together():
                    self.log.catch_up()
                    yield events
                    if events:
                        self.store.log(self.name, events, now=time.time())
            except BaseException:
                self.log.reset()  # what it took in may not have happened
                raise
        self.resources.bus.emit(events)

    @contextmanager
    def reading(self) -> Iterator[None]:
        """One moment of the store, caught up with."""
        self.resources.worker.busy()
        with self.lock, self.store.together(write=False):
            self.log.catch_up()
            yield

    def target(
        self, model: str = "", format: Format | None = None, counter: str | Count | None = None
    ) -> Target:
        """How windows for a model are counted, written and limited; kept from build to build."""
        key = (model or self.model, format or self.format, counter or self.resources.counter)
        if key not in self._targets:
            while len(self._targets) >= TARGETS_MOST:
                del self._targets[next(iter(self._targets))]
            name, form, by = key
            self._targets[key] = target_for(
                name, form, counter=by, catalogue=self.resources.catalogue, learned=self.learned
            )
        return self._targets[key]

    def reset_targets(self) -> None:
        """Forget the ways of counting: bills have taught us better."""
        with self.lock:
            self._targets.clear()

    def learned(self, model: str, tokenizer: str) -> float:
        return calibration(self.store.bills(model, tokenizer, limit=RECENT))

    def original(self, handle: str) -> Any:
        """What is behind a handle or an id, exactly as it came in."""
        place = self.store.locate(self.id, handle)
        content = place.content if place else self.store.by_handle(handle)
        if content is not None:
            return json.loads(content.body)
        if place is None:
            raise self.unknown(handle)
        raise NotFoundError(f"message {handle!r} was erased", remedy="nothing brings it back; add it again")

    def located(self, id: str) -> Located:
        place = self.store.locate(self.id, id)
        if place is None:
            raise self.unknown(id)
        return place

    def unknown(self, id: str) -> NotFoundError:
        return NotFoundError(
            f"session `{self.name}` has no message {id!r}",
            remedy="`search` and `entries` give ids and handles",
            see="messages",
        )
