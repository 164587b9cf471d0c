"""Count requests and time them for Prometheus, beside listeners, open sessions and memory."""

from __future__ import annotations

import sys
import threading
import time
from collections import Counter
from dataclasses import dataclass, field

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from foveal.server.middleware.access import TENANT
from foveal.server.tenants import Tenants

MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"
BUCKETS = (0.005, 0.025, 0.1, 0.5, 2.5, 10.0)
"""Seconds."""
_NOT_ALLOWED = 405


@dataclass(slots=True)
class _Numbers:
    """What is counted for one tenant."""

    requests: Counter[tuple[str, str, int]] = field(default_factory=Counter)
    buckets: list[int] = field(default_factory=lambda: [0] * (len(BUCKETS) + 1))
    seconds: float = 0.0

    def __add__(self, other: _Numbers) -> _Numbers:
        buckets = [ours + theirs for ours, theirs in zip(self.buckets, other.buckets, strict=True)]
        return _Numbers(self.requests + other.requests, buckets, self.seconds + other.seconds)


class Metrics:
    """Counts requests by tenant and route; the values in a path are no labels."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._tenants: dict[str, _Numbers] = {}
        """By name; empty for requests without a token."""
        self._lock = threading.Lock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        start = time.perf_counter()

        async def observe(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._count(scope, message["status"], time.perf_counter() - start)
            await send(message)

        await self._app(scope, receive, observe)

    def _count(self, scope: Scope, status: int, seconds: float) -> None:
        route = getattr(scope.get("route"), "path", "other")
        bucket = next((at for at, most in enumerate(BUCKETS) if seconds <= most), len(BUCKETS))
        # Clients can invent methods: only those that a route has become labels.
        method = scope["method"] if route != "other" and status != _NOT_ALLOWED else "any"
        with self._lock:
            numbers = self._tenants.setdefault(scope.get(TENANT, ""), _Numbers())
            numbers.requests[method, route, status] += 1
            numbers.buckets[bucket] += 1
            numbers.seconds += seconds

    def text(self, tenants: Tenants, tenant: str | None) -> str:
        """The numbers of one tenant; of all, and of the process, for None."""
        with self._lock:
            chosen = [each for name, each in self._tenants.items() if tenant in (None, name)]
            numbers = sum(chosen, _Numbers())
        requests, buckets, seconds = numbers.requests, numbers.buckets, numbers.seconds
        lines = ["# HELP foveal_requests_total Requests answered.", "# TYPE foveal_requests_total counter"]
        lines += [
            f'foveal_requests_total{{method="{method}",route="{route}",status="{status}"}} {count}'
            for (method, route, status), count in sorted(requests.items())
        ]
        lines += _histogram(buckets, seconds)
        opened = [each for name, each in tenants.open.items() if tenant in (None, name)]
        listeners = sum(each.feed.listeners for each in opened)
        sessions = sum(each.sessions_in_memory for each in opened)
        lines += _gauge("foveal_event_listeners", "Clients on the event stream.", listeners)
        lines += _gauge("foveal_sessions_held", "Sessions in memory.", sessions)
        if tenant is None:
            lines += _gauge("foveal_tenants_open", "Tenants whose store is open.", len(opened))
            lines += _gauge("process_resident_memory_bytes", "Resident memory.", resident())
        return "\n".join(lines) + "\n"


def _histogram(buckets: list[int], seconds: float) -> list[str]:
    name = "foveal_request_seconds"
    lines = [f"# HELP {name} Seconds until the response began.", f"# TYPE {name} histogram"]
    total = 0
    for most, count in zip((*map(str, BUCKETS), "+Inf"), buckets, strict=True):
        total += count
        lines.append(f'{name}_bucket{{le="{most}"}} {total}')
    return [*lines, f"{name}_sum {seconds:.6f}", f"{name}_count {total}"]


def _gauge(name: str, about: str, value: int) -> list[str]:
    return [f"# HELP {name} {about}", f"# TYPE {name} gauge", f"{name} {value}"]


def resident() -> int:
    """Resident bytes; the peak where the system does not report the current value."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            pages = int(file.read().split()[1])
    except OSError:
        return _peak()
    import resource

    return pages * resource.getpagesize()


def _peak() -> int:
    try:
        import resource
    except ImportError:  # Windows
        return 0
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
