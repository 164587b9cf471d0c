"""Messages that nobody read yet in → the things they name and what their users say of themselves, stored.

A session is read in its order and each message once; a process that starts anew begins with what is known and
looks back over a few messages that were read before, because what is a name shows over several of them.
System prompts, tool results and files are not read: theirs are the words of others.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from threading import Lock
from typing import cast

from foveal import wire
from foveal.errors import NotFoundError
from foveal.events import Bus, Event, MemoryChanged
from foveal.knowledge.hygiene import junk, key_of
from foveal.knowledge.values import Found, MemoryKind, ThingKind
from foveal.model import Format, Kind, Role
from foveal.pipeline.summarize.records import TYPED
from foveal.pipeline.summarize.voices import voices
from foveal.session.knowledge.memories import brought, keep, stated
from foveal.store import MemoryRecord, Mention, Store, Unread

UNIT = 32
"""Messages that are read at a time: what a caller may have to wait for."""
LOOKED_BACK = 100
"""Messages of before that are read again by a process that does not know the session."""
KEPT = 2_000
"""Messages of one session that are kept in mind."""
AT_HAND = 8
"""Sessions that are kept in mind, and workspaces."""


class Reader:
    """Reads a store's messages for what is known, some at a time, from one thread at a time."""

    def __init__(self, store: Store, bus: Bus) -> None:
        self._store = store
        self._bus = bus
        self._lock = Lock()
        self._minds: dict[int, _Mind] = {}
        self._as_of = -1
        self._docs: dict[str, str] = {}

    def read_some(self, session: int | None = None, *, wait: float = -1) -> bool:
        """Read some messages of one session; says whether more may be left.

        `wait`: seconds at most for whoever reads now; below 0 as long as it takes.
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
        """What there is to tell of it; None: everything is read."""
        self._forget()
        waiting = self._store.knowledge.unread(limit=UNIT, session=session)
        if not waiting:
            return None
        session = waiting[0].session
        try:
            return self._read(session, [each for each in waiting if each.session == session])
        except BaseException:
            self._minds.pop(session, None)  # it has in mind what was not stored
            raise

    def _read(self, session: int, batch: Sequence[Unread]) -> list[Event]:
        mind = self._mind(session, batch)
        for each in batch:
            mind.read(each.digest, spoken(each), each.role)
        found = {each.digest: () for each in batch} | mind.mentions()
        with self._store.transaction():
            prompts = (mind.prompts, *self.prompt_files)
            events = [event for each in batch for event in self._remember(each, prompts)]
            self._store.knowledge.save_mentions(session, found)
        if mind.read_so_far > KEPT:
            del self._minds[session]
        return events

    def catch_up(self, seconds: float, session: int | None = None) -> None:
        """Read until all is read, of a session or of all; a unit that begins in time is finished."""
        until = time.monotonic() + seconds
        while self.read_some(session, wait=max(0.0, until - time.monotonic())) and time.monotonic() < until:
            pass

    @property
    def prompt_files(self) -> tuple[str, ...]:
        """What windows show of the documents of projects: no memory restates it."""
        return tuple(self._docs.values())

    def show_docs(self, workspace: str, text: str) -> None:
        """Windows show this of the documents of a workspace."""
        self._docs.pop(workspace, None)
        self._docs[workspace] = text
        while len(self._docs) > AT_HAND:
            self._docs.pop(next(iter(self._docs)), None)

    def _forget(self) -> None:
        """Something was erased: what is in mind may tell of it."""
        as_of = self._store.knowledge.forget_count()
        if as_of != self._as_of:
            self._minds.clear()
            self._as_of = as_of

    def _mind(self, session: int, batch: Sequence[Unread]) -> _Mind:
        if session not in self._minds:
            while len(self._minds) >= AT_HAND:
                del self._minds[next(iter(self._minds))]
            self._minds[session] = _looked_back(self._store, session, {each.digest for each in batch})
        return self._minds[session]

    def _remember(self, unread: Unread, prompts: Sequence[str]) -> list[Event]:
        """Keep what a user says of themselves, unless it is none of their words or known from a prompt."""
        from foveal.knowledge.statements import statements_in

        kept = [
            memory
            for kind, sentence in statements_in(spoken(unread), unread.role)
            if not junk(sentence)
            and not stated(self._store, sentence, prompts)
            and not brought(self._store, sentence, unread.session)
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


class _Mind:
    """What is remembered of one session while it is read."""

    def __init__(self, prompts: str, already: Iterable[Found]) -> None:
        from foveal.knowledge.mining import Miner

        self.prompts = prompts
        """What the system says in it."""
        self._miner = Miner(known_text=prompts, already=already)
        self.read_so_far = 0

    def read(self, digest: str, text: str, role: Role) -> None:
        self._miner.read(digest, text, role)
        self.read_so_far += 1

    def mentions(self) -> dict[str, tuple[Mention, ...]]:
        """Of every message that is new, or of which more is known now."""
        return {
            digest: tuple(Mention(kind=e.kind, slug=e.slug, name=e.name, type=e.type) for e in found)
            for digest, found in self._miner.found().items()
        }


def _looked_back(store: Store, session: int, fresh: set[str]) -> _Mind:
    """A mind that has read what came before the first of the fresh messages."""
    entries = store.entries(session)
    prompts = [entry.seq for entry in entries if entry.role == "system" and entry.absence != "erased"]
    known = (_text(store, session, seq) for seq in prompts)
    mind = _Mind("\n".join(known), _named(store, session))
    first = next((entry.seq for entry in entries if entry.digest in fresh), len(entries))
    start = max(0, first - LOOKED_BACK)
    for entry, content in zip(
        entries[start:first], store.messages(session, start=start, stop=first), strict=True
    ):
        if content is not None and entry.role in ("user", "assistant"):
            text = _own(content.body, content.format, entry.role, entry.kind, content.digest)
            mind.read(entry.digest, text, entry.role)
    return mind


def _named(store: Store, session: int) -> Iterator[Found]:
    """The things that the session is known to speak of."""
    here = store.knowledge.mentioned(session)
    for each in store.knowledge.things():
        if each.number in here:
            yield Found(kind=cast("ThingKind", each.kind), slug=each.slug, name=each.name, type=each.type)


def _text(store: Store, session: int, seq: int) -> str:
    (content,) = store.messages(session, start=seq, stop=seq + 1)
    return (
        ""
        if content is None
        else wire.reread(content.body, content.format, "system", digest=content.digest).text
    )


def spoken(unread: Unread) -> str:
    """What the message's own voice typed in it."""
    return _own(unread.body, unread.format, unread.role, unread.kind, unread.digest)


def _own(body: str, format: Format, role: Role, kind: Kind | None, digest: str) -> str:
    if kind not in TYPED:
        return ""
    message = replace(wire.reread(body, format, role, digest=digest), kind=kind)
    return "\n".join(passage.text for passage in voices(message, 0) if passage.role == role)
