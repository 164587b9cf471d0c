"""Gather the material of a build: what is known of the user, other sessions, and a workspace.

The code that reads workspaces and other sessions is loaded by the first build that needs it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from foveal.errors import BudgetError, InputError
from foveal.pipeline.material.admit import MEMORY_SHARE
from foveal.pipeline.material.values import Material
from foveal.pipeline.recipe import TASK_MOST
from foveal.session.budget import budget_for, check_budget
from foveal.session.build.layout import current_layout
from foveal.session.build.values import BuildRequest, Gathered
from foveal.session.state import SessionState
from foveal.session.target import tools_text, warn

if TYPE_CHECKING:
    from foveal.session.pool.memory import Pooled
    from foveal.sources.assemble import SmartContext


def gather(state: SessionState, request: BuildRequest) -> Gathered:
    """The material of a build. Reading files may take a while, and nothing is locked meanwhile."""
    check_budget(request.budget)
    _check_contributors(request)
    pool = _pooled(state, request)
    if pool is None:
        return _gathered(state, request)
    with state.lock:
        target = state.target(request.model, request.format, request.counter)
    budget = within_share(budget_for(target.card, request.budget), pool)
    return replace(_gathered(state, replace(request, budget=budget)), pooled=pool)


def within_share(budget: int, pool: Pooled | None) -> int:
    """The budget of a window, at most its share of its pool's."""
    return min(budget, max(1, pool.share.tokens)) if pool and pool.share.budget else budget


def beyond_share(error: BudgetError, pool: Pooled) -> BudgetError:
    """The error of a window for which its share of its pool's budget is too small."""
    return BudgetError(
        f"the window has {pool.share.because}; {error.what}",
        remedy=f"raise the budget of pool {pool.share.pool!r}, let sessions that no longer work leave it, or "
        f"remove its budget",
        field="budget",
    )


def _pooled(state: SessionState, request: BuildRequest) -> Pooled | None:
    """What the session's pool has for the window; None if it is in none, which costs one lookup."""
    record = state.store.pools.of(state.id)
    if record is None:
        return None
    from foveal.session.pool.notes import pooled

    with state.reading():
        target = state.target(request.model, request.format, request.counter)
        preset = state.preset(request.preset)
        layout = current_layout(state, target.with_tools(tools_text(request.tools)), preset)
    return pooled(state, record, layout, task=request.task, now=request.moment)


def _gathered(state: SessionState, request: BuildRequest) -> Gathered:
    preset = state.preset(request.preset)
    memories = state.store.knowledge.memories() if preset.remembers else ()
    offers = preset.knows or preset.searches_sessions
    if not (offers or memories or request.attached):
        return Gathered()
    with state.lock:
        target = state.target(request.model, request.format, request.counter)
    request, count = request.settled(target), target.meter.text
    known: tuple[Material, ...] = ()
    if memories:
        from foveal.session.knowledge.memories import remembered

        most = budget_for(target.card, request.budget) // MEMORY_SHARE
        known = remembered(memories, state.name, most=most, count=count)
    if not (offers or request.attached):
        return Gathered(material=known)
    request = replace(request, task=request.task or _question(state))
    if preset.knows:
        from foveal.session.knowledge.profile import known as known_of_user

        known = known_of_user(state, task=request.task, depth=preset.depth, count=count, now=request.moment)
    from foveal.session.build.workspace import contributions, from_other_sessions

    if request.workspace is not None:
        found = contributions(state, request, count)
        return replace(found, material=(*known, *found.material))
    if request.attached:
        raise InputError(
            "`active_files` or `contributors` were given without a `workspace`",
            remedy="pass `workspace`, the folder they are about",
            field="workspace",
        )
    if preset.searches_sessions:
        known = (*known, *from_other_sessions(state, request.task, count, now=request.moment))
    return Gathered(material=known)


def build_context(state: SessionState, request: BuildRequest) -> SmartContext:
    """The material of a workspace as one text, without a window."""
    from foveal.session.build.workspace import workspace_context

    check_budget(request.budget)
    _check_contributors(request)
    with state.lock:
        target = state.target(request.model)
    warn(target.warnings)
    return workspace_context(state, request.settled(target), target.meter.text)


def _check_contributors(request: BuildRequest) -> None:
    if request.contributors:
        from foveal.sources.contributor import check_installed

        check_installed(request.contributors)


def _question(state: SessionState) -> str:
    """The beginning of the user's latest message."""
    with state.reading():
        for entry in reversed(state.log.entries):
            if entry.role == "user" and not entry.absence:
                (message,) = state.log.read(entry.seq, entry.seq + 1)
                return message.text[:TASK_MOST]
    return ""
