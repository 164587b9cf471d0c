"""The route class that runs an ordinary function and writes its result as JSON, and the shared parameters.

Both happen in a worker thread, so one large response does not block the event loop.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import ExitStack, asynccontextmanager
from dataclasses import asdict, is_dataclass
from functools import wraps
from typing import Annotated, Any, get_type_hints
from urllib.parse import unquote

from fastapi import Depends, Path, Query, Request
from fastapi.routing import APIRoute
from pydantic import TypeAdapter
from pydantic_core import PydanticSerializationError
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.types import Message, Receive

from foveal.server.middleware.access import TENANT
from foveal.server.middleware.limits import SECONDS_MOST
from foveal.server.problems import TOO_LONG
from foveal.server.schemas import INTEGER_MOST
from foveal.server.tenants import Tenant
from foveal.store.deadline import Deadline, within

CONCURRENT = 2
"""Requests that compute at once. Python runs one thread at a time: more would only starve the event loop."""
TURN = 0.5
"""Seconds after which the next request may start: a longer one may be waiting for a model or the store."""


class ApiRoute(APIRoute):
    """A route whose function takes and returns ordinary values."""

    def __init__(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        status = options.get("status_code") or 200
        super().__init__(path, _as_json(endpoint, status), **options)

    def get_route_handler(self) -> Callable[..., Any]:
        handler = super().get_route_handler()

        async def handle(request: Request) -> Response:
            strict = _Strict(request.scope, request.receive)
            if not await arrived(strict):  # before taking a turn: a slow upload blocks no other request
                return abandoned()
            async with turn(request.app.state.turns), _watched(request):
                response: Response = await handler(strict)
            return response

        return handle


@asynccontextmanager
async def _watched(request: Request) -> AsyncIterator[None]:
    """Let the store stop reading after the time of a request, or when the client is gone."""
    deadline = Deadline(SECONDS_MOST)
    gone = asyncio.ensure_future(disconnected(request.receive))
    gone.add_done_callback(lambda _: deadline.stop())
    try:
        with within(deadline):
            yield
    finally:
        gone.cancel()


def received(body: bytes, then: Receive) -> Receive:
    """A request's body that was read already, and then what `then` receives."""
    whole = iter([{"type": "http.request", "body": body, "more_body": False}])

    async def receive() -> Message:
        for message in whole:
            return message
        return await then()

    return receive


def end(gone: asyncio.Event) -> Receive:
    """The end of a client, once `gone` is set."""

    async def receive() -> Message:
        await gone.wait()
        return {"type": "http.disconnect"}

    return receive


async def arrived(request: Request) -> bool:
    """Read the body; False if the client left before its end."""
    try:
        await request.body()
    except ClientDisconnect:
        return False
    return True


def abandoned() -> Response:
    """For a client that is gone: it is not sent, but the metrics count it."""
    return Response(status_code=499)


async def disconnected(receive: Receive) -> None:
    """Wait until the client is gone. The body must have been read."""
    while (await receive())["type"] != "http.disconnect":
        pass


@asynccontextmanager
async def turn(turns: asyncio.Semaphore) -> AsyncIterator[None]:
    """Hold one of the few turns to compute, for at most `TURN` seconds."""
    await turns.acquire()
    with ExitStack() as stack:
        stack.callback(turns.release)
        timer = asyncio.get_running_loop().call_later(TURN, stack.close)
        stack.callback(timer.cancel)
        yield


class _Strict(Request):
    """A request that refuses NaN and Infinity, which are not JSON."""

    async def json(self) -> Any:
        body = await self.body()
        try:
            return json.loads(body, parse_constant=_refused)
        except _NoNumber as found:
            text = body.decode(json.detect_encoding(body), "surrogatepass")
            raise json.JSONDecodeError(f"{found} is not JSON", text, _place(str(found), text)) from None
        except (json.JSONDecodeError, UnicodeDecodeError):
            raise
        except ValueError:
            raise json.JSONDecodeError(TOO_LONG, "", 0) from None


_SCAN = json.JSONDecoder().parse_string  # type: ignore[attr-defined]


class _NoNumber(Exception):  # noqa: N818 — it is answered as an error of JSON
    """One of the names that Python reads as numbers."""


def _refused(name: str) -> Any:
    raise _NoNumber(name)


def _place(name: str, text: str) -> int:
    """Where the name is outside of all strings; the text is JSON up to there."""
    at, found = 0, text.find(name)
    while 0 <= (quote := text.find('"', at)) < found:
        _, at = _SCAN(text, quote + 1)
        found = text.find(name, at) if found < at else found
    return found


def _as_json(endpoint: Callable[..., Any], status: int) -> Callable[..., Any]:
    shape: TypeAdapter[Any] = TypeAdapter(get_type_hints(endpoint, include_extras=True)["return"])

    @wraps(endpoint)
    def run(*args: Any, **kwargs: Any) -> Response:
        value = endpoint(*args, **kwargs)
        if isinstance(value, Response):
            return value
        return Response(to_json(value, shape), status, media_type="application/json")

    return run


def to_json(value: object, shape: TypeAdapter[Any]) -> bytes:
    """The value as JSON in UTF-8."""
    try:
        return shape.dump_json(value, warnings=False)
    except PydanticSerializationError:  # a lone surrogate, which JSON can escape and UTF-8 cannot encode
        return json.dumps(value, default=_plain).encode()


def _plain(value: object) -> object:
    return asdict(value) if is_dataclass(value) and not isinstance(value, type) else str(value)


async def _tenant(request: Request) -> Tenant:
    tenants, name = request.app.state.tenants, request.scope[TENANT]
    found: Tenant = tenants.open.get(name) or await asyncio.to_thread(tenants.get, name)
    return found


async def _session_name(name: Annotated[str, Path(min_length=1, description="Of a session.")]) -> str:
    return unquote(name)


CurrentTenant = Annotated[Tenant, Depends(_tenant)]
"""The tenant whose token the client sent."""
SessionName = Annotated[str, Depends(_session_name)]
Number = Annotated[int, Query(ge=1, le=INTEGER_MOST)]
Limit = Annotated[int, Query(ge=1, le=1_000)]
