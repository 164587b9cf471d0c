"""Requests in → numbers for Prometheus: how many, how long, how many listeners, how much memory."""

from __future__ import annotations

import sys
import threading
import time
from collections import Counter

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from foveal.server.tenants import Places

MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"
BUCKETS = (0.005, 0.025, 0.1, 0.5, 2.5, 10.0)
"""Seconds."""
_NOT_ALLOWED = 405


class Metrics:
    """Counts what passes through; the names of routes are labels, what is in them is not."""

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

        async def noting(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._note(scope, message["status"], time.perf_counter() - start)
            await send(message)

        await self._app(scope, receive, noting)

    def _note(self, scope: Scope, status: int, seconds: float) -> None:
        route = getattr(scope.get("route"), "path", "other")
        place = next((at for at, most in enumerate(BUCKETS) if seconds <= most), len(BUCKETS))
        # Whoever asks makes up methods: one that a route has not is not counted by its name.
        method = scope["method"] if route != "other" and status != _NOT_ALLOWED else "any"
        with self._lock:
            self._requests[method, route, status] += 1
            self._buckets[place] += 1
            self._seconds += seconds

    def text(self, places: Places) -> str:
        with self._lock:
            requests, buckets, seconds = dict(self._requests), list(self._buckets), self._seconds
        lines = ["# HELP foveal_requests_total Requests answered.", "# TYPE foveal_requests_total counter"]
        lines += [
            f'foveal_requests_total{{method="{method}",route="{route}",status="{status}"}} {count}'
            for (method, route, status), count in sorted(requests.items())
        ]
        lines += _histogram(buckets, seconds)
        open_places = places.all
        listeners = sum(place.feed.listeners for place in open_places)
        lines += _gauge("foveal_event_listeners", "Clients on the event stream.", listeners)
        lines += _gauge("foveal_sessions_held", "Sessions in memory.", sum(p.held for p in open_places))
        lines += _gauge("foveal_tenants_open", "Tenants whose store is open.", len(open_places))
        lines += _gauge("process_resident_memory_bytes", "Resident memory.", _resident())
        return "\n".join(lines) + "\n"


def _histogram(buckets: list[int], seconds: float) -> list[str]:
    name = "foveal_request_seconds"
    lines = [f"# HELP {name} Seconds until an answer began.", f"# TYPE {name} histogram"]
    total = 0
    for most, count in zip((*map(str, BUCKETS), "+Inf"), buckets, strict=True):
        total += count
        lines.append(f'{name}_bucket{{le="{most}"}} {total}')
    return [*lines, f"{name}_sum {seconds:.6f}", f"{name}_count {total}"]


def _gauge(name: str, about: str, value: int) -> list[str]:
    return [f"# HELP {name} {about}", f"# TYPE {name} gauge", f"{name} {value}"]


def _resident() -> int:
    """Bytes; where the system does not tell, the most there ever were."""
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
