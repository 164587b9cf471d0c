"""List, change and delete pools of agents; let sessions join and leave them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal
from urllib.parse import unquote

from fastapi import APIRouter, Depends, Path

from foveal.server import schemas as body
from foveal.server.api import CurrentTenant
from foveal.server.problems import Problem
from foveal.server.tenants import Tenant
from foveal.server.workers.route import BulkRoute
from foveal.session.pool.pool import Pool
from foveal.session.responses import PoolResponse, pool_response

router = APIRouter(route_class=BulkRoute)


async def _pool_name(pool: Annotated[str, Path(min_length=1, max_length=500)]) -> str:
    return unquote(pool)


PoolName = Annotated[str, Depends(_pool_name)]


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolDeleted:
    name: str
    change: Literal["deleted"]


@router.get("/pools")
def pools(tenant: CurrentTenant) -> list[PoolResponse]:
    """All pools with their sessions, oldest first."""
    return [pool_response(each) for each in tenant.fov.pools()]


@router.put("/pools/{pool}")
def save(tenant: CurrentTenant, pool: PoolName, new: body.PoolBudget) -> PoolResponse:
    """Create a pool, or give one another budget: null removes it, without the field it stays as it is."""
    found = tenant.fov.pool(pool, budget=new.budget)
    if new.budget is None and "budget" in new.model_fields_set:
        found.set_budget(None)
    return pool_response(found)


@router.delete("/pools/{pool}")
def delete(tenant: CurrentTenant, pool: PoolName) -> PoolDeleted:
    """Delete a pool; its sessions stay."""
    _existing(tenant, pool).delete()
    return PoolDeleted(name=pool, change="deleted")


@router.post("/pools/{pool}/join")
def join(tenant: CurrentTenant, pool: PoolName, member: body.Member) -> PoolResponse:
    """Put a session into a pool; it leaves the one that it is in."""
    found = _existing(tenant, pool)
    found.join(tenant.record(member.session).name)
    return pool_response(found)


@router.post("/pools/{pool}/leave")
def leave(tenant: CurrentTenant, pool: PoolName, member: body.Member) -> PoolResponse:
    """Take a session out of a pool."""
    found = _existing(tenant, pool)
    found.leave(tenant.record(member.session).name)
    return pool_response(found)


def _existing(tenant: Tenant, name: str) -> Pool:
    found = next((pool for pool in tenant.fov.pools() if pool.name == name), None)
    if found is None:
        raise Problem("not-found", f"there is no pool {name!r}", "`GET /api/v1/pools` lists them")
    return found
