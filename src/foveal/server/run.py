"""The settings in → the service, listening until it is told to stop."""

from __future__ import annotations

import gc
import socket
import sys
from collections.abc import Callable

import uvicorn

from foveal.errors import ConfigError
from foveal.server.app import application
from foveal.server.tenants import Setup

BACKLOG = 512
SWITCH = 0.0002
"""Seconds that a thread computes before the event loop gets its turn; 25 times the usual haste."""
FULL_SEARCH = 100
"""Partial searches for garbage to a full one, usually 10. Everybody waits for a full one: half a second with
fifty long sessions in memory. Requests leave nothing for it; sessions that are no longer held do."""
GOODBYE = 5
"""Seconds that open requests have to end."""


def run(setup: Setup, listening: Callable[[str], None]) -> None:
    """Serve; `listening` is told the address once there is one."""
    setup.check()
    place = _socket(setup.serving.host, setup.serving.port)
    settings = uvicorn.Config(
        application(setup),
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=GOODBYE,
        timeout_keep_alive=30,
        ws="none",
        h11_max_incomplete_event_size=64 * 1024,
    )
    sys.setswitchinterval(SWITCH)
    listening(_address(place))
    _Server(settings).run(sockets=[place])


class _Server(uvicorn.Server):
    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        gc.collect()
        gc.freeze()  # what is there by now stays: to look through it for garbage held everybody up
        gc.set_threshold(*gc.get_threshold()[:2], FULL_SEARCH)


def _socket(host: str, port: int) -> socket.socket:
    """Taken before anything is said, so that what is said is true."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        # asyncio sends small answers at once only where the socket knows that it speaks TCP.
        place = socket.socket(family, kind, protocol)
        place.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        place.bind(address)
        place.listen(BACKLOG)
    except OSError as fault:
        raise ConfigError(
            f"cannot listen on {host}, port {port}: {fault.strerror or fault}",
            remedy="name another `--port`, or 0 for one that is free",
        ) from fault
    return place


def _address(place: socket.socket) -> str:
    host, port = place.getsockname()[:2]
    shown = f"[{host}]" if ":" in host else host
    return f"http://{shown}:{port}"
