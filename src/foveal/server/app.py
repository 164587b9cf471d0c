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
from foveal.server.connections import connections_most
from foveal.server.middleware import metrics
from foveal.server.middleware.access import TENANT, Guard
from foveal.server.middleware.limits import Limits, Requests
from foveal.server.middleware.metrics import Metrics
from foveal.server.openapi import openapi_document
from foveal.server.problems import Problem
from foveal.server.routes import builds, meta, pools, profile, search, sessions
from foveal.server.tenants import Setup, Tenants
from foveal.server.workers.pool import Pool
from foveal.store.open import is_in_memory

_PREFIX = "/api/v1"
THREADS = 16
"""Requests that may be in a thread at once; few of them compute, the others wait for a model or the store."""
_ROUTERS = (
    (sessions.router, "sessions and messages"),
    (search.originals, "sessions and messages"),
    (sessions.long_router, "sessions and messages"),
    (builds.router, "windows"),
    (builds.long_router, "windows"),
    (search.router, "memory"),
    (sessions.tasks_router, "memory"),
    (sessions.long_tasks_router, "memory"),
    (builds.context_router, "memory"),
    (profile.router, "memory"),
    (pools.router, "pools"),
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
    app = bare_app(setup)
    counted = Metrics(Limits(app, requests=_requests(setup)))
    app.include_router(_server_routes(app, setup, counted), tags=["the server"])
    app.include_router(pages.router)
    return Guard(counted, setup.serving, setup.settings.tenant)


def bare_app(setup: Setup, *, worker: bool = False) -> FastAPI:
    """The routes of the API without any middleware, as a `worker` process runs them too."""
    app = FastAPI(
        title="Foveal",
        version=__version__,
        description="A context window manager for LLM agents, over HTTP.",
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        lifespan=_lifespan(setup, worker=worker),
        redirect_slashes=False,
    )
    problems.install(app)
    for router, tag in _ROUTERS:
        app.include_router(router, prefix=_PREFIX, tags=[tag])
    return app


def _requests(setup: Setup) -> Requests:
    """Three of four connections; with several tenants a share for each, so that none takes all."""
    most = connections_most() * 3 // 4
    tenants = len(set(setup.serving.tokens.values()))
    return Requests(most, most // min(4, max(1, tenants)))


def _lifespan(setup: Setup, *, worker: bool) -> Any:
    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        anyio.to_thread.current_default_thread_limiter().total_tokens = THREADS
        app.state.turns = asyncio.Semaphore(CONCURRENT)
        app.state.tenants = Tenants(setup, asyncio.get_running_loop(), worker=worker)
        # A store in memory cannot be opened by another process.
        app.state.pool = None if worker or is_in_memory(setup.settings.store) else Pool(setup)
        if not worker:
            await asyncio.to_thread(app.state.tenants.get(setup.first_tenant).warm)
            openapi_document(app)  # builds the routes now: on first use it would block every other request
        try:
            yield
        finally:
            if app.state.pool:
                await app.state.pool.close()
            app.state.tenants.close()

    return lifespan


def _server_routes(app: FastAPI, setup: Setup, counted: Metrics) -> APIRouter:
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
        """For Prometheus: the numbers of the tenant; of all without tokens, or with that of the metrics."""
        tenant = request.scope[TENANT] if setup.serving.tokens else None
        text = counted.text(request.app.state.tenants, tenant or None)
        return Response(text, media_type=metrics.MEDIA_TYPE)

    @router.get("/openapi.json", include_in_schema=False)
    def openapi() -> Any:
        return openapi_document(app)

    return router
