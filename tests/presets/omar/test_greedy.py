"""Which slot and which groups a chunk counts against."""

from __future__ import annotations

from typing import Any

import pytest

from foveal.model import Kind
from foveal.pipeline.values import Item
from foveal.presets.omar.greedy import groups_of, slot_of


def item(kind: Kind, **metadata: Any) -> Item:
    return Item(index=0, id="a", role="user", kind=kind, text="", tokens=1, metadata=metadata)


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
def test_a_chunk_counts_against_each_of_its_groups(piece: Item, groups: set[str]) -> None:
    assert set(groups_of(piece)) == groups


def test_the_system_prompt_uses_the_reserve() -> None:
    assert (slot_of(item("system_prompt")), slot_of(item("tool_input"))) == ("reserve", "pool")
