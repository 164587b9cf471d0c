"""Limit connections: their number, and how long a client may take to send a request or read a response.

The limits are well below the number of files that the process may open. When they are reached, the
connection that has owed the rest of a request for longest is closed, then the one that has been idle for
longest: clients that stall make room for others. A connection with a response under way stays.
"""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import time
from collections import Counter
from contextlib import suppress
from itertools import chain
from typing import Any, Literal

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_SECONDS = 10.0
"""To send the head of a request, from its first byte or from connecting."""
PACE_SECONDS = 20.0
PACE_BYTES = 64 * 1024
"""A client that sends a body or reads a response moves this many bytes in that time, or all the rest."""
CONNECTIONS_MOST = 2_000
FILES_MOST = 8_192
_State = Literal["head", "body", "busy", "idle"]
_log = logging.getLogger(__name__)


def connections_most() -> int:
    """Half of the files that the process may open, at most `CONNECTIONS_MOST`."""
    try:
        import resource
    except ImportError:  # Windows
        return 512
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    unlimited = resource.RLIM_INFINITY
    target = FILES_MOST if hard == unlimited else min(hard, FILES_MOST)
    if soft not in (unlimited, target) and soft < target:
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (target, hard))
            soft = target
    return CONNECTIONS_MOST if soft == unlimited else max(8, min(CONNECTIONS_MOST, soft // 2))


class Connections:
    """The open connections of a service."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.most_of_address = max(4, most // 4)
        """For one address other than this machine, where a reverse proxy may speak for everybody."""
        self._open: set[BoundedProtocol] = set()
        self._incomplete: dict[BoundedProtocol, None] = {}
        self._idle: dict[BoundedProtocol, None] = {}
        """Those that owe the rest of a request, and those that wait for the next; the oldest come first."""
        self._by_address: Counter[str] = Counter()
        self._logged = 0.0

    def __len__(self) -> int:
        return len(self._open)

    def add(self, new: BoundedProtocol) -> bool:
        """Count a connection; False if there is no room, whichever connection is closed."""
        address = new.address
        limited = not _is_loopback(address)
        if limited and self._by_address[address] >= self.most_of_address and not self._evict(address):
            return False
        if len(self._open) >= self.most and not self._evict():
            return False
        self._open.add(new)
        self._by_address[address] += 1
        return True

    def remove(self, gone: BoundedProtocol) -> None:
        self.entered(gone, "busy")
        if gone in self._open:
            self._open.remove(gone)
            self._by_address[gone.address] -= 1
            if not self._by_address[gone.address]:
                del self._by_address[gone.address]

    def entered(self, connection: BoundedProtocol, state: _State) -> None:
        """Record that a connection is in another state now."""
        self._incomplete.pop(connection, None)
        self._idle.pop(connection, None)
        if connection in self._open and state != "busy":
            (self._idle if state == "idle" else self._incomplete)[connection] = None

    def _evict(self, address: str = "") -> bool:
        """Close the connection that has stalled longest; False if none has."""
        self._log_full()
        stalled = chain(self._incomplete, self._idle)
        oldest = next((each for each in stalled if address in ("", each.address)), None)
        if oldest is None:
            return False
        self.remove(oldest)
        oldest.transport.abort()
        return True

    def _log_full(self) -> None:
        """Once a minute, so that an attack does not fill the log."""
        now = time.monotonic()
        if not self._logged or now - self._logged > 60:
            self._logged = now
            _log.warning("%d connections are open: stalled ones are closed for new ones", len(self._open))


def _is_loopback(address: str) -> bool:
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:  # a socket file, or unknown
        return True


def bounded_protocol(connections: Connections) -> type[asyncio.Protocol]:
    """The protocol class of a server with these connections."""

    class Bounded(BoundedProtocol):
        counted = connections

    return Bounded


class BoundedProtocol(H11Protocol):
    """HTTP/1.1 as uvicorn speaks it, with a deadline wherever the client has the next move."""

    counted: Connections

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.state: _State = "busy"
        self._sent = 0
        """Bytes of the body since the last check."""
        self._sending: asyncio.TimerHandle | None = None
        self._reading: asyncio.TimerHandle | None = None

    @property
    def address(self) -> str:
        return self.client[0] if self.client else ""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if self.counted.add(self):
            self._enter("head")
        else:
            transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        self.counted.remove(self)
        self._enter("busy")
        self._stop_reading()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        self._sent += len(data)
        if self.state == "idle":
            self._enter("head")
        super().data_received(data)
        self._follow(waiting="head")

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._follow(waiting="idle")

    def _follow(self, *, waiting: _State) -> None:
        """Enter the state that the parser is in; `waiting` is the one before the next request."""
        if self.transport.is_closing():
            self._enter("busy")
            self._read_at_pace()
        elif self.conn.their_state is h11.IDLE:
            self._enter(waiting)
        else:
            self._enter("body" if self.conn.their_state is h11.SEND_BODY else "busy")

    def _enter(self, state: _State) -> None:
        if state == self.state:
            return
        if {state, self.state} != {"head", "body"}:  # those two are one: a request that is incomplete
            self.counted.entered(self, state)
        self.state, self._sent = state, 0
        if self._sending:
            self._sending.cancel()
            self._sending = None
        if state == "head":
            self._sending = self.loop.call_later(HEAD_SECONDS, self.transport.abort)
        elif state == "body":
            self._sending = self.loop.call_later(PACE_SECONDS, self._check_sending)

    def _check_sending(self) -> None:
        if self._sent < PACE_BYTES:
            self.transport.abort()
            return
        self._sent = 0
        self._sending = self.loop.call_later(PACE_SECONDS, self._check_sending)

    def pause_writing(self) -> None:
        super().pause_writing()
        self._read_at_pace()

    def resume_writing(self) -> None:
        self._stop_reading()
        super().resume_writing()

    def timeout_keep_alive_handler(self) -> None:
        super().timeout_keep_alive_handler()
        self._read_at_pace()

    def _read_at_pace(self) -> None:
        """Abort the connection unless the client reads what is written to it."""
        if self._reading is None:
            left = self.transport.get_write_buffer_size()
            self._reading = self.loop.call_later(PACE_SECONDS, self._check_reading, left)

    def _check_reading(self, before: int) -> None:
        self._reading = None
        if self.transport.get_write_buffer_size() > before - PACE_BYTES:
            self.transport.abort()
        else:
            self._read_at_pace()

    def _stop_reading(self) -> None:
        if self._reading:
            self._reading.cancel()
            self._reading = None
