"""Build, fit and count windows; draw, explain and compare past ones; assemble context from a workspace."""

from __future__ import annotations

from typing import Annotated, Any
from urllib.parse import unquote

from fastapi import APIRouter, Path, Query

import foveal
from foveal import wire
from foveal.model import Format
from foveal.pipeline.material.categories import PenguinNumbers
from foveal.presets.numbers import overridden
from foveal.server import schemas as body
from foveal.server.api import CurrentTenant, Number, SessionName
from foveal.server.middleware.telemetry import traced
from foveal.server.problems import Problem
from foveal.server.tenants import Tenant
from foveal.server.workers.route import BulkRoute, CurrentProgress, LongRoute
from foveal.session.budget import budget_for
from foveal.session.inspect.builds import (
    Builds,
    Chunks,
    Drawn,
    NoteTexts,
    list_builds,
    list_chunks,
    list_notes,
    load_build,
)
from foveal.session.inspect.compare import Comparison
from foveal.session.inspect.diff import Diff
from foveal.session.inspect.replay import Replayed
from foveal.session.inspect.why import Why
from foveal.session.responses import (
    ContextResponse,
    CountResponse,
    FittedBody,
    FittedList,
    StatsResponse,
    WindowResponse,
    context_response,
    count_response,
    fit_response,
    stats_response,
    window_response,
)
from foveal.session.target import target_for
from foveal.sources.assemble import SmartContext
from foveal.window import Decision, Manifest, Window

router = APIRouter(route_class=BulkRoute)
long_router = APIRouter(route_class=LongRoute)
context_router = APIRouter(route_class=BulkRoute)
Which = Annotated[str, Path(pattern=r"^(newest|[1-9][0-9]{0,14})$", description="A build, or `newest`.")]


@router.post("/sessions/{name}/build")
def build(
    tenant: CurrentTenant,
    name: SessionName,
    options: body.Build = body.Build(),  # noqa: B008 — frozen
) -> WindowResponse | dict[str, Any]:
    """Build the best window of the session that fits, and store it with its reasons."""
    if options.active and options.workspace is None:
        raise Problem("input", "`active` needs a workspace", "name it in `workspace`", field="active")
    if options.contributors and options.workspace is None:
        raise Problem(
            "input", "`contributors` need a workspace", "name it in `workspace`", field="contributors"
        )
    workspace = None if options.workspace is None else tenant.workspace(options.workspace)
    with traced("build_window", session=name, model=options.model) as recorded:
        window = recorded(
            tenant.session(name).build(
                budget=_size(tenant, options.budget),
                model=options.model,
                preset=options.preset,
                task=options.task,
                system=options.system,
                tools=options.tools,
                format=as_format(options.format),
                workspace=workspace,
                active_files=options.active,
                contributors=options.contributors,
            )
        )
    return window_or_body(window, options.format)


def as_format(written: body.Written) -> Format | None:
    return None if written == "json" else written


def window_or_body(window: Window, written: body.Written) -> WindowResponse | dict[str, Any]:
    return window_response(window) if written == "json" else window.request


def _size(tenant: Tenant, budget: int | None) -> int | None:
    return tenant.settings.budget if budget is None else budget


@router.post("/fit")
def fit(tenant: CurrentTenant, options: body.Fit) -> FittedList | FittedBody:
    """Fit messages into a budget, storing nothing."""
    settings = tenant.settings
    with traced("fit_window", model=options.model) as recorded:
        window = recorded(
            foveal.fit(
                options.messages,
                budget=_size(tenant, options.budget),
                model=options.model or settings.model,
                preset=options.preset or settings.preset,
                numbers=tenant.setup.numbers,
                task=options.task,
                system=options.system,
                tools=options.tools,
                format=options.format,
                counter=settings.counter or None,
                catalogue=tenant.settings.catalogue_path,
            )
        )
    bare = isinstance(options.messages, list) and window.system is None and options.tools is None
    return fit_response(window, bare=bare)


@router.post("/count")
def count(tenant: CurrentTenant, options: body.Count) -> CountResponse:
    """Count the tokens of a text or of messages."""
    if (options.text is None) == (options.messages is None):
        raise Problem("input", "give either `text` or `messages`", "omit one of them", field="text")
    model = options.model or tenant.settings.model
    messages = options.messages or []
    content = wire.load(messages, model=model) if options.text is None else options.text
    counter = tenant.settings.counter or None
    return count_response(content, model=model, counter=counter, catalogue=tenant.settings.catalogue_path)


@router.get("/sessions/{name}/stats")
def stats(tenant: CurrentTenant, name: SessionName) -> StatsResponse:
    """The session in numbers."""
    return stats_response(tenant.session(name).stats())


@router.get("/sessions/{name}/builds")
def builds(
    tenant: CurrentTenant,
    name: SessionName,
    limit: Annotated[int, Query(ge=1, le=500)] = 50,
    before: Number | None = None,
) -> Builds:
    """Past builds in numbers, newest first."""
    return list_builds(tenant.session(name), limit=limit, before=before)


@router.get("/sessions/{name}/builds/{number}")
def drawn(tenant: CurrentTenant, name: SessionName, number: Which) -> Drawn:
    """One build with all its decisions, for drawing."""
    return load_build(tenant.session(name), _number(number))


@router.get("/sessions/{name}/builds/{number}/chunks")
def chunks(
    tenant: CurrentTenant,
    name: SessionName,
    number: Which,
    first: Annotated[int, Query(ge=0, le=body.INTEGER_MOST)] = 0,
    last: Annotated[int | None, Query(ge=0, le=body.INTEGER_MOST)] = None,
) -> Chunks:
    """A range of messages, each with the build's decision about it."""
    end = first + 99 if last is None else last
    if end < first:
        raise Problem("input", "`last` is before `first`", "make `last` at least `first`", field="last")
    return list_chunks(tenant.session(name), _number(number), first=first, last=end)


@router.get("/sessions/{name}/builds/{number}/notes")
def notes(tenant: CurrentTenant, name: SessionName, number: Which) -> NoteTexts:
    """The log and the retrieved passages of a build, as the model read them."""
    return list_notes(tenant.session(name), _number(number))


def _number(which: str) -> int | None:
    return None if which == "newest" else int(which)


@router.get("/sessions/{name}/manifest")
def manifest(tenant: CurrentTenant, name: SessionName, build: Number | None = None) -> Manifest:
    """What is in a build's window, what is not, and why."""
    return tenant.session(name).manifest(build)


@long_router.get("/sessions/{name}/explain")
def explain(
    tenant: CurrentTenant,
    name: SessionName,
    progress: CurrentProgress,
    build: Number | None = None,
    message: Annotated[str, Query(max_length=500)] = "",
) -> Manifest | Decision:
    """The manifest of a build, or the decision about one message."""
    session = tenant.session(name)
    return (
        session.why(message, build=build, progress=progress).decision if message else session.manifest(build)
    )


@long_router.get("/sessions/{name}/why/{id}")
def why(
    tenant: CurrentTenant,
    name: SessionName,
    progress: CurrentProgress,
    id: Annotated[str, Path(min_length=1)],
    build: Number | None = None,
) -> Why:
    """Why a message was in a build's window or not, and what would change that."""
    return tenant.session(name).why(unquote(id), build=build, progress=progress)


@router.get("/sessions/{name}/diff")
def diff(tenant: CurrentTenant, name: SessionName, a: Number, b: Number) -> Diff:
    """What was added to the window from one build to another, what was evicted, and why."""
    return tenant.session(name).diff(a, b)


@long_router.post("/sessions/{name}/compare")
def compare(
    tenant: CurrentTenant,
    name: SessionName,
    progress: CurrentProgress,
    options: body.Compare = body.Compare(),  # noqa: B008 — frozen
) -> Comparison:
    """The windows that the presets build from the session, side by side."""
    return tenant.session(name).compare(
        budget=_size(tenant, options.budget),
        model=options.model,
        task=options.task,
        presets=options.presets,
        progress=progress,
    )


@long_router.post("/compare")
def compare_messages(tenant: CurrentTenant, options: body.CompareMessages) -> Comparison:
    """The windows that the presets build from messages, side by side; nothing is stored."""
    settings = tenant.settings
    return foveal.compare(
        options.messages,
        budget=_size(tenant, options.budget),
        model=options.model or settings.model,
        task=options.task,
        presets=options.presets,
        format=options.format,
        counter=settings.counter or None,
        catalogue=tenant.settings.catalogue_path,
        numbers=tenant.setup.numbers,
    )


@long_router.post("/sessions/{name}/replay")
def replay(
    tenant: CurrentTenant, name: SessionName, progress: CurrentProgress, options: body.Replay
) -> Replayed:
    """Replay a stored session under another preset, call by call; no model is called."""
    budget = _size(tenant, options.budget)
    return tenant.fov.replay(
        tenant.session(name), preset=options.preset, budget=budget, model=options.model, progress=progress
    )


@context_router.post("/sessions/{name}/context")
def session_context(tenant: CurrentTenant, name: SessionName, options: body.Context) -> ContextResponse:
    """What a workspace contributes to a task, by default to the newest user message."""
    found = tenant.session(name).context(
        workspace=tenant.workspace(options.workspace),
        task=options.task,
        budget=_size(tenant, options.budget),
        active_files=options.active,
        contributors=options.contributors,
        model=options.model,
    )
    return context_response(found)


@context_router.post("/context")
def context(tenant: CurrentTenant, options: body.Context) -> ContextResponse:
    """What a workspace contributes to a task, without a conversation."""
    if not options.task.strip():
        raise Problem("input", "`task` is empty", "say what the window is for", field="task")
    return context_response(_assembled(tenant, options))


def _assembled(tenant: Tenant, options: body.Context) -> SmartContext:
    settings, budget = tenant.settings, _size(tenant, options.budget)
    target = target_for(
        options.model or settings.model,
        "plain",
        counter=settings.counter or None,
        catalogue=settings.catalogue_path,
    )
    numbers = overridden(PenguinNumbers(), tenant.setup.numbers.get("penguin", {}), "preset penguin")
    return foveal.assemble_smart_context(
        tenant.workspace(options.workspace),
        task=options.task,
        budget=budget_for(target.card, budget),
        active_files=options.active,
        contributors=options.contributors,
        count=target.meter.text,
        numbers=numbers,
    )
