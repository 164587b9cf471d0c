"""Read unread messages in the background: store the things they mention and what users say about themselves.

A session is read in order and each message once. A new process starts with the things that are known and
reads a few earlier messages again, because it takes several to recognise a name. System prompts, tool results
and files are not read: they are not the user's words.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from threading import Lock

from foveal import wire
from foveal.errors import NotFoundError
from foveal.events import Event, MemoryChanged
from foveal.knowledge.memory_rules import key_of, refusal
from foveal.knowledge.statements import statements_in
from foveal.knowledge.values import MemoryKind
from foveal.model import Format, Kind, Role
from foveal.pipeline.summarize.records import TYPED_KINDS
from foveal.pipeline.summarize.voices import voices
from foveal.session.knowledge.memories import ShownDocs, is_from_tool, is_in_prompt, keep
from foveal.session.resources import Resources
from foveal.store import MemoryRecord, Mention, Store, Unread

BATCH = 32
"""Messages that are read at a time, which a caller may have to wait for."""
REREAD = 100
"""Earlier messages that a new process reads again."""
MOST_MESSAGES = 2_000
"""Messages of one session that a miner remembers before it is discarded."""
MOST_SESSIONS = 8
"""Sessions that are kept in memory."""


class Reader:
    """Reads the unread messages of a store in batches, in one thread at a time."""

    def __init__(self, resources: Resources) -> None:
        self._store = resources.store
        self._bus = resources.bus
        self._docs = resources.part(ShownDocs)
        self._lock = Lock()
        self._miners: dict[int, _SessionMiner] = {}
        self._as_of = -1

    def read_some(self, session: int | None = None, *, wait: float = -1) -> bool:
        """Read a batch of messages of one session; returns whether more may be left.

        Waits at most `wait` seconds for another thread that is reading, without limit if it is negative.
        """
        if not self._lock.acquire(timeout=wait):
            return False
        try:
            events = self._read_some(session)
        except NotFoundError:
            events = []  # the session was deleted while it was read
        finally:
            self._lock.release()
        self._bus.emit(events or [])
        return events is not None

    def _read_some(self, session: int | None) -> list[Event] | None:
        """The events to emit; None if nothing is unread."""
        self._discard_if_forgotten()
        waiting = self._store.knowledge.unread(limit=BATCH, session=session)
        if not waiting:
            return None
        session = waiting[0].session
        try:
            return self._read(session, [each for each in waiting if each.session == session])
        except BaseException:
            self._miners.pop(session, None)  # it remembers what was not stored
            raise

    def _read(self, session: int, batch: Sequence[Unread]) -> list[Event]:
        miner = self._miner_of(session, batch)
        for each in batch:
            miner.read(each.digest, _text_of(each), each.role)
        found = {each.digest: () for each in batch} | miner.mentions()
        with self._store.transaction():
            prompts = (miner.prompts, *self._docs.texts)
            events = [event for each in batch for event in self._remember(each, prompts)]
            self._store.knowledge.save_mentions(session, found)
        if miner.messages > MOST_MESSAGES:
            del self._miners[session]
        return events

    def catch_up(self, seconds: float, session: int | None = None) -> None:
        """Read until nothing is unread, in one session or all, or until a batch ends after this time."""
        until = time.monotonic() + seconds
        while self.read_some(session, wait=max(0.0, until - time.monotonic())) and time.monotonic() < until:
            pass

    def _discard_if_forgotten(self) -> None:
        """Discard the miners if something was forgotten, because they may remember it."""
        as_of = self._store.knowledge.forget_count()
        if as_of != self._as_of:
            self._miners.clear()
            self._as_of = as_of

    def _miner_of(self, session: int, batch: Sequence[Unread]) -> _SessionMiner:
        if session not in self._miners:
            while len(self._miners) >= MOST_SESSIONS:
                del self._miners[next(iter(self._miners))]
            self._miners[session] = _miner_for(self._store, session, {each.digest for each in batch})
        return self._miners[session]

    def _remember(self, unread: Unread, prompts: Sequence[str]) -> list[Event]:
        """Store what a user says about themselves, unless a tool or a prompt said it first."""
        kept = [
            memory
            for kind, sentence in statements_in(_text_of(unread), unread.role)
            if not refusal(sentence)
            and not is_in_prompt(self._store, sentence, prompts)
            and not is_from_tool(self._store, sentence, unread.session)
            and (
                memory := keep(
                    self._store,
                    _memory(kind, sentence, unread.said_at),
                    session=unread.session,
                    digest=unread.digest,
                )
            )
        ]
        events = [MemoryChanged(session=m.session, id=f"memory-{m.number}", change="kept") for m in kept]
        for event in events:
            self._store.log(event.session, [event], now=time.time())
        return list(events)


def _memory(kind: MemoryKind, sentence: str, said_at: float) -> MemoryRecord:
    return MemoryRecord(
        key=key_of(sentence),
        kind=kind,
        text=sentence,
        origin="user",
        confirmed=True,
        explicit=False,
        created_at=said_at,
        updated_at=said_at,
    )


class _SessionMiner:
    """What is remembered about one session while it is read."""

    def __init__(self, prompts: str, already: Iterable[Mention]) -> None:
        from foveal.knowledge.miner import Miner

        self.prompts = prompts
        """The text of its system prompts."""
        self._miner = Miner(known_text=prompts, already=already)
        self.messages = 0

    def read(self, digest: str, text: str, role: Role) -> None:
        self._miner.read(digest, text, role)
        self.messages += 1

    def mentions(self) -> dict[str, tuple[Mention, ...]]:
        """The mentions of every message that is new or whose mentions changed."""
        return dict(self._miner.found())


def _miner_for(store: Store, session: int, unread: set[str]) -> _SessionMiner:
    """A miner that has read the messages before the first of the unread ones."""
    entries = store.entries(session)
    prompts = [entry.seq for entry in entries if entry.role == "system" and entry.absence != "erased"]
    texts = (_prompt(store, session, seq) for seq in prompts)
    miner = _SessionMiner("\n".join(texts), _known_things(store, session))
    first = next((entry.seq for entry in entries if entry.digest in unread), len(entries))
    start = max(0, first - REREAD)
    for entry, content in zip(
        entries[start:first], store.messages(session, start=start, stop=first), strict=True
    ):
        if content is not None and entry.role in ("user", "assistant") and not entry.private:
            text = _typed_text(content.body, content.format, entry.role, entry.kind, content.digest)
            miner.read(entry.digest, text, entry.role)
    return miner


def _known_things(store: Store, session: int) -> Iterator[Mention]:
    """The things that the session is known to mention."""
    here = store.knowledge.mentioned(session)
    for each in store.knowledge.things():
        if each.number in here:
            yield Mention(kind=each.kind, slug=each.slug, name=each.name, type=each.type)


def _prompt(store: Store, session: int, seq: int) -> str:
    (content,) = store.messages(session, start=seq, stop=seq + 1)
    if content is None:
        return ""
    return wire.reread(content.body, content.format, "system", digest=content.digest).text


def _text_of(unread: Unread) -> str:
    """What the message's author typed in it."""
    return _typed_text(unread.body, unread.format, unread.role, unread.kind, unread.digest)


def _typed_text(body: str, format: Format, role: Role, kind: Kind | None, digest: str) -> str:
    if kind not in TYPED_KINDS:
        return ""
    message = replace(wire.reread(body, format, role, digest=digest), kind=kind)
    return "\n".join(passage.text for passage in voices(message, 0) if passage.role == role)
