"""What happened in a tenant's store in → told to every listener, in order, from wherever each left off.

The log of the store is what is told, so events of other processes are among them and a restart loses none.
Listeners share one ring and hold a place in it: nobody is waited for, and who falls out of it reads the log.

Pieces of an event stream in → sent one by one, until the client leaves or stops reading.
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing, suppress
from itertools import islice

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from foveal.events import Event, SummaryFailed, Warned, payload
from foveal.session import Foveal
from foveal.session.inspect.builds import events_after, latest_event
from foveal.store import LoggedEvent

MISSED_MOST = 10_000
"""Events that are told to somebody who comes back; where more have happened, `reset`."""
HELD = 1_000
"""Events in memory; who is further behind reads the log."""
PAGE = 250
"""Events that are sent in one piece."""
OPENING = b"retry: 2000\n\n"
BEAT = b": still here\n\n"
HEARTBEAT = 15.0
"""Seconds of silence after which a line that means nothing is sent."""
GROUPS = 64
"""Into so many parts listeners are told one after another."""
SOON = 0.01
"""Seconds between one piece and the next."""
REST = 5
"""So many times as long as it took to tell everybody, nobody is told anything."""
PAUSE = 1.0
"""Seconds between looks at the log, for what other processes wrote."""
_log = logging.getLogger(__name__)


class Piece:
    """One event as it goes over the wire."""

    __slots__ = ("data", "number", "session")

    def __init__(self, number: int, session: str, data: bytes) -> None:
        self.number = number
        self.session = session
        self.data = data


class Feed:
    """All of it on one event loop; only `heard` and `announce` may be called from other threads."""

    def __init__(self, fov: Foveal, loop: asyncio.AbstractEventLoop) -> None:
        self._fov = fov
        self._loop = loop
        self._ring: deque[Piece] = deque(maxlen=HELD)
        self._last: int | None = None
        """The newest event that is in the ring; None before the first listener."""
        self._changed = [asyncio.Event() for _ in range(GROUPS)]
        self._woken = asyncio.Event()
        self._watcher: asyncio.Task[None] | None = None
        self._began = self._took = 0.0
        """When the last piece was begun to be told, and how many seconds that took."""
        self.listeners = 0
        self.told = 0
        fov.subscribe(self.heard)

    def heard(self, event: Event) -> None:
        """Called by the bus: something happened here. Faults in the background are in no log."""
        if isinstance(event, SummaryFailed) or (isinstance(event, Warned) and not event.session):
            self.announce(event.name, "", payload(event))
        self._call(self._woken.set)

    def announce(self, name: str, session: str, data: object) -> None:
        """Tell something that is in no log; whoever is away does not hear of it."""
        self._call(self._take, [Piece(0, session, encoded(name, data))])

    def _call(self, do: Callable[..., object], *args: object) -> None:
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(do, *args)

    async def listen(self, after: int | None, session: str) -> AsyncGenerator[bytes, None]:
        """Events after the one named, or from now on; what comes first says that it has begun."""
        self.listeners += 1
        try:
            now = await self._start()
            at, since = now if after is None else after, self.told
            yield OPENING
            while True:  # who falls out of the ring goes back to the log
                async for news in self._missed(at):
                    at = news[-1].number
                    if data := _joined(news, session):
                        yield data
                async for news in self._live(at, since):
                    at = max([at, *(each.number for each in news)])
                    data = _joined(news, session)
                    if data or not news:
                        yield data or BEAT
                since = self.told
        finally:
            self.listeners -= 1
            if not self.listeners:
                self._rest()

    async def _start(self) -> int:
        """Where the log stands; from now on it is watched."""
        if self._last is None:
            newest = await asyncio.to_thread(latest_event, self._fov)
            self._last = newest if self._last is None else self._last
        if self._watcher is None:
            self._watcher = asyncio.create_task(self._watch())
        return self._last

    def _rest(self) -> None:
        """Nobody listens: the log remembers for us."""
        if self._watcher:
            self._watcher.cancel()
        self._watcher, self._last = None, None
        self._ring.clear()

    async def _missed(self, after: int) -> AsyncIterator[list[Piece]]:
        """What happened since, from the log, until the ring takes over."""
        at, count = after, 0
        # The log may be ahead of what was told here, and who comes back may have read it.
        known = 0 <= after <= (self._last or 0) or 0 <= after <= await asyncio.to_thread(
            latest_event, self._fov
        )
        if not known:  # of another store, or of nobody
            yield [self._reset()]
            return
        while at < (self._last or 0) and not self._holds(at):
            page = await asyncio.to_thread(self._page, at)
            count += len(page)
            if not page:
                return
            if count > MISSED_MOST:
                yield [self._reset()]
                return
            yield page
            at = page[-1].number

    def _holds(self, after: int) -> bool:
        """Whether the ring has all that happened since."""
        oldest = next((each.number for each in self._ring if each.number), None)
        return oldest is not None and oldest <= after + 1

    def _page(self, after: int) -> list[Piece]:
        return [written(each) for each in events_after(self._fov, after=after, limit=PAGE)]

    def _reset(self) -> Piece:
        last = self._last or 0
        return Piece(last, "", encoded("reset", {}, last))

    async def _live(self, after: int, since: int) -> AsyncIterator[list[Piece]]:
        """What the ring gets from now on, until too much of it; nothing where nothing came for a while."""
        seen, group = min(since, self.told - self._behind(after)), self.listeners % GROUPS
        while (behind := self.told - seen) <= len(self._ring):
            fresh = list(islice(reversed(self._ring), behind))[: -PAGE - 1 : -1]
            seen += len(fresh)
            if news := [each for each in fresh if not 0 < each.number <= after]:
                yield news
            elif not fresh:
                try:
                    async with asyncio.timeout(HEARTBEAT):
                        await self._changed[group].wait()
                except TimeoutError:
                    yield []

    def _behind(self, after: int) -> int:
        """How much of the ring's end is news to somebody who has heard everything up to `after`."""
        behind = 0
        for back, each in enumerate(reversed(self._ring), start=1):
            if each.number > after:
                behind = back
            elif each.number:
                break
        return behind

    async def _watch(self) -> None:
        fault = ""
        while True:
            self._woken.clear()
            try:
                await self._read()
                fault = ""
            except Exception as error:  # noqa: BLE001 — whatever it is, nobody would hear anything any more
                if fault != (fault := type(error).__name__):
                    _log.warning("the log of events cannot be read: %s", fault)
            # What happens meanwhile goes out in one piece: many listeners take no more time than a few.
            await asyncio.sleep(max(SOON, REST * self._took))
            try:
                async with asyncio.timeout(PAUSE):
                    await self._woken.wait()
            except TimeoutError:
                continue

    async def _read(self) -> None:
        while True:
            page = await asyncio.to_thread(self._page, self._last or 0)
            if not page:
                return
            self._take(page)
            self._last = page[-1].number

    def _take(self, fresh: list[Piece]) -> None:
        self._ring.extend(fresh)
        self.told += len(fresh)
        self._began = time.perf_counter()
        self._wake(0)

    def _wake(self, group: int) -> None:
        """A few listeners at a time: others who ask something get their turn in between."""
        if group == GROUPS:
            self._took = time.perf_counter() - self._began
            return
        changed, self._changed[group] = self._changed[group], asyncio.Event()
        changed.set()
        self._loop.call_soon(self._wake, group + 1)


def _joined(events: list[Piece], session: str) -> bytes:
    """Those that a listener wants, in one piece."""
    return b"".join(each.data for each in events if not session or each.session in ("", session))


def written(event: LoggedEvent) -> Piece:
    """The log has JSON, which has no line breaks of its own."""
    text = f"id: {event.number}\nevent: {event.name}\ndata: {event.payload}\n\n"
    return Piece(event.number, event.session, text.encode("utf-8", "replace"))


def encoded(name: str, data: object, number: int | None = None) -> bytes:
    """An event that is in no log."""
    head = "" if number is None else f"id: {number}\n"
    text = json.dumps(data, ensure_ascii=True, separators=(",", ":"))
    return f"{head}event: {name}\ndata: {text}\n\n".encode()


PATIENCE = 10.0
"""Seconds that a client may take to read what was sent; then it is cut off and may come back."""


class EventStream(Response):
    media_type = "text/event-stream"

    def __init__(self, pieces: AsyncGenerator[bytes, None]) -> None:
        super().__init__()
        self._pieces = pieces

    async def __call__(self, _: Scope, receive: Receive, send: Send) -> None:
        leaving = asyncio.ensure_future(_left(receive))
        sending = asyncio.ensure_future(self._send(send))
        try:
            await asyncio.wait({leaving, sending}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (leaving, sending):
                task.cancel()
                with suppress(asyncio.CancelledError, OSError, TimeoutError):
                    await task

    async def _send(self, send: Send) -> None:
        headers = [(b"content-type", b"text/event-stream; charset=utf-8"), (b"x-accel-buffering", b"no")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        async with aclosing(self._pieces) as pieces:
            async for piece in pieces:
                async with asyncio.timeout(PATIENCE):
                    await send({"type": "http.response.body", "body": piece, "more_body": True})


async def _left(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
