"""Assemble the service as one ASGI app: routes, pages and middleware."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import anyio.to_thread
from fastapi import APIRouter, FastAPI, Request
from starlette.responses import Response
from starlette.types import ASGIApp

from foveal import __version__
from foveal.errors import FovealError
from foveal.server import pages, problems
from foveal.server.api import CONCURRENT
from foveal.server.middleware import metrics
from foveal.server.middleware.access import TENANT, Guard
from foveal.server.middleware.limits import Limits
from foveal.server.middleware.metrics import Metrics
from foveal.server.openapi import openapi_document
from foveal.server.problems import Problem
from foveal.server.routes import builds, meta, profile, search, sessions
from foveal.server.tenants import Setup, Tenants

_PREFIX = "/api/v1"
THREADS = 16
"""Requests that may be in a thread at once; few of them compute, the others wait for a model or the store."""
_ROUTERS = (
    (sessions.router, "sessions and messages"),
    (search.originals, "sessions and messages"),
    (builds.router, "windows"),
    (search.router, "memory"),
    (sessions.tasks_router, "memory"),
    (builds.context_router, "memory"),
    (profile.router, "memory"),
    (meta.router, "catalogue"),
    (meta.live, "events"),
)
"""In the order in which the OpenAPI document lists them, each with its tag."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    status: str
    version: str


def create_app(setup: Setup) -> ASGIApp:
    """The whole app; the outermost middleware sees a request first."""
    app = FastAPI(
        title="Foveal",
        version=__version__,
        description="A context window manager for LLM agents, over HTTP.",
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        lifespan=_lifespan(setup),
        redirect_slashes=False,
    )
    problems.install(app)
    for router, tag in _ROUTERS:
        app.include_router(router, prefix=_PREFIX, tags=[tag])
    counted = Metrics(Limits(app))
    app.include_router(_server_routes(app, counted), tags=["the server"])
    app.include_router(pages.router)
    return Guard(counted, setup.serving, setup.settings.tenant)


def _lifespan(setup: Setup) -> Any:
    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        anyio.to_thread.current_default_thread_limiter().total_tokens = THREADS
        app.state.turns = asyncio.Semaphore(CONCURRENT)
        app.state.tenants = Tenants(setup, asyncio.get_running_loop())
        await asyncio.to_thread(app.state.tenants.get(setup.first_tenant).warm)
        openapi_document(app)  # builds the routes now: on first use it would block every other request
        try:
            yield
        finally:
            app.state.tenants.close()

    return lifespan


def _server_routes(app: FastAPI, counted: Metrics) -> APIRouter:
    """Health, readiness, metrics and the OpenAPI document."""
    router = APIRouter()

    @router.get("/health")
    async def health() -> Health:
        """Whether the server runs; the store is not asked."""
        return Health(status="ok", version=__version__)

    @router.get("/ready")
    def ready(request: Request) -> Health:
        """Whether the store can be read."""
        try:
            request.app.state.tenants.get(request.scope[TENANT]).fov.sessions()
        except FovealError as error:
            raise Problem("store", error.what, error.remedy) from error
        return Health(status="ready", version=__version__)

    @router.get(
        "/metrics",
        response_class=Response,
        responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}},
    )
    async def numbers(request: Request) -> Any:
        """For Prometheus."""
        return Response(counted.text(request.app.state.tenants), media_type=metrics.MEDIA_TYPE)

    @router.get("/openapi.json", include_in_schema=False)
    def openapi() -> Any:
        return openapi_document(app)

    return router
