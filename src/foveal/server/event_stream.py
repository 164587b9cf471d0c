"""Stream the events of a tenant's store to clients as server-sent events, in order.

The store's log is the source, so events of other processes are included and a restart loses none. A client
resumes where it left off. All listeners share one ring buffer: none is waited for, and one that falls behind
reads the log instead.
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
from bisect import bisect_right
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import aclosing, suppress
from itertools import accumulate, islice

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from foveal.events import Event, MessageMarked, SummaryFailed, Warned, payload
from foveal.session.foveal import Foveal
from foveal.session.inspect.builds import events_after, latest_event
from foveal.store import LoggedEvent

MISSED_MOST = 10_000
"""Missed events that a returning client is sent; where there are more, it is sent `reset`."""
RING = 1_000
"""Events in memory; a listener that is further behind reads the log."""
RING_SIZE = 4 * 1024 * 1024
"""Bytes of the events in memory."""
PAGE = 250
"""Events that are read and sent at once, if they are not too large."""
PAGE_SIZE = 256 * 1024
"""Bytes of the events that are read and sent at once; one event may be larger."""
WRITE = 64 * 1024
"""Bytes that a client must take before it is sent more."""
OPENING = b"retry: 2000\n\n"
BEAT = b": still here\n\n"
HEARTBEAT = 15.0
"""Seconds of silence after which a comment line is sent."""
GROUPS = 64
"""Listeners are woken in this many groups, one after another."""
SOON = 0.01
"""The least seconds between two writes."""
REST = 5
"""The pause after a write is this many times as long as waking all listeners took."""
PAUSE = 1.0
"""Seconds between two reads of the log for events of other processes."""
_log = logging.getLogger(__name__)


class Frame:
    """One event as it is sent."""

    __slots__ = ("data", "erases", "number", "session")

    def __init__(self, number: int, session: str, data: bytes, *, erases: bool = False) -> None:
        self.number = number
        self.session = session
        self.data = data
        self.erases = erases
        """Whether it reports an erasure, which changes earlier events in the log."""


class Feed:
    """The events of one tenant. Only `on_event` and `announce` may be called from other threads."""

    def __init__(self, fov: Foveal, loop: asyncio.AbstractEventLoop) -> None:
        self._fov = fov
        self._loop = loop
        self._ring: deque[Frame] = deque(maxlen=RING)
        self._last: int | None = None
        """The number of the newest event in the ring; None before the first listener."""
        self._changed = [asyncio.Event() for _ in range(GROUPS)]
        self._news = asyncio.Event()
        self._watcher: asyncio.Task[None] | None = None
        self._began = self._took = 0.0
        """When waking the listeners last began, and how many seconds it took."""
        self.listeners = 0
        self.published = 0
        fov.subscribe(self.on_event)

    def on_event(self, event: Event) -> None:
        """Called by the bus for every event. Background failures are not in the log: announce them."""
        if isinstance(event, SummaryFailed) or (isinstance(event, Warned) and not event.session):
            self.announce(event.name, "", payload(event))
        self.check()

    def check(self) -> None:
        """Read the log now: another process has just written events."""
        self._call(self._news.set)

    def announce(self, name: str, session: str, data: object) -> None:
        """Publish an event that is not in the log; clients that are not connected miss it."""
        self._call(self._publish, [Frame(0, session, frame_data(name, data))])

    def forget(self, session: str) -> None:
        """Blank the events of a deleted session that are in memory."""
        self._call(self._rewrite, {}, session)

    def _call(self, do: Callable[..., object], *args: object) -> None:
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(do, *args)

    async def listen(self, after: int | None, session: str) -> AsyncGenerator[bytes, None]:
        """Events after number `after`, or from now on; the first bytes confirm that the stream is open."""
        self.listeners += 1
        try:
            now = await self._start()
            at, since = now if after is None else after, self.published
            yield OPENING
            while True:  # a listener that falls out of the ring returns to the log
                async for frames in self._missed(at):
                    at = frames[-1].number
                    if data := _joined(frames, session):
                        yield data
                async for frames in self._live(at, since):
                    at = max([at, *(each.number for each in frames)])
                    data = _joined(frames, session)
                    if data or not frames:
                        yield data or BEAT
                since = self.published
        finally:
            self.listeners -= 1
            if not self.listeners:
                self._stop()

    async def _start(self) -> int:
        """Watch the log from now on; returns the number of its newest event."""
        if self._last is None:
            newest = await asyncio.to_thread(latest_event, self._fov)
            self._last = newest if self._last is None else self._last
        if self._watcher is None:
            self._watcher = asyncio.create_task(self._watch())
        return self._last

    def _stop(self) -> None:
        """No listener is left; the log keeps the events."""
        if self._watcher:
            self._watcher.cancel()
        self._watcher, self._last = None, None
        self._ring.clear()

    async def _missed(self, after: int) -> AsyncIterator[list[Frame]]:
        """Events since `after` from the log, until the ring has the rest."""
        at, count = after, 0
        # The log may be ahead of the ring, and a returning client may have read it.
        known = 0 <= after <= (self._last or 0) or 0 <= after <= await asyncio.to_thread(
            latest_event, self._fov
        )
        if not known:  # a number of another store, or an invalid one
            yield [self._reset()]
            return
        while at < (self._last or 0) and not self._ring_has(at):
            page = await asyncio.to_thread(self._page, at)
            count += len(page)
            if not page:
                return
            if count > MISSED_MOST:
                yield [self._reset()]
                return
            yield page
            at = page[-1].number

    def _ring_has(self, after: int) -> bool:
        """Whether the ring has every event since `after`."""
        return 0 < self._oldest() <= after + 1

    def _oldest(self) -> int:
        """The number of the first event of the log that is in the ring; 0 if there is none."""
        return next((each.number for each in self._ring if each.number), 0)

    def _page(self, after: int) -> list[Frame]:
        return [
            logged_frame(each) for each in events_after(self._fov, after=after, limit=PAGE, size=PAGE_SIZE)
        ]

    def _reset(self) -> Frame:
        last = self._last or 0
        return Frame(last, "", frame_data("reset", {}, last))

    async def _live(self, after: int, since: int) -> AsyncIterator[list[Frame]]:
        """Events of the ring as they arrive, until the listener falls behind; an empty list after silence."""
        seen, group = min(since, self.published - self._behind(after)), self.listeners % GROUPS
        while (behind := self.published - seen) <= len(self._ring):
            fresh = _one_page(list(islice(reversed(self._ring), behind))[: -PAGE - 1 : -1])
            seen += len(fresh)
            if frames := [each for each in fresh if not 0 < each.number <= after]:
                yield frames
            elif not fresh:
                try:
                    async with asyncio.timeout(HEARTBEAT):
                        await self._changed[group].wait()
                except TimeoutError:
                    yield []

    def _behind(self, after: int) -> int:
        """How many frames at the ring's end are new to a listener that has everything up to `after`."""
        behind = 0
        for back, each in enumerate(reversed(self._ring), start=1):
            if each.number > after:
                behind = back
            elif each.number:
                break
        return behind

    async def _watch(self) -> None:
        failure = ""
        while True:
            self._news.clear()
            try:
                await self._read()
                failure = ""
            except Exception as error:  # noqa: BLE001 — any error would end the stream of every listener
                if failure != (failure := type(error).__name__):
                    _log.warning("the log of events cannot be read: %s", failure)
            # Events that arrive meanwhile are sent in one write, so many listeners cost no more than a few.
            await asyncio.sleep(max(SOON, REST * self._took))
            try:
                async with asyncio.timeout(PAUSE):
                    await self._news.wait()
            except TimeoutError:
                continue

    async def _read(self) -> None:
        while True:
            page = await asyncio.to_thread(self._page, self._last or 0)
            if not page:
                return
            if self._oldest() and any(each.erases for each in page):
                await self._read_again()
            self._publish(page)
            self._last = page[-1].number

    async def _read_again(self) -> None:
        """Give the events in memory the texts that they have in the log now."""
        logged: dict[int, bytes] = {}
        at, last = self._oldest() - 1, self._last or 0
        while at < last and (page := await asyncio.to_thread(self._page, at)):
            logged |= {each.number: each.data for each in page}
            at = page[-1].number
        self._rewrite(logged)

    def _rewrite(self, logged: Mapping[int, bytes], session: str = "") -> None:
        """Give the events in memory the texts that they have in the log; what is no longer there is blank."""
        for each in self._ring:
            if each.number and session in ("", each.session):
                each.data = logged.get(each.number, b"")

    def _publish(self, fresh: list[Frame]) -> None:
        self._ring.extend(fresh)
        size = sum(len(each.data) for each in self._ring)
        while size > RING_SIZE:
            size -= len(self._ring.popleft().data)
        self.published += len(fresh)
        self._began = time.perf_counter()
        self._wake(0)

    def _wake(self, group: int) -> None:
        """Wake one group of listeners, then the next; other requests get their turn in between."""
        if group == GROUPS:
            self._took = time.perf_counter() - self._began
            return
        changed, self._changed[group] = self._changed[group], asyncio.Event()
        changed.set()
        self._loop.call_soon(self._wake, group + 1)


def _one_page(frames: list[Frame]) -> list[Frame]:
    """The first of the frames, as many as are sent at once."""
    sizes = accumulate(len(each.data) for each in frames)
    return frames[: max(1, bisect_right(list(sizes), PAGE_SIZE))]


def _joined(events: list[Frame], session: str) -> bytes:
    """The events of one session, or all, as one write."""
    return b"".join(each.data for each in events if not session or each.session in ("", session))


def logged_frame(event: LoggedEvent) -> Frame:
    """The payload is JSON on one line, so it needs no escaping."""
    text = f"id: {event.number}\nevent: {event.name}\ndata: {event.payload}\n\n"
    erases = event.name == MessageMarked.name and '"mark": "erased"' in event.payload
    return Frame(event.number, event.session, text.encode("utf-8", "replace"), erases=erases)


def frame_data(name: str, data: object, number: int | None = None) -> bytes:
    """The bytes of an event that is not in the log."""
    head = "" if number is None else f"id: {number}\n"
    text = json.dumps(data, ensure_ascii=True, separators=(",", ":"))
    return f"{head}event: {name}\ndata: {text}\n\n".encode()


PATIENCE = 10.0
"""Seconds that a client may take to read a write; then it is disconnected and may reconnect."""


class EventStream(Response):
    """Sends the chunks of a stream one by one, until the client disconnects or stops reading."""

    media_type = "text/event-stream"

    def __init__(self, chunks: AsyncGenerator[bytes, None]) -> None:
        super().__init__()
        self._chunks = chunks

    async def __call__(self, _: Scope, receive: Receive, send: Send) -> None:
        leaving = asyncio.ensure_future(_disconnected(receive))
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
        async with aclosing(self._chunks) as chunks:
            async for chunk in chunks:
                for start in range(0, len(chunk), WRITE):
                    body = chunk[start : start + WRITE]
                    async with asyncio.timeout(PATIENCE):
                        await send({"type": "http.response.body", "body": body, "more_body": True})


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
