"""Limit each request: the size of its body, its content type, the time it may take.

An unexpected error never shows the client any internals. A request that takes too long gets a response; its
thread goes on, and its transaction is committed or rolled back as a whole.
"""

from __future__ import annotations

import asyncio
import logging
import traceback
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from foveal.server.middleware.access import TENANT
from foveal.server.problems import Problem, internal

BODY_MOST = 32 * 1024 * 1024
SECONDS_MOST = 120.0
DRAIN_SECONDS = 5.0
_log = logging.getLogger(__name__)


class _Sent:
    """Passes messages on until the request is abandoned."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.started = False
        self.closed = False

    async def __call__(self, message: Message) -> None:
        if self.closed:
            return
        self.started = self.started or message["type"] == "http.response.start"
        await self._send(message)


@dataclass(frozen=True, slots=True)
class Requests:
    """How many requests to the API may be open at once, event streams included."""

    most: int = 1_000
    most_of_tenant: int = 1_000


class Limits:
    def __init__(
        self,
        app: ASGIApp,
        *,
        body_most: int = BODY_MOST,
        seconds_most: float = SECONDS_MOST,
        requests: Requests | None = None,
    ) -> None:
        self._app = app
        self._requests = requests or Requests()
        self._body_most = body_most
        self._seconds_most = seconds_most
        self._late: set[asyncio.Task[None]] = set()
        self._open: Counter[str] = Counter()
        """Open requests to the API by tenant."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        sent = _Sent(send)
        try:
            _check(Headers(scope=scope), self._body_most)
            with self._counted_request(scope):
                await self._timed(scope, _counted(receive, self._body_most), sent)
        except Problem as problem:
            if problem.kind.name == "too-large":
                await _drain(receive, self._body_most)
            await self._refuse(problem, scope, receive, sent)
        except Exception as error:  # noqa: BLE001 — no internals may reach a client
            log_error(error, scope)
            await self._refuse(internal(), scope, receive, sent)

    @contextmanager
    def _counted_request(self, scope: Scope) -> Iterator[None]:
        """Count an open request, or refuse it; pages and `/health` are neither counted nor refused."""
        if not scope["path"].startswith("/api/"):
            yield
            return
        tenant, limits = scope.get(TENANT, ""), self._requests
        if self._open[tenant] >= limits.most_of_tenant or self._open.total() >= limits.most:
            raise Problem(
                "busy",
                f"{self._open[tenant]:,} requests are open",
                "wait for responses, and close event streams that are not read",
                headers={"retry-after": "1", "connection": "close"},
            )
        self._open[tenant] += 1
        try:
            yield
        finally:
            self._open[tenant] -= 1

    async def _timed(self, scope: Scope, receive: Receive, sent: _Sent) -> None:
        """Run the app; a response that has started, such as a stream, has no time limit."""
        task = asyncio.ensure_future(self._app(scope, receive, sent))
        try:
            done, _ = await asyncio.wait({task}, timeout=self._seconds_most)
            if not done and not sent.started:
                self._late.add(task)
                task.add_done_callback(self._forget)
                raise Problem(
                    "timeout",
                    f"the request took more than {self._seconds_most:.0f} seconds and may still complete",
                    "check whether it completed before you retry, or send less at once",
                    headers={"connection": "close"},
                )
            await task
        except asyncio.CancelledError:
            task.cancel()
            raise

    def _forget(self, task: asyncio.Task[None]) -> None:
        self._late.discard(task)
        if not task.cancelled() and (error := task.exception()):
            _log.error("a late request failed: %s", type(error).__name__)

    async def _refuse(self, problem: Problem, scope: Scope, receive: Receive, sent: _Sent) -> None:
        if not sent.started:
            await problem.response()(scope, receive, sent)
        sent.closed = True


def _check(headers: Headers, most: int) -> None:
    length = headers.get("content-length", "")
    if length and "transfer-encoding" in headers:  # a proxy may see another end of the body
        raise Problem(
            "malformed",
            "the request has both `Content-Length` and `Transfer-Encoding`",
            "send one of them",
            headers={"connection": "close"},
        )
    if length.isascii() and length.isdigit() and int(length) > most:
        raise _too_large(most)
    if length in ("", "0") and "transfer-encoding" not in headers:
        return
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise Problem(
            "media-type", "the body is not declared as JSON", "send it with `Content-Type: application/json`"
        )


def _counted(receive: Receive, most: int) -> Receive:
    """The same body, refused once it exceeds the limit."""
    size = 0

    async def counted() -> Message:
        nonlocal size
        message = await receive()
        size += len(message.get("body", b""))
        if size > most:
            await _drain(receive, most)
            # While it reads a body, FastAPI lets only this exception through.
            raise HTTPException(413, _too_large(most).detail, headers={"connection": "close"})
        return message

    return counted


async def _drain(receive: Receive, most: int) -> None:
    """Read on for a moment: most clients read a response only after they have sent everything."""
    size, more = 0, True
    try:
        async with asyncio.timeout(DRAIN_SECONDS):
            while more and size < most:
                message = await receive()
                size += len(message.get("body", b""))
                more = message.get("more_body", False)
    except TimeoutError:
        return


def _too_large(most: int) -> Problem:
    return Problem(
        "too-large",
        f"the body has more than {most / 2**20:.0f} MB",
        "send it in several requests",
        headers={"connection": "close"},
    )


def log_error(error: Exception, scope: Scope) -> None:
    """Log where it failed, without the error's message, which may quote content."""
    frames = traceback.extract_tb(error.__traceback__)[-6:]
    route = getattr(scope.get("route"), "path", "?")
    trail = " < ".join(f"{frame.name}:{frame.lineno}" for frame in reversed(frames))
    _log.error("%s %s failed: %s at %s", scope["method"], route, type(error).__name__, trail)
