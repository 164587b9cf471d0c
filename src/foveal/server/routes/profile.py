"""The memory: search and focus, tasks, what a workspace contributes, what is known of the user."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal
from urllib.parse import unquote

from fastapi import APIRouter, Path, Query

import foveal
from foveal.knowledge.values import Memory, MemoryKind, Origin, Prediction, PredictionLedger, Profile
from foveal.pipeline.material.categories import PenguinNumbers
from foveal.presets.numbers import overridden
from foveal.server import schemas as body
from foveal.server.middleware.tracing import traced
from foveal.server.problems import Problem
from foveal.server.routes.builds import as_format, shown
from foveal.server.routing import At, Named, Told
from foveal.server.tenants import Place
from foveal.session import Hit
from foveal.session.arguments import a_name
from foveal.session.responses import CompletedTold, ContextTold, WindowTold, completed, context_told
from foveal.session.target import target_for
from foveal.sources.assemble import SmartContext
from foveal.store import TaskRecord

router = APIRouter(route_class=Told)
Query_ = Annotated[str, Query(min_length=1, max_length=10_000, description="Words, or a question.")]
Hits = Annotated[int, Query(ge=1, le=1_000)]
Id = Annotated[str, Path(min_length=1, max_length=500, description="As `GET /profile` shows it.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Started:
    number: int
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Changed:
    id: str
    change: Literal["deleted", "renamed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryChanged:
    """A memory, and what was done to it."""

    id: str
    kind: MemoryKind
    text: str
    origin: Origin
    confirmed: bool
    session: str
    created_at: float
    updated_at: float
    change: Literal["edited", "confirmed"]


@router.get("/sessions/{name}/search")
def search(at: At, name: Named, query: Query_, limit: Hits = 10, everywhere: bool = False) -> list[Hit]:  # noqa: FBT001, FBT002 — a parameter of the address
    """Stored messages by their words and by what they mean, best first."""
    return list(at.session(name).search(query, limit=limit, everywhere=everywhere))


@router.get("/search")
def search_all(at: At, query: Query_, limit: Hits = 10) -> list[Hit]:
    """The same in all sessions."""
    names = [record.name for record in at.fov.sessions()]
    return list(at.session(names[0]).search(query, limit=limit, everywhere=True)) if names else []


@router.post("/sessions/{name}/focus")
def focus(at: At, name: Named, wish: body.Focus) -> WindowTold | dict[str, Any]:
    """The best messages for one question, whole and in order, that fit."""
    form, ask = as_format(wish.format), at.session(name).focus
    with traced("focus_window", session=name, model=wish.model) as told:
        window = told(ask(wish.question, budget=wish.budget, model=wish.model, format=form))
    return shown(window, wish.format)


@router.get("/sessions/{name}/tasks")
def tasks(at: At, name: Named) -> list[TaskRecord]:
    """The tasks of the session, oldest first, with their summaries."""
    return list(at.session(name).tasks())


@router.post("/sessions/{name}/tasks", status_code=201)
def start(at: At, name: Named, new: body.NewTask) -> Started:
    """Begin a task; the one before ends and is summarized."""
    a_name(new.name, "name")  # refused before a session is made for it
    return Started(number=at.session(name, new=True).start_task(new.name), name=new.name)


@router.post("/sessions/{name}/tasks/complete")
def complete(at: At, name: Named) -> CompletedTold:
    """End the task; windows show its summary in place of its messages."""
    return completed(at.session(name))[0]


@router.post("/sessions/{name}/context")
def session_context(at: At, name: Named, wish: body.Context) -> ContextTold:
    """What a workspace has to say to a task, or to what the user said last."""
    found = at.session(name).context(
        workspace=at.workspace(wish.workspace),
        task=wish.task,
        budget=at.settings.budget if wish.budget is None else wish.budget,
        active_files=wish.active,
        model=wish.model,
    )
    return context_told(found)


@router.post("/context")
def context(at: At, wish: body.Context) -> ContextTold:
    """What a workspace has to say to a task, where there is no conversation."""
    if not wish.task.strip():
        raise Problem("input", "`task` is empty", "say what the window is for", field="task")
    return context_told(_assembled(at, wish))


def _assembled(at: Place, wish: body.Context) -> SmartContext:
    settings, catalogue = at.settings, at.setup.catalogue
    model = wish.model or settings.model
    target = target_for(model, "plain", counter=settings.counter or None, catalogue=catalogue)
    budget = settings.budget if wish.budget is None else wish.budget
    numbers = overridden(PenguinNumbers(), at.setup.numbers.get("penguin", {}), "preset penguin")
    return foveal.assemble_smart_context(
        at.workspace(wish.workspace),
        task=wish.task,
        budget=target.budget(None) if budget is None else budget,
        active_files=wish.active,
        count=target.meter.text,
        numbers=numbers,
    )


@router.get("/profile")
def profile(at: At) -> Profile:
    """All that is known of the user: memories, topics, entities."""
    return at.fov.profile()


@router.post("/profile", status_code=201)
def remember(at: At, new: body.Remembered) -> Memory:
    """Keep a sentence about the user."""
    return at.fov.remember(new.text, kind=new.kind)


@router.put("/profile/{id}")
def edit(at: At, id: Id, new: body.Edited) -> MemoryChanged:
    """Put other words in place of a memory's."""
    return _changed(at.fov.edit_memory(unquote(id), new.text), "edited")


@router.post("/profile/{id}/confirm")
def confirm(at: At, id: Id) -> MemoryChanged:
    """Say that what a model noted is so."""
    return _changed(at.fov.confirm(unquote(id)), "confirmed")


@router.post("/profile/{id}/rename")
def rename(at: At, id: Id, new: body.Renamed) -> Changed:
    """Name a topic or an entity."""
    at.fov.rename_thing(unquote(id), new.name)
    return Changed(id=unquote(id), change="renamed")


@router.delete("/profile/{id}")
def delete(at: At, id: Id) -> Changed:
    """Delete a memory, a topic or an entity for good."""
    name = unquote(id)
    (at.fov.forget_thing if name.startswith("thing-") else at.fov.forget_memory)(name)
    return Changed(id=name, change="deleted")


def _changed(memory: Memory, change: Literal["edited", "confirmed"]) -> MemoryChanged:
    return MemoryChanged(
        id=memory.id,
        kind=memory.kind,
        text=memory.text,
        origin=memory.origin,
        confirmed=memory.confirmed,
        session=memory.session,
        created_at=memory.created_at,
        updated_at=memory.updated_at,
        change=change,
    )


@router.post("/presence")
def presence(at: At, where: body.Present) -> list[Prediction]:
    """Where the user is → what they will probably do next."""
    said = where.model_dump(exclude={"session", "warm"})
    return list(at.fov.presence(said, session=where.session, warm=where.warm))


@router.get("/predictions")
def predictions(at: At, session: Annotated[str, Query(max_length=500)] = "") -> PredictionLedger:
    """Which predictions were made, used and wasted."""
    return at.fov.predictions(session)
