"""Search the stored messages, show the best for one question, and recall an original."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any
from urllib.parse import unquote

from fastapi import APIRouter, Path, Query

from foveal.server import schemas as body
from foveal.server.api import ApiRoute, CurrentTenant, SessionName
from foveal.server.middleware.telemetry import traced
from foveal.server.routes.builds import as_format, window_or_body
from foveal.server.workers.route import SearchRoute
from foveal.session.responses import WindowResponse
from foveal.session.values import Hit

router = APIRouter(route_class=SearchRoute)
originals = APIRouter(route_class=ApiRoute)
Query_ = Annotated[str, Query(min_length=1, max_length=10_000, description="Words, or a question.")]
Hits = Annotated[int, Query(ge=1, le=1_000)]


@originals.get("/sessions/{name}/recall/{handle}")
def recall(
    tenant: CurrentTenant,
    name: SessionName,
    handle: Annotated[str, Path(min_length=1)],
    everywhere: bool = False,  # noqa: FBT001, FBT002 — a query parameter
) -> Any:
    """The original of a message of the session by its handle or id, exactly as it was added.

    With `everywhere`, a handle may also be that of a message in another session of the tenant.
    """
    return tenant.session(name).recall(unquote(handle), everywhere=everywhere)


@router.get("/sessions/{name}/search")
def search(
    tenant: CurrentTenant,
    name: SessionName,
    query: Query_,
    limit: Hits = 10,
    everywhere: bool = False,  # noqa: FBT001, FBT002 — a query parameter
) -> list[Hit]:
    """Find stored messages by keywords and by meaning, best first.

    With `everywhere`, in all sessions of the tenant.
    """
    return list(tenant.session(name).search(query, limit=limit, everywhere=everywhere))


@router.get("/search")
def search_all(tenant: CurrentTenant, query: Query_, limit: Hits = 10) -> list[Hit]:
    """Find stored messages in all sessions."""
    names = [record.name for record in tenant.fov.sessions()]
    return list(tenant.session(names[0]).search(query, limit=limit, everywhere=True)) if names else []


@router.post("/sessions/{name}/focus")
def focus(tenant: CurrentTenant, name: SessionName, options: body.Focus) -> WindowResponse | dict[str, Any]:
    """The messages that best answer one question and fit into the budget, complete and in order.

    This looks back and is not the next request: no message is guaranteed a place, and no build is stored.
    """
    focus = partial(tenant.session(name).focus, format=as_format(options.format))
    with traced("focus_window", session=name, model=options.model) as recorded:
        window = recorded(focus(options.question, budget=options.budget, model=options.model))
    return window_or_body(window, options.format)
