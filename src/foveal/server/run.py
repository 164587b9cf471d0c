"""Run the service with uvicorn until it is stopped."""

from __future__ import annotations

import gc
import socket
import sys
from collections.abc import Callable

import uvicorn

from foveal.errors import ConfigError
from foveal.server.app import create_app
from foveal.server.connections import Connections, bounded_protocol, connections_most
from foveal.server.logs import log_to_stderr
from foveal.server.tenants import Setup

BACKLOG = 1_024
ACCEPTED = 16
"""Connections that asyncio accepts before it handles any of them, and closes those that are too many."""
SWITCH = 0.0002
"""Seconds that a thread computes before the event loop gets its turn, a 25th of the default."""
FULL_COLLECTION = 100
"""Partial garbage collections for each full one, by default 10. A full one blocks all requests: half a second
with fifty long sessions in memory. Requests leave no garbage for it; only evicted sessions do."""
GRACE = 5
"""Seconds that open requests have to finish."""
KEEP_ALIVE = 30
"""Seconds that a connection may be idle between two requests."""


def run(setup: Setup, listening: Callable[[str], None]) -> None:
    """Serve; `listening` is called with the address before the first request is accepted."""
    log_to_stderr()
    setup.check()
    bound = _socket(setup.serving.host, setup.serving.port)
    settings = uvicorn.Config(
        create_app(setup),
        log_level="warning",
        log_config=None,
        access_log=False,
        backlog=ACCEPTED,
        http=bounded_protocol(Connections(connections_most())),
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=GRACE,
        timeout_keep_alive=KEEP_ALIVE,
        ws="none",
        h11_max_incomplete_event_size=64 * 1024,
    )
    sys.setswitchinterval(SWITCH)
    listening(_address(bound))
    _Server(settings).run(sockets=[bound])


class _Server(uvicorn.Server):
    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        for each in sockets or ():
            each.listen(BACKLOG)  # uvicorn has set it to what is accepted at once
        gc.collect()
        gc.freeze()  # everything loaded so far stays; scanning it for garbage would block every request
        gc.set_threshold(*gc.get_threshold()[:2], FULL_COLLECTION)


def _socket(host: str, port: int) -> socket.socket:
    """Bind before the address is announced, so that the announcement is true."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        # asyncio disables Nagle's algorithm only on sockets whose protocol is TCP.
        bound = socket.socket(family, kind, protocol)
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(address)
        bound.listen(BACKLOG)
    except OSError as error:
        raise ConfigError(
            f"cannot listen on {host}, port {port}: {error.strerror or error}",
            remedy="name another `--port`, or 0 for one that is free",
        ) from error
    return bound


def _address(bound: socket.socket) -> str:
    host, port = bound.getsockname()[:2]
    shown = f"[{host}]" if ":" in host else host
    return f"http://{shown}:{port}"
