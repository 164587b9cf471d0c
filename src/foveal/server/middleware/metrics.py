"""Count requests and time them for Prometheus, beside listeners, open sessions and memory."""

from __future__ import annotations

import sys
import threading
import time
from collections import Counter

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from foveal.server.tenants import Tenants

MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"
BUCKETS = (0.005, 0.025, 0.1, 0.5, 2.5, 10.0)
"""Seconds."""
_NOT_ALLOWED = 405


class Metrics:
    """Counts requests by route; the values in a path are no labels."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._requests: Counter[tuple[str, str, int]] = Counter()
        self._buckets = [0] * (len(BUCKETS) + 1)
        self._seconds = 0.0
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
            self._requests[method, route, status] += 1
            self._buckets[bucket] += 1
            self._seconds += seconds

    def text(self, tenants: Tenants) -> str:
        with self._lock:
            requests, buckets, seconds = dict(self._requests), list(self._buckets), self._seconds
        lines = ["# HELP foveal_requests_total Requests answered.", "# TYPE foveal_requests_total counter"]
        lines += [
            f'foveal_requests_total{{method="{method}",route="{route}",status="{status}"}} {count}'
            for (method, route, status), count in sorted(requests.items())
        ]
        lines += _histogram(buckets, seconds)
        opened = tenants.all
        listeners = sum(each.feed.listeners for each in opened)
        sessions = sum(each.sessions_in_memory for each in opened)
        lines += _gauge("foveal_event_listeners", "Clients on the event stream.", listeners)
        lines += _gauge("foveal_sessions_held", "Sessions in memory.", sessions)
        lines += _gauge("foveal_tenants_open", "Tenants whose store is open.", len(opened))
        lines += _gauge("process_resident_memory_bytes", "Resident memory.", _resident())
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


def _resident() -> int:
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
