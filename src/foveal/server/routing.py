"""The value that a route's function returns in → JSON, written in the same thread as the work.

The event loop neither works nor writes: one large answer holds nobody else up.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import ExitStack, asynccontextmanager, suppress
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

from foveal.server.middleware.access import TENANT
from foveal.server.schemas import INTEGER_MOST
from foveal.server.tenants import Place

COMPUTING = 2
"""Requests that compute at once. Python runs one at a time: more only keep the event loop from its turn."""
TURN = 0.5
"""Seconds after which the next may begin: who takes longer may be waiting, for a model or for the store."""


class Told(APIRoute):
    """A route whose function is an ordinary one: values in, a value out."""

    def __init__(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        status = options.get("status_code") or 200
        super().__init__(path, _telling(endpoint, status), **options)

    def get_route_handler(self) -> Callable[..., Any]:
        handler = super().get_route_handler()

        async def handle(request: Request) -> Response:
            strict = _Strict(request.scope, request.receive)
            with suppress(ClientDisconnect):
                await strict.body()  # who sends slowly takes nobody's turn
            async with turn(request.app.state.turns):
                found: Response = await handler(strict)
            return found

        return handle


@asynccontextmanager
async def turn(turns: asyncio.Semaphore) -> AsyncIterator[None]:
    """One of the few that compute, for a while."""
    await turns.acquire()
    with ExitStack() as held:
        held.callback(turns.release)
        over = asyncio.get_running_loop().call_later(TURN, held.close)
        held.callback(over.cancel)
        yield


class _Strict(Request):
    """A request whose JSON is JSON: NaN and Infinity are not."""

    async def json(self) -> Any:
        return json.loads(await self.body(), parse_constant=_refused)


def _refused(name: str) -> Any:
    raise json.JSONDecodeError(f"{name} is not JSON", name, 0)


def _telling(endpoint: Callable[..., Any], status: int) -> Callable[..., Any]:
    shape: TypeAdapter[Any] = TypeAdapter(get_type_hints(endpoint, include_extras=True)["return"])

    @wraps(endpoint)
    def run(*args: Any, **given: Any) -> Response:
        found = endpoint(*args, **given)
        if isinstance(found, Response):
            return found
        return Response(written(found, shape), status, media_type="application/json")

    return run


def written(value: object, shape: TypeAdapter[Any]) -> bytes:
    """The value as JSON in UTF-8."""
    try:
        return shape.dump_json(value, warnings=False)
    except PydanticSerializationError:  # half a character, which UTF-8 cannot say and JSON can
        return json.dumps(value, default=_plain).encode()


def _plain(value: object) -> object:
    return asdict(value) if is_dataclass(value) and not isinstance(value, type) else str(value)


async def _place(request: Request) -> Place:
    places, tenant = request.app.state.places, request.scope[TENANT]
    found: Place = places.open.get(tenant) or await asyncio.to_thread(places.of, tenant)
    return found


async def _named(name: Annotated[str, Path(min_length=1, description="Of a session.")]) -> str:
    return unquote(name)


At = Annotated[Place, Depends(_place)]
"""Whose data it is."""
Named = Annotated[str, Depends(_named)]
"""The name of a session."""
Number = Annotated[int, Query(ge=1, le=INTEGER_MOST)]
Limit = Annotated[int, Query(ge=1, le=1_000)]
