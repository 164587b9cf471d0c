"""A request in → served within its limits: the size of its body, its type, the time it may take.

Nothing that flies past here names its inside to the client. What takes too long is answered; the thread that
does it goes on, and what it began is finished or undone as a whole.
"""

from __future__ import annotations

import asyncio
import logging
import traceback

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from foveal.server.problems import Problem, internal

BODY_MOST = 32 * 1024 * 1024
SECONDS_MOST = 120.0
SECONDS_TO_HEAR = 5.0
_log = logging.getLogger(__name__)


class _Sent:
    """Passes messages on until the request is given up."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.started = False
        self.closed = False

    async def __call__(self, message: Message) -> None:
        if self.closed:
            return
        self.started = self.started or message["type"] == "http.response.start"
        await self._send(message)


class Limits:
    def __init__(
        self, app: ASGIApp, *, body_most: int = BODY_MOST, seconds_most: float = SECONDS_MOST
    ) -> None:
        self._app = app
        self._body_most = body_most
        self._seconds_most = seconds_most
        self._late: set[asyncio.Task[None]] = set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        sent = _Sent(send)
        try:
            _check(Headers(scope=scope), self._body_most)
            await self._timed(scope, _counted(receive, self._body_most), sent)
        except Problem as problem:
            if problem.kind.name == "too-large":
                await _discarded(receive, self._body_most)
            await self._refuse(problem, scope, receive, sent)
        except Exception as error:  # noqa: BLE001 — nothing of the inside may reach a client
            _tell(error, scope)
            await self._refuse(internal(), scope, receive, sent)

    async def _timed(self, scope: Scope, receive: Receive, sent: _Sent) -> None:
        """Run it; a response that has begun (a stream) may go on for as long as it likes."""
        task = asyncio.ensure_future(self._app(scope, receive, sent))
        try:
            done, _ = await asyncio.wait({task}, timeout=self._seconds_most)
            if not done and not sent.started:
                self._late.add(task)
                task.add_done_callback(self._forget)
                raise Problem(
                    "timeout",
                    f"it took more than {self._seconds_most:.0f} seconds and may still be done",
                    "look whether it was done before you ask again, or ask for less at once",
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
    if length.isascii() and length.isdigit() and int(length) > most:
        raise _too_large(most)
    if length in ("", "0") and "transfer-encoding" not in headers:
        return
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise Problem(
            "media-type", "the body is not said to be JSON", "send it with `Content-Type: application/json`"
        )


def _counted(receive: Receive, most: int) -> Receive:
    """The same body, refused where it goes on beyond the limit."""
    taken = 0

    async def counted() -> Message:
        nonlocal taken
        message = await receive()
        taken += len(message.get("body", b""))
        if taken > most:
            await _discarded(receive, most)
            # Of what fails while a body is read, FastAPI lets only this one through.
            raise HTTPException(413, _too_large(most).detail, headers={"connection": "close"})
        return message

    return counted


async def _discarded(receive: Receive, most: int) -> None:
    """Read on for a moment: most clients hear an answer only once they have sent everything."""
    taken, more = 0, True
    try:
        async with asyncio.timeout(SECONDS_TO_HEAR):
            while more and taken < most:
                message = await receive()
                taken += len(message.get("body", b""))
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


def _tell(error: Exception, scope: Scope) -> None:
    """Say where it went wrong; what an error says of itself may be content, so that is not logged."""
    places = traceback.extract_tb(error.__traceback__)[-6:]
    route = getattr(scope.get("route"), "path", "?")
    trail = " < ".join(f"{place.name}:{place.lineno}" for place in reversed(places))
    _log.error("%s %s failed: %s at %s", scope["method"], route, type(error).__name__, trail)
