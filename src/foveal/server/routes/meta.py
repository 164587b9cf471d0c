"""What there is: models and operations; and the stream of what happens."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any
from urllib.parse import unquote

from fastapi import APIRouter, Header, Path, Query
from starlette.responses import Response

from foveal import operations
from foveal.server.events import EventStream
from foveal.server.routing import At, Told
from foveal.server.schemas import INTEGER_MOST
from foveal.session.responses import ModelTold, models_told

router = APIRouter(route_class=Told)
live = APIRouter()


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationTold:
    name: str
    code: str
    about: str


@router.get("/models")
def models(at: At, pattern: Annotated[str, Query(max_length=200)] = "") -> list[ModelTold]:
    """The models: limits, prices, tokenizer."""
    return models_told(pattern, catalogue=at.setup.catalogue)


@router.get("/operations")
def every() -> list[OperationTold]:
    """Every operation there is."""
    known = operations.REGISTRY.operations
    return [OperationTold(name=each.name, code=each.code, about=each.about) for each in known]


@router.get("/operations/{operation}")
def schema(operation: Annotated[str, Path(min_length=1)]) -> dict[str, Any]:
    """What an operation takes and gives."""
    return operations.schema(unquote(operation))


@router.post("/operations/{operation}")
def run(operation: Annotated[str, Path(min_length=1)], request: dict[str, Any]) -> dict[str, Any]:
    """Run an operation: nothing is stored."""
    return operations.run(unquote(operation), request)


@live.get(
    "/events",
    response_class=Response,
    responses={200: {"content": {"text/event-stream": {"schema": {"type": "string"}}}}},
)
async def events(
    at: At,
    session: Annotated[str, Query(max_length=500)] = "",
    last_event_id: Annotated[str, Header()] = "",
) -> Any:
    """What happens from now on, or from the event after `Last-Event-ID`, as server-sent events."""
    given = last_event_id.strip()
    whole = given.isascii() and given.isdigit() and len(given) <= 18
    after = int(given) if whole else -1 if given else None
    return EventStream(at.feed.listen(None if after is None else min(after, INTEGER_MOST), session))
