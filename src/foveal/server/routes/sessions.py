"""Sessions: listed, made, forked, deleted; their messages stored, paged through, marked, and taken out."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Annotated, Any, Literal
from urllib.parse import unquote

from fastapi import APIRouter, Path, Query
from starlette.responses import StreamingResponse

from foveal import wire
from foveal.model import Format
from foveal.server import schemas as body
from foveal.server.routing import At, Limit, Named, Told
from foveal.session import Session
from foveal.session.arguments import a_text
from foveal.session.inspect.builds import Page, export_messages, list_messages
from foveal.session.responses import Mark, MarksTold, MarkTold, SessionTold, session_told
from foveal.session.values import Removal

router = APIRouter(route_class=Told)
PAGE = 100
"""Messages of an export that are sent in one piece."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Deleted:
    name: str
    change: Literal["deleted"]


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
def sessions(at: At) -> list[SessionTold]:
    """All sessions, oldest first."""
    return [session_told(record, at.settings.preset) for record in at.fov.sessions()]


@router.post("/sessions", status_code=201)
def create(at: At, new: body.NewSession) -> SessionTold:
    """Make a session."""
    model, preset = new.model or at.settings.model, new.preset or at.settings.preset
    made = at.create(new.name, partial(at.fov.session, new.name, model=model, preset=preset))
    return session_told(made, at.settings.preset)


@router.get("/sessions/{name}")
def session(at: At, name: Named) -> SessionTold:
    """One session."""
    return session_told(at.record(name), at.settings.preset)


@router.post("/sessions/{name}/fork", status_code=201)
def fork(at: At, name: Named, new: body.Fork) -> SessionTold:
    """A new session that begins as this one."""
    at.record(name)
    made = at.create(new.name, partial(at.fov.fork, name, new.name, messages=new.messages))
    return session_told(made, at.settings.preset)


@router.delete("/sessions/{name}")
def delete(at: At, name: Named) -> Deleted:
    """Erase a session and what no other session shares."""
    at.delete(name)
    return Deleted(name=name, change="deleted")


@router.get("/sessions/{name}/messages")
def messages(
    at: At, name: Named, after: Annotated[int, Query(ge=0, le=body.INTEGER_MOST)] = 0, limit: Limit = 100
) -> Page:
    """The messages without their bodies, oldest first, a page at a time."""
    return list_messages(at.session(name), after=after, limit=limit)


@router.post("/sessions/{name}/messages", status_code=201)
def add(at: At, name: Named, new: body.NewMessage) -> Added:
    """Store one message; the session is made if it is not there."""
    wire.text_message(
        new.role, a_text(new.text, "text"), name=new.name
    )  # refused before a session is made for it
    found = at.session(name, new=True).add(
        new.role,
        new.text,
        pinned=new.pin,
        important=new.important,
        kind=new.kind,
        level=new.level,
        name=new.name,
    )
    return Added(id=found)


@router.post("/sessions/{name}/messages/import")
def import_(at: At, name: Named, new: body.Import) -> Imported:
    """Store many messages, in any provider's format: all of them, or none."""
    given = wire.load(body.few(new.messages), format=new.format)  # refused before a session is made for it
    found = at.session(name, new=True)
    store = found.sync if new.sync else found.extend
    ids = store(new.messages, format=new.format)
    form = found.format if given.guessed else given.format
    return Imported(format=form, messages=len(given.messages), stored=len(ids), ids=ids)


@router.get(
    "/sessions/{name}/export",
    response_class=StreamingResponse,
    responses={200: {"content": {"application/x-ndjson": {"schema": {"type": "string"}}}}},
)
def export(at: At, name: Named) -> Any:
    """The whole history as JSON lines, each message as it came in."""
    return StreamingResponse(_lines(at.session(name)), media_type="application/x-ndjson")


def _lines(session: Session) -> Iterator[bytes]:
    messages = export_messages(session)
    while some := list(islice(messages, PAGE)):
        yield "".join(f"{json.dumps(json.loads(body))}\n" for body in some).encode()


@router.get("/sessions/{name}/recall/{handle}")
def recall(at: At, name: Named, handle: Annotated[str, Path(min_length=1)]) -> Any:
    """The original of a message by its handle or id, exactly as it came in."""
    return at.session(name).recall(unquote(handle))


@router.post("/sessions/{name}/pin")
def pin(at: At, name: Named, what: body.Marked) -> MarkTold:
    """Keep a message in every window, at full."""
    at.session(name).pin(what.id)
    return MarkTold(id=what.id, mark="pinned")


@router.post("/sessions/{name}/unpin")
def unpin(at: At, name: Named, what: body.Marked) -> MarkTold:
    """Let a pinned message leave windows again."""
    at.session(name).unpin(what.id)
    return MarkTold(id=what.id, mark="unpinned")


@router.post("/sessions/{name}/forget")
def forget(at: At, name: Named, what: body.Forgotten) -> MarksTold:
    """Erase a message for good, or only leave it out of windows."""
    gone = at.session(name).forget(what.id, erase=not what.keep)
    mark: Mark = "left out" if what.keep else "erased"
    return MarksTold(id=what.id, mark=mark, ids=gone)


@router.post("/sessions/{name}/restore")
def restore(at: At, name: Named, what: body.Restored = body.Restored()) -> MarksTold:  # noqa: B008 — frozen
    """Let a message that was left out be in windows again; without an id, all of them."""
    return MarksTold(id=what.id or "", mark="restored", ids=at.session(name).restore(what.id))


@router.post("/sessions/{name}/prune")
def prune(at: At, name: Named, wish: body.Shrunk = body.Shrunk()) -> Removal:  # noqa: B008 — frozen
    """Leave out the least important turns until the rest fits."""
    return at.session(name).prune(wish.max_tokens)


@router.post("/sessions/{name}/compress")
def compress(at: At, name: Named, wish: body.Shrunk = body.Shrunk()) -> Removal:  # noqa: B008 — frozen
    """Let summaries stand for what is old, now instead of when needed."""
    return at.session(name).compress(wish.max_tokens)


@router.post("/sessions/{name}/summarize")
def summarize(at: At, name: Named, wish: body.Summarized = body.Summarized()) -> Removal:  # noqa: B008 — frozen
    """Show one note in place of all but the newest messages."""
    return at.session(name).summarize(wish.keep)
