"""What is known of the user: memories, topics, entities; where the user is, and what comes next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal
from urllib.parse import unquote

from fastapi import APIRouter, Path, Query

from foveal.knowledge.values import Memory, MemoryKind, Origin, Prediction, PredictionLedger, Profile
from foveal.server import schemas as body
from foveal.server.api import CurrentTenant
from foveal.server.workers.route import BulkRoute

router = APIRouter(route_class=BulkRoute)
Id = Annotated[str, Path(min_length=1, max_length=500, description="As `GET /profile` shows it.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileChange:
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


@router.get("/profile")
def profile(tenant: CurrentTenant) -> Profile:
    """All that is known of the user: memories, topics, entities."""
    return tenant.fov.profile()


@router.post("/profile", status_code=201)
def remember(tenant: CurrentTenant, new: body.Remembered) -> Memory:
    """Remember a sentence about the user."""
    return tenant.fov.remember(new.text, kind=new.kind)


@router.put("/profile/{id}")
def edit(tenant: CurrentTenant, id: Id, new: body.Edited) -> MemoryChanged:
    """Replace the text of a memory."""
    return _changed(tenant.fov.edit_memory(unquote(id), new.text), "edited")


@router.post("/profile/{id}/confirm")
def confirm(tenant: CurrentTenant, id: Id) -> MemoryChanged:
    """Confirm a memory that a model wrote."""
    return _changed(tenant.fov.confirm(unquote(id)), "confirmed")


@router.post("/profile/{id}/rename")
def rename(tenant: CurrentTenant, id: Id, new: body.Renamed) -> ProfileChange:
    """Rename a topic or an entity."""
    tenant.fov.rename_thing(unquote(id), new.name)
    return ProfileChange(id=unquote(id), change="renamed")


@router.delete("/profile/{id}")
def delete(tenant: CurrentTenant, id: Id) -> ProfileChange:
    """Delete a memory, a topic or an entity permanently."""
    name = unquote(id)
    (tenant.fov.forget_thing if name.startswith("thing-") else tenant.fov.forget_memory)(name)
    return ProfileChange(id=name, change="deleted")


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
def presence(tenant: CurrentTenant, where: body.Present) -> list[Prediction]:
    """Report where the user is in the client, and get what they will probably do next."""
    presence = where.model_dump(exclude={"session", "warm"})
    return list(tenant.fov.presence(presence, session=where.session, warm=where.warm))


@router.get("/predictions")
def predictions(
    tenant: CurrentTenant, session: Annotated[str, Query(max_length=500)] = ""
) -> PredictionLedger:
    """Which predictions were made, used and wasted."""
    return tenant.fov.predictions(session)
