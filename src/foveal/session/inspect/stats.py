"""Summarize a session in numbers: what is stored, how full its levels are, what summaries save."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import partial

from foveal import presets
from foveal.pipeline.history import History
from foveal.pipeline.material.categories import tokens_by_slot
from foveal.pipeline.values import Scene
from foveal.session.budget import budget_for
from foveal.session.build.manifest_json import read_manifest
from foveal.session.history.items import items_without_text
from foveal.session.state import SessionState
from foveal.session.values import Stats, ratio
from foveal.window import Slot

LEVELLED = "fifth"
"""The preset whose windows consist of levels."""
MOST = 1_000_000
"""Compressions that are averaged."""


def session_stats(state: SessionState) -> Stats:
    with state.reading():
        target, head = state.target(), state.log.head
        history, latest = state.log.history(target), state.store.build(state.id)
        compressions = state.store.compressions(state.id, limit=MOST)
        state.cost_totals.catch_up(head, lambda: latest)
        manifest = read_manifest(state, latest) if latest else None
        levelled = manifest is not None and manifest.preset == LEVELLED
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
            summaries=len(compressions),
            stand_ins=sum(bool(entry.stand_in) for entry in history.entries),
            compression=ratio((each.original, each.compressed) for each in compressions).mean,
            last_compression=compressions[0] if compressions else None,
            levels=manifest.slots
            if manifest and levelled
            else _levels(state, history, budget_for(target.card, None)),
            retrieved=manifest.retrieved if manifest else (),
            costs=state.cost_totals.total(history.entries, state.resources.catalogue),
            pending=state.cost_totals.pending(history.entries),
        )


def _levels(state: SessionState, history: History, budget: int) -> tuple[Slot, ...]:
    """The levels of the model's whole window, filled with everything that windows may show."""
    from foveal.presets.fifth.levels import levels, slot_of

    numbers = state.resources.fifth
    found = list(items_without_text(history))
    used = tokens_by_slot(found, partial(slot_of, numbers=numbers))
    plan = levels(found, Scene(now=0.0, budget=budget), numbers=numbers)
    return tuple(replace(slot, used=used.get(slot.name, 0)) for slot in plan)
