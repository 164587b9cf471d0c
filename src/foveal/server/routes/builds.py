"""Windows: built, fitted, counted; past ones drawn, explained and held against each other."""

from __future__ import annotations

from typing import Annotated, Any
from urllib.parse import unquote

from fastapi import APIRouter, Path, Query

import foveal
from foveal import wire
from foveal.model import Format
from foveal.server import schemas as body
from foveal.server.middleware.tracing import traced
from foveal.server.problems import Problem
from foveal.server.routing import At, Named, Number, Told
from foveal.server.tenants import Place
from foveal.session import Comparison
from foveal.session.inspect.builds import Builds, Chunks, Drawn, list_builds, list_chunks, load_build
from foveal.session.inspect.diff import Diff
from foveal.session.inspect.replay import Replayed
from foveal.session.inspect.why import Why
from foveal.session.responses import (
    CountTold,
    FittedBody,
    FittedList,
    StatsTold,
    WindowTold,
    count_told,
    fit_told,
    stats_told,
    window_told,
)
from foveal.window import Decision, Manifest, Window

router = APIRouter(route_class=Told)
Which = Annotated[str, Path(pattern=r"^(newest|[1-9][0-9]{0,14})$", description="A build, or `newest`.")]


@router.post("/sessions/{name}/build")
def build(at: At, name: Named, wish: body.Build = body.Build()) -> WindowTold | dict[str, Any]:  # noqa: B008 — frozen
    """Build the best window of the session that fits, and file it with its reasons."""
    if wish.active and wish.workspace is None:
        raise Problem("input", "`active` needs a workspace", "name it in `workspace`", field="active")
    workspace = None if wish.workspace is None else at.workspace(wish.workspace)
    with traced("build_window", session=name, model=wish.model) as told:
        window = told(
            at.session(name).build(
                budget=_size(at, wish.budget),
                model=wish.model,
                preset=wish.preset,
                task=wish.task,
                system=wish.system,
                tools=wish.tools,
                format=as_format(wish.format),
                workspace=workspace,
                active_files=wish.active,
            )
        )
    return shown(window, wish.format)


def as_format(written: body.Written) -> Format | None:
    return None if written == "json" else written


def shown(window: Window, written: body.Written) -> WindowTold | dict[str, Any]:
    return window_told(window) if written == "json" else window.request


def _size(at: Place, budget: int | None) -> int | None:
    return at.settings.budget if budget is None else budget


@router.post("/fit")
def fit(at: At, wish: body.Fit) -> FittedList | FittedBody:
    """Fit messages into a budget, storing nothing."""
    settings = at.settings
    with traced("fit_window", model=wish.model) as told:
        window = told(
            foveal.fit(
                body.few(wish.messages),
                budget=_size(at, wish.budget),
                model=wish.model or settings.model,
                preset=wish.preset or settings.preset,
                numbers=at.setup.numbers,
                task=wish.task,
                system=wish.system,
                tools=wish.tools,
                format=wish.format,
                counter=settings.counter or None,
                catalogue=at.setup.catalogue,
            )
        )
    bare = isinstance(wish.messages, list) and window.system is None and wish.tools is None
    return fit_told(window, bare=bare)


@router.post("/count")
def count(at: At, wish: body.Count) -> CountTold:
    """Count the tokens of a text or of messages."""
    if (wish.text is None) == (wish.messages is None):
        raise Problem("input", "give either `text` or `messages`", "leave one of them out", field="text")
    model = wish.model or at.settings.model
    messages = wish.messages or []
    content = wire.load(body.few(messages), model=model) if wish.text is None else wish.text
    counter = at.settings.counter or None
    return count_told(content, model=model, counter=counter, catalogue=at.setup.catalogue)


@router.get("/sessions/{name}/stats")
def stats(at: At, name: Named) -> StatsTold:
    """The session in numbers."""
    return stats_told(at.session(name).stats())


@router.get("/sessions/{name}/builds")
def builds(
    at: At, name: Named, limit: Annotated[int, Query(ge=1, le=500)] = 50, before: Number | None = None
) -> Builds:
    """Past builds in numbers, newest first."""
    return list_builds(at.session(name), limit=limit, before=before)


@router.get("/sessions/{name}/builds/{number}")
def drawn(at: At, name: Named, number: Which) -> Drawn:
    """One build with all its decisions, to be drawn."""
    return load_build(at.session(name), _number(number))


@router.get("/sessions/{name}/builds/{number}/chunks")
def chunks(
    at: At,
    name: Named,
    number: Which,
    first: Annotated[int, Query(ge=0, le=body.INTEGER_MOST)] = 0,
    last: Annotated[int | None, Query(ge=0, le=body.INTEGER_MOST)] = None,
) -> Chunks:
    """The messages of a stretch with what the build decided about each."""
    end = first + 99 if last is None else last
    if end < first:
        raise Problem("input", "`last` is before `first`", "make `last` at least `first`", field="last")
    return list_chunks(at.session(name), _number(number), first=first, last=end)


def _number(which: str) -> int | None:
    return None if which == "newest" else int(which)


@router.get("/sessions/{name}/manifest")
def manifest(at: At, name: Named, build: Number | None = None) -> Manifest:
    """What is in a build's window and what is not, and why."""
    return at.session(name).manifest(build)


@router.get("/sessions/{name}/explain")
def explain(
    at: At, name: Named, build: Number | None = None, message: Annotated[str, Query(max_length=500)] = ""
) -> Manifest | Decision:
    """The manifest of a build, or the decision about one message."""
    session = at.session(name)
    return session.why(message, build=build).decision if message else session.manifest(build)


@router.get("/sessions/{name}/why/{id}")
def why(at: At, name: Named, id: Annotated[str, Path(min_length=1)], build: Number | None = None) -> Why:
    """Why a message was in a build's window or not, and what would have changed that."""
    return at.session(name).why(unquote(id), build=build)


@router.get("/sessions/{name}/diff")
def diff(at: At, name: Named, a: Number, b: Number) -> Diff:
    """What entered the window from one build to another, what left it, and why."""
    return at.session(name).diff(a, b)


@router.post("/sessions/{name}/compare")
def compare(at: At, name: Named, wish: body.Compare = body.Compare()) -> Comparison:  # noqa: B008 — frozen
    """The windows that presets make of the session, side by side."""
    return at.session(name).compare(
        budget=_size(at, wish.budget), model=wish.model, task=wish.task, presets=wish.presets
    )


@router.post("/compare")
def compare_messages(at: At, wish: body.CompareMessages) -> Comparison:
    """The windows that presets make of messages, side by side; nothing is stored."""
    settings = at.settings
    return foveal.compare(
        body.few(wish.messages),
        budget=_size(at, wish.budget),
        model=wish.model or settings.model,
        task=wish.task,
        presets=wish.presets,
        format=wish.format,
        counter=settings.counter or None,
        catalogue=at.setup.catalogue,
        numbers=at.setup.numbers,
    )


@router.post("/sessions/{name}/replay")
def replay(at: At, name: Named, wish: body.Replay) -> Replayed:
    """A stored session under another preset, call by call, with no model asked."""
    session = at.session(name)
    return at.fov.replay(session, preset=wish.preset, budget=_size(at, wish.budget), model=wish.model)
