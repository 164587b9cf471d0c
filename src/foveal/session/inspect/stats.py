"""Summarize a session in numbers: what is stored, how full its levels are, what summaries save."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import partial
from typing import TypedDict

from foveal import catalog, presets
from foveal.pipeline.history import History
from foveal.pipeline.material.categories import tokens_by_slot
from foveal.pipeline.values import Scene
from foveal.presets.base import Managing
from foveal.session.budget import GIVEN_BUDGET, whole_limit
from foveal.session.build.manifest_json import read_manifest
from foveal.session.history.items import items_without_text, tokens_shown
from foveal.session.state import SessionState
from foveal.session.target import Target
from foveal.session.values import Stats, ratio
from foveal.store import BuildRecord
from foveal.window import Manifest, Slot

LEVELLED = "fifth"
"""The preset whose windows consist of levels."""
MOST = 1_000_000
"""Compressions that are averaged."""


class _Use(TypedDict):
    used_tokens: int
    used_limit: int
    full_at: float
    needs_pruning: bool
    manages: Managing


def session_stats(state: SessionState) -> Stats:
    with state.reading():
        target, head = state.target(), state.log.head
        history, latest = state.log.history(target), state.store.build(state.id)
        compressions = state.store.compressions(state.id, limit=MOST)
        state.cost_totals.catch_up(head, lambda: latest)
        manifest = read_manifest(state, latest) if latest else None
        use = _use(state, target, history, latest, manifest)
        roles: Counter[str] = Counter()
        for entry in history.entries:
            roles[entry.role] += entry.tokens
        return Stats(
            session=state.name,
            model=head.model,
            preset=head.preset or presets.DEFAULT,
            format=head.format or "plain",
            counter=target.tokenizer.name,
            exact=target.exact,
            messages=len(history.entries),
            turns=len(history),
            tokens=history.tokens,
            tokens_by_role=dict(roles),
            pinned=sum(entry.pinned for entry in history.entries),
            absent=sum(bool(entry.absence) for entry in history.entries),
            limit=target.card.context,
            builds=latest.number if latest else 0,
            window_tokens=latest.tokens if latest else 0,
            window_budget=latest.budget if latest else 0,
            **use,
            summaries=len(compressions),
            stand_ins=sum(bool(entry.stand_in) for entry in history.entries),
            compression=ratio((each.original, each.compressed) for each in compressions).mean,
            last_compression=compressions[0] if compressions else None,
            levels=manifest.slots
            if manifest and manifest.preset == LEVELLED and not _outgrown(use)
            else _levels(state, history, use["used_limit"]),
            retrieved=manifest.retrieved if manifest else (),
            costs=state.cost_totals.total(history.entries, state.resources.catalogue),
            pending=state.cost_totals.pending(history.entries),
        )


def _use(
    state: SessionState,
    target: Target,
    history: History,
    latest: BuildRecord | None,
    manifest: Manifest | None,
) -> _Use:
    """How full the session is: its newest window, or its history if the preset manages that next."""
    numbers, own = state.resources, state.log.head.preset or presets.DEFAULT
    manages = "" if latest and latest.preset != own else presets.managing(own)
    full_at = numbers.fifth.full_at if manages == "compress" else numbers.reploid.target
    used, limit = tokens_shown(history, target.meter.request), target.card.context
    beside = _beside(history, manifest) if manifest else 0
    whole = used + beside
    if latest and manifest and manages == "prune":
        given = latest.budget if GIVEN_BUDGET in manifest.record else None
        limit = whole_limit(catalog.find(latest.model, extra=numbers.catalogue), given)
    elif latest and manifest:
        used, limit = min(latest.tokens, whole), latest.budget
    needs = used > int(full_at * limit)
    if manages == "compress":
        overhead = target.meter.request + beside
        needs = _is_overfull(state, history, Scene(now=0.0, budget=limit, overhead=overhead))
        used = whole if needs else used
    return _Use(used_tokens=used, used_limit=limit, full_at=full_at, needs_pruning=needs, manages=manages)


def _outgrown(use: _Use) -> bool:
    """Whether the history has become more than the levels of the newest window hold."""
    return use["manages"] == "compress" and use["needs_pruning"]


def _is_overfull(state: SessionState, history: History, scene: Scene) -> bool:
    """Whether a build within that budget puts notes in place of old messages."""
    from foveal.presets.fifth.levels import excess

    over = excess(list(items_without_text(history)), scene, numbers=state.resources.fifth)
    return max(over.window, over.working) > 0


def _beside(history: History, manifest: Manifest) -> int:
    """Tokens that a window had beside the history: tools, material, a system prompt for that build only."""
    stored = sum(entry.tokens for entry in history.entries if entry.role == "system" and not entry.absence)
    parts = manifest.parts
    prompt = max(0, parts.get("system", 0) - stored)
    return prompt + parts.get("tools", 0) + parts.get("material", 0)


def _levels(state: SessionState, history: History, budget: int) -> tuple[Slot, ...]:
    """The levels of such a budget, filled with everything that windows may show."""
    from foveal.presets.fifth.levels import levels, slot_of

    numbers = state.resources.fifth
    found = list(items_without_text(history))
    used = tokens_by_slot(found, partial(slot_of, numbers=numbers))
    plan = levels(found, Scene(now=0.0, budget=budget), numbers=numbers)
    return tuple(replace(slot, used=used.get(slot.name, 0)) for slot in plan)
