"""A session in → its numbers: what is stored, how full its levels are, what summaries save."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from foveal.model import Entry
from foveal.pipeline.history import History
from foveal.pipeline.kinds import kind_of
from foveal.pipeline.material.categories import tokens_by_slot
from foveal.pipeline.values import Item, Scene
from foveal.presets.fifth.levels import levels, slot_of
from foveal.session.build.manifest_json import read_manifest
from foveal.session.state import SessionState
from foveal.session.values import Stats, ratio, summary
from foveal.window import Slot

LEVELLED = "fifth"
"""The preset whose windows are made of levels."""
MOST = 1_000_000
"""Compressions that are looked at."""


def session_stats(state: SessionState) -> Stats:
    with state.reading():
        target, head = state.target(), state.log.head
        history, newest = state.log.history(target), state.store.build(state.id)
        made = state.store.compressions(state.id, limit=MOST)
        state.cost_totals.catch_up(head, lambda: newest)
        manifest = read_manifest(state, newest) if newest else None
        measured = manifest is not None and manifest.preset == LEVELLED
        return replace(
            summary(history, head, newest, name=state.name, target=target),
            summaries=len(made),
            stand_ins=sum(bool(entry.stand_in) for entry in history.entries),
            compression=ratio((each.original, each.compressed) for each in made).mean,
            last_compression=made[0] if made else None,
            levels=manifest.slots if manifest and measured else _levels(state, history, target.budget(None)),
            retrieved=manifest.retrieved if manifest else (),
            costs=state.cost_totals.total(state.resources.catalogue),
        )


def _levels(state: SessionState, history: History, budget: int) -> tuple[Slot, ...]:
    """The plan for the model's whole window, and what everything that windows may show would use of it."""
    numbers = state.resources.fifth
    found = list(unread(history))
    used = tokens_by_slot(found, partial(slot_of, numbers=numbers))
    plan = levels(found, Scene(now=0.0, budget=budget), numbers=numbers)
    return tuple(replace(slot, used=used.get(slot.name, 0)) for slot in plan)


def unread(history: History) -> Iterator[Item]:
    """What windows may show, without its text: that decides no level."""
    for entry in history.entries:
        if entry.stand_in:
            tokens = history.chunk(history.turn_of(entry.seq)).tokens
            yield Item(
                index=entry.seq, id=entry.id, role="user", kind="rag_memory_commit", text="", tokens=tokens
            )
        elif not entry.absence:
            yield _item(entry)


def _item(entry: Entry) -> Item:
    return Item(
        index=entry.seq,
        id=entry.id,
        role=entry.role,
        kind=entry.kind or kind_of(entry.role, tool_call=bool(entry.calls), newest_user=False),
        text="",
        tokens=entry.tokens,
        level=entry.level,
        metadata=json.loads(entry.metadata) if entry.metadata else {},
    )
