"""List, create, fork and delete sessions; store, list and mark messages; start and end tasks."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from starlette.responses import StreamingResponse

from foveal import wire
from foveal.model import Format
from foveal.server import schemas as body
from foveal.server.api import CurrentTenant, Limit, SessionName
from foveal.server.workers.route import BulkRoute, LongRoute
from foveal.session.arguments import a_name, a_text
from foveal.session.inspect.builds import Page, export_messages, list_messages
from foveal.session.responses import (
    CompletedResponse,
    Mark,
    MarkResponse,
    MarksResponse,
    SessionResponse,
    complete_task,
    session_response,
)
from foveal.session.session import Session
from foveal.session.values import Removal
from foveal.store import TaskRecord

router = APIRouter(route_class=BulkRoute)
long_router = APIRouter(route_class=LongRoute)
tasks_router = APIRouter(route_class=BulkRoute)
long_tasks_router = APIRouter(route_class=LongRoute)
PAGE = 100
"""Messages of an export that are sent in one chunk."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Deleted:
    name: str
    change: Literal["deleted"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Started:
    number: int
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Added:
    id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    format: Format
    messages: int
    stored: int
    ids: tuple[str, ...]


@router.get("/sessions")
def sessions(tenant: CurrentTenant) -> list[SessionResponse]:
    """All sessions, oldest first."""
    return [session_response(record, tenant.settings.preset) for record in tenant.fov.sessions()]


@router.post("/sessions", status_code=201)
def create(tenant: CurrentTenant, new: body.NewSession) -> SessionResponse:
    """Create a session."""
    model, preset = new.model or tenant.settings.model, new.preset or tenant.settings.preset
    make = partial(tenant.fov.session, new.name, model=model, preset=preset, pool=new.pool)
    record = tenant.create(new.name, make)
    return session_response(record, tenant.settings.preset)


@router.get("/sessions/{name}")
def session(tenant: CurrentTenant, name: SessionName) -> SessionResponse:
    """One session."""
    return session_response(tenant.record(name), tenant.settings.preset)


@router.post("/sessions/{name}/fork", status_code=201)
def fork(tenant: CurrentTenant, name: SessionName, new: body.Fork) -> SessionResponse:
    """A new session that begins as this one."""
    tenant.record(name)
    record = tenant.create(new.name, partial(tenant.fov.fork, name, new.name, messages=new.messages))
    return session_response(record, tenant.settings.preset)


@router.delete("/sessions/{name}")
def delete(tenant: CurrentTenant, name: SessionName) -> Deleted:
    """Erase a session and what no other session shares."""
    tenant.delete(name)
    return Deleted(name=name, change="deleted")


@router.get("/sessions/{name}/messages")
def messages(
    tenant: CurrentTenant,
    name: SessionName,
    after: Annotated[int, Query(ge=0, le=body.INTEGER_MOST)] = 0,
    limit: Limit = 100,
) -> Page:
    """The messages without their bodies, oldest first, a page at a time."""
    return list_messages(tenant.session(name), after=after, limit=limit)


@router.post("/sessions/{name}/messages", status_code=201)
def add(tenant: CurrentTenant, name: SessionName, new: body.NewMessage) -> Added:
    """Store one message; the session is created if it does not exist."""
    wire.text_message(new.role, a_text(new.text, "text"), name=new.name)  # validate before creating a session
    id = tenant.session(name, new=True).add(
        new.role,
        new.text,
        pinned=new.pin,
        important=new.important,
        private=new.private,
        kind=new.kind,
        level=new.level,
        priority=new.priority,
        name=new.name,
    )
    return Added(id=id)


@router.post("/sessions/{name}/messages/import")
def import_(tenant: CurrentTenant, name: SessionName, new: body.Import) -> Imported:
    """Store many messages, in any provider's format: all of them, or none."""
    given = wire.load(new.messages, format=new.format)  # validate before creating a session
    found = tenant.session(name, new=True)
    store = found.sync if new.sync else found.extend
    ids = store(new.messages, format=new.format)
    form = found.format if given.guessed else given.format
    return Imported(format=form, messages=len(given.messages), stored=len(ids), ids=ids)


@router.get(
    "/sessions/{name}/export",
    response_class=StreamingResponse,
    responses={200: {"content": {"application/x-ndjson": {"schema": {"type": "string"}}}}},
)
def export(tenant: CurrentTenant, name: SessionName) -> Any:
    """The whole history as JSON lines, each message as it was added."""
    lines = _lines(tenant.session(name))
    first = next(lines, b"")  # read before the response begins, so that damage is an error with a status
    return StreamingResponse(chain([first], lines), media_type="application/x-ndjson")


def _lines(session: Session) -> Iterator[bytes]:
    messages = export_messages(session)
    while chunk := list(islice(messages, PAGE)):
        yield "".join(f"{json.dumps(message)}\n" for message in chunk).encode()


@router.post("/sessions/{name}/pin")
def pin(tenant: CurrentTenant, name: SessionName, what: body.Marked) -> MarkResponse:
    """Keep a message in every window, in full."""
    return MarkResponse(id=tenant.session(name).pin(what.id), mark="pinned")


@router.post("/sessions/{name}/unpin")
def unpin(tenant: CurrentTenant, name: SessionName, what: body.Marked) -> MarkResponse:
    """Allow a pinned message to be evicted again."""
    return MarkResponse(id=tenant.session(name).unpin(what.id), mark="unpinned")


@router.post("/sessions/{name}/forget")
def forget(tenant: CurrentTenant, name: SessionName, what: body.Forgotten) -> MarksResponse:
    """Erase a message permanently, or only leave it out of windows."""
    gone = tenant.session(name).forget(what.id, erase=not what.keep)
    mark: Mark = "left out" if what.keep else "erased"
    return MarksResponse(id=what.id, mark=mark, ids=gone)


@router.post("/sessions/{name}/restore")
def restore(
    tenant: CurrentTenant,
    name: SessionName,
    what: body.Restored = body.Restored(),  # noqa: B008 — frozen
) -> MarksResponse:
    """Allow a message that was left out into windows again; without an id, all of them."""
    return MarksResponse(id=what.id or "", mark="restored", ids=tenant.session(name).restore(what.id))


@long_router.post("/sessions/{name}/prune")
def prune(
    tenant: CurrentTenant,
    name: SessionName,
    options: body.Shrunk = body.Shrunk(),  # noqa: B008 — frozen
) -> Removal:
    """Leave out the least important turns until the rest fits."""
    return tenant.session(name).prune(options.max_tokens, dry_run=options.dry_run)


@long_router.post("/sessions/{name}/compress")
def compress(
    tenant: CurrentTenant,
    name: SessionName,
    options: body.Shrunk = body.Shrunk(),  # noqa: B008 — frozen
) -> Removal:
    """Replace old messages by summaries now instead of when needed."""
    return tenant.session(name).compress(options.max_tokens, dry_run=options.dry_run)


@long_router.post("/sessions/{name}/summarize")
def summarize(
    tenant: CurrentTenant,
    name: SessionName,
    options: body.Summarized = body.Summarized(),  # noqa: B008 — frozen
) -> Removal:
    """Show one note in place of all but the newest messages."""
    return tenant.session(name).summarize(options.keep, dry_run=options.dry_run)


@tasks_router.get("/sessions/{name}/tasks")
def tasks(tenant: CurrentTenant, name: SessionName) -> list[TaskRecord]:
    """The tasks of the session, oldest first, with their summaries."""
    return list(tenant.session(name).tasks())


@tasks_router.post("/sessions/{name}/tasks", status_code=201)
def start(tenant: CurrentTenant, name: SessionName, new: body.NewTask) -> Started:
    """Start a task; the open one ends and is summarized."""
    a_name(new.name, "name")  # validate before creating a session
    return Started(number=tenant.session(name, new=True).start_task(new.name), name=new.name)


@long_tasks_router.post("/sessions/{name}/tasks/complete")
def complete(tenant: CurrentTenant, name: SessionName) -> CompletedResponse:
    """End the open task; windows show its summary in place of its messages."""
    return complete_task(tenant.session(name))[0]
