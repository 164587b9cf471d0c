"""The route classes for work in a worker process: with progress, stopped with its client or its deadline.

A store in memory exists in one process only: there the work stays in a thread, which stops at its next
report of progress.
"""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import Annotated, Any
from urllib.parse import unquote

from fastapi import Depends, Request
from fastapi.exceptions import RequestValidationError
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive

from foveal.errors import FovealError
from foveal.server.api import ApiRoute, abandoned, arrived, disconnected, end, received
from foveal.server.middleware.access import TENANT
from foveal.server.problems import Problem, internal, response_to
from foveal.server.tenants import Tenant
from foveal.server.workers.frames import Job
from foveal.server.workers.pool import Pool, Progress

PROGRESS = "foveal.progress"
"""The key of the ASGI scope that has the function to report progress to."""
NDJSON = "application/x-ndjson"
SECONDS_MOST = 110.0
"""Of a long request, waiting for its turn included."""
BEAT = 2.0
"""Seconds after which a client that reads progress gets another line, even if nothing changed."""
_KEPT = frozenset({"content-type", "accept", "traceparent", "tracestate"})
"""The request headers that a worker gets."""
_TRACE_MOST = 512
"""Characters of a trace header; a longer one is left out."""


class _Stopped(Exception):  # noqa: N818 — not an error: the result has no reader
    """The client is gone or the deadline passed."""


class _Reports:
    """The latest progress of one request."""

    def __init__(self) -> None:
        self.done = self.of = 0
        self.stopped = threading.Event()
        self.gone = asyncio.Event()

    def __call__(self, done: int, of: int) -> None:
        if self.stopped.is_set():
            raise _Stopped
        self.done, self.of = done, of


class LongRoute(ApiRoute):
    """A route whose function may compute for seconds."""

    lane = "work"
    local_body_most: int | None = None
    """Bytes of the largest body with which it runs in the service itself; None: it never does."""
    creates = False
    """Whether a request other than a GET may create the session that its path names."""

    def get_route_handler(self) -> Callable[..., Any]:
        here = super().get_route_handler()

        async def handle(request: Request) -> Response:
            if PROGRESS in request.scope:  # in a worker
                return await here(request)  # type: ignore[no-any-return]
            if not await arrived(request):
                return abandoned()
            body = await request.body()
            if self.local_body_most is not None and len(body) <= self.local_body_most:
                return await here(Request(request.scope, received(body, request.receive)))  # type: ignore[no-any-return]
            reports = _Reports()
            pool: Pool | None = request.app.state.pool
            if pool is None:
                scope = {**request.scope, PROGRESS: reports}
                work: Awaitable[Response] = here(Request(scope, received(body, end(reports.gone))))
            else:
                lane = (request.scope[TENANT], self.lane)
                work = _delegated(request, body, pool, lane, reports, creates=self.creates)
            task = asyncio.ensure_future(work)
            if NDJSON in request.headers.get("accept", ""):
                return StreamingResponse(_lines(task, reports), media_type=NDJSON)
            return await _finished(task, reports, request.receive)

        return handle


class BulkRoute(LongRoute):
    """A route that is quick unless the body of its request is large: reading one holds up everything else."""

    lane = "bulk"
    local_body_most = 256 * 1024
    creates = True


class SearchRoute(LongRoute):
    """A search does not wait for the other long requests of its tenant."""

    lane = "search"


async def _delegated(
    request: Request, body: bytes, pool: Pool, lane: tuple[str, str], reports: Progress, *, creates: bool
) -> Response:
    scope = request.scope
    changes = scope["method"] != "GET"
    headers = tuple(
        (name, value)
        for name, value in request.headers.items()
        if name in _KEPT and (len(value) <= _TRACE_MOST or not name.startswith("trace"))
    )
    job = Job(
        tenant=scope[TENANT],
        method=scope["method"],
        path=scope["path"],
        query=scope["query_string"].decode("latin-1"),
        headers=headers,
        body=body,
    )
    tenant: Tenant | None = request.app.state.tenants.open.get(scope[TENANT])
    session = unquote(request.path_params.get("name", "")) if changes else ""
    new = creates and tenant and session and await asyncio.to_thread(tenant.fov.find, session) is None
    answer = await pool.run(job, lane, reports)
    if tenant and changes:
        await asyncio.to_thread(tenant.changed, session, created=bool(new))
    return Response(answer.body, answer.status, headers=dict(answer.headers))


async def _finished(task: asyncio.Future[Response], reports: _Reports, receive: Receive) -> Response:
    """Wait for the result, the end of the client or the deadline."""
    gone = asyncio.ensure_future(disconnected(receive))
    both: set[asyncio.Future[Any]] = {task, gone}
    try:
        await asyncio.wait(both, timeout=SECONDS_MOST, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            return task.result()
        if gone.done():
            return abandoned()
        raise _late()
    finally:
        gone.cancel()
        _stop(task, reports)


async def _lines(task: asyncio.Future[Response], reports: _Reports) -> AsyncGenerator[bytes, None]:
    """Progress as lines of JSON while the work goes on, then its result or problem."""
    began, seen = time.monotonic(), (-1, -1)
    try:
        while not task.done():
            seconds = time.monotonic() - began
            if seconds > SECONDS_MOST:
                yield _last_line(_late().response())
                return
            seen = (reports.done, reports.of)
            report = {"done": seen[0], "of": seen[1], "seconds": round(seconds, 1)}
            yield json.dumps({"progress": report}).encode() + b"\n"
            await _changed(task, reports, seen)
        yield _last_line(_response(task))
    finally:
        _stop(task, reports)


async def _changed(task: asyncio.Future[Response], reports: _Reports, seen: tuple[int, int]) -> None:
    """Wait until there is something to say, at most `BEAT` seconds."""
    until = time.monotonic() + BEAT
    while not task.done() and (reports.done, reports.of) == seen and time.monotonic() < until:
        await asyncio.wait({task}, timeout=0.1)


def _response(task: asyncio.Future[Response]) -> Response:
    try:
        return task.result()
    except (Problem, FovealError, RequestValidationError) as error:
        return response_to(error)
    except Exception:  # noqa: BLE001 — the response has begun: an error can only be its last line
        return internal().response()


def _last_line(response: Response) -> bytes:
    """The response as one line; JSON has no line breaks outside of strings once it is written again."""
    name = "result" if response.status_code < 400 else "problem"
    content = json.loads(bytes(response.body))
    return json.dumps({"status": response.status_code, name: content}).encode() + b"\n"


def _late() -> Problem:
    return Problem(
        "timeout",
        f"the request took more than {SECONDS_MOST:.0f} seconds and was stopped; it may have been completed",
        "check what the session has now, then ask for less: one preset, an earlier build, a smaller budget",
    )


def _stop(task: asyncio.Future[Response], reports: _Reports) -> None:
    if not task.done():
        reports.stopped.set()
        reports.gone.set()
        task.cancel()
        task.add_done_callback(lambda done: done.cancelled() or done.exception())


async def _progress(request: Request) -> Progress:
    found: Progress = request.scope[PROGRESS]
    return found


CurrentProgress = Annotated[Progress, Depends(_progress)]
"""Where the function of a long route reports what it has done."""
