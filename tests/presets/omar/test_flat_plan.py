"""One pool, one reserve, and the caps that were asked for."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foveal.model import Kind
from foveal.pipeline.values import Item
from foveal.presets.omar.greedy import GROUPS, flat, groups_of, slot_of
from foveal.presets.omar.score import OmarNumbers


def item(kind: Kind, **metadata: Any) -> Item:
    return Item(index=0, id="a", role="user", kind=kind, text="", tokens=1, metadata=metadata)


def test_the_reserve_is_never_more_than_the_budget() -> None:
    assert [slot.allotted for slot in flat(1_500, reserve=2_000, caps={})] == [0, 1_500]


@pytest.mark.parametrize(
    ("piece", "groups"),
    [
        (item("system_prompt"), {"overall", "system_prompt"}),
        (item("current_user_prompt"), {"pool", "overall"}),
        (item("tool_output"), {"pool", "overall", "history"}),
        (item("critical_rag_document"), {"pool", "overall", "rag_results"}),
        (item("chat_history_user", dealStatus="closed"), {"pool", "overall", "history", "business_data"}),
        (item("rag_memory_commit", clientTier="startup"), {"pool", "overall", "rag_results", "client_data"}),
    ],
)
def test_a_piece_counts_against_each_of_its_groups(piece: Item, groups: set[str]) -> None:
    assert set(groups_of(piece)) == groups


def test_the_system_prompt_draws_on_the_reserve() -> None:
    assert (slot_of(item("system_prompt")), slot_of(item("tool_input"))) == ("reserve", "pool")


def test_every_group_has_its_usual_cap() -> None:
    assert tuple(OmarNumbers().usual_caps) == GROUPS


@settings(max_examples=300)
@given(st.integers(-10, 10**6), st.integers(-10, 10**6))
def test_pool_and_reserve_are_the_budget(budget: int, reserve: int) -> None:
    slots = flat(budget, reserve=reserve, caps={})
    assert sum(slot.allotted for slot in slots) == max(0, budget)
    assert all(0 <= slot.floor <= slot.allotted <= slot.ceiling for slot in slots)
