"""The settings in → the service: routes, pages and what guards them, as one ASGI app."""

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
from foveal.server.middleware import metrics
from foveal.server.middleware.access import TENANT, Guard
from foveal.server.middleware.limits import Limits
from foveal.server.middleware.metrics import Metrics
from foveal.server.openapi import described
from foveal.server.problems import Problem
from foveal.server.routes import builds, meta, profile, sessions
from foveal.server.routing import COMPUTING
from foveal.server.tenants import Places, Setup

_PREFIX = "/api/v1"
THREADS = 16
"""Requests that are begun at once; few of them compute at once, the others wait for a model or the store."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    status: str
    version: str


def application(setup: Setup) -> ASGIApp:
    """Everything; what stands outermost sees a request first."""
    app = FastAPI(
        title="Foveal",
        version=__version__,
        description="A context window manager for LLM agents, over HTTP.",
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        lifespan=_opened(setup),
        redirect_slashes=False,
    )
    problems.install(app)
    app.include_router(sessions.router, prefix=_PREFIX, tags=["sessions and messages"])
    app.include_router(builds.router, prefix=_PREFIX, tags=["windows"])
    app.include_router(profile.router, prefix=_PREFIX, tags=["memory"])
    app.include_router(meta.router, prefix=_PREFIX, tags=["what there is"])
    app.include_router(meta.live, prefix=_PREFIX, tags=["what happens"])
    counted = Metrics(Limits(app))
    app.include_router(_own(app, counted), tags=["the server"])
    app.include_router(pages.router)
    return Guard(counted, setup.serving, setup.settings.tenant)


def _opened(setup: Setup) -> Any:
    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        anyio.to_thread.current_default_thread_limiter().total_tokens = THREADS
        app.state.turns = asyncio.Semaphore(COMPUTING)
        app.state.places = Places(setup, asyncio.get_running_loop())
        await asyncio.to_thread(app.state.places.of(setup.first).warm)
        described(app)  # routes are made when first looked at, and all others wait meanwhile
        try:
            yield
        finally:
            app.state.places.close()

    return lifespan


def _own(app: FastAPI, counted: Metrics) -> APIRouter:
    """Health, readiness, numbers, and the description of everything."""
    router = APIRouter()

    @router.get("/health")
    async def health() -> Health:
        """Whether the server is there; it asks nobody else."""
        return Health(status="ok", version=__version__)

    @router.get("/ready")
    def ready(request: Request) -> Health:
        """Whether the store answers."""
        try:
            request.app.state.places.of(request.scope[TENANT]).fov.sessions()
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
        return Response(counted.text(request.app.state.places), media_type=metrics.MEDIA_TYPE)

    @router.get("/openapi.json", include_in_schema=False)
    def openapi() -> Any:
        return described(app)

    return router
