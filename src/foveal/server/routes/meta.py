"""List the models and the operations, run operations, list past optimizations, and stream events."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any
from urllib.parse import unquote

from fastapi import APIRouter, Header, Path, Query
from starlette.responses import Response

from foveal import operations
from foveal.server.api import CurrentTenant
from foveal.server.event_stream import EventStream
from foveal.server.schemas import INTEGER_MOST
from foveal.server.workers.route import BulkRoute
from foveal.session.reports import Optimizations
from foveal.session.responses import ModelResponse, models_response

router = APIRouter(route_class=BulkRoute)
live = APIRouter()


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationResponse:
    name: str
    code: str
    about: str


@router.get("/models")
def models(tenant: CurrentTenant, pattern: Annotated[str, Query(max_length=200)] = "") -> list[ModelResponse]:
    """The models: limits, prices, tokenizer."""
    return models_response(pattern, catalogue=tenant.settings.catalogue_path)


@router.get("/operations")
def every() -> list[OperationResponse]:
    """Every operation."""
    known = operations.REGISTRY.operations
    return [OperationResponse(name=each.name, code=each.code, about=each.about) for each in known]


@router.get("/operations/{operation}")
def schema(operation: Annotated[str, Path(min_length=1)]) -> dict[str, Any]:
    """The request and response schemas of an operation."""
    return operations.schema(unquote(operation))


@router.post("/operations/{operation}")
def run(
    tenant: CurrentTenant, operation: Annotated[str, Path(min_length=1)], request: dict[str, Any]
) -> dict[str, Any]:
    """Run an operation; the events that its design documents are stored, nothing else."""
    return operations.run_in(tenant.fov, unquote(operation), request)


@router.get("/optimizations")
def optimizations(
    tenant: CurrentTenant,
    limit: Annotated[int, Query(ge=1, le=500)] = 50,
    before: Annotated[int | None, Query(ge=0, le=INTEGER_MOST)] = None,
) -> Optimizations:
    """Past optimizations by the preset `omar`, latest first, a page at a time."""
    return tenant.fov.optimizations(limit=limit, before=before)


@live.get(
    "/events",
    response_class=Response,
    responses={200: {"content": {"text/event-stream": {"schema": {"type": "string"}}}}},
)
async def events(
    tenant: CurrentTenant,
    session: Annotated[str, Query(max_length=500)] = "",
    last_event_id: Annotated[str, Header()] = "",
) -> Any:
    """Events as they happen, from now on or from the one after `Last-Event-ID`, as server-sent events."""
    given = last_event_id.strip()
    whole = given.isascii() and given.isdigit() and len(given) <= 18
    after = int(given) if whole else -1 if given else None
    return EventStream(tenant.feed.listen(None if after is None else min(after, INTEGER_MOST), session))
