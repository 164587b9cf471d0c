"""What a message's kind decides unless its metadata differs."""

from __future__ import annotations

from typing import get_args

import pytest

from foveal.model import Kind
from foveal.pipeline.kinds import HISTORY, KINDS, PROMPTS, RAG, category_of, kind_of, layer_of
from foveal.presets.omar.score import content_of, estimate


def test_every_kind_has_its_place() -> None:
    assert set(KINDS) == set(get_args(Kind)) == PROMPTS | HISTORY | RAG


def test_base_priorities_fall_by_ten_from_the_system_prompt_to_generic_retrieval() -> None:
    assert [place.priority for place in KINDS.values()] == list(range(200, 90, -10))


@pytest.mark.parametrize(
    ("role", "tool_call", "newest_user", "kind"),
    [
        ("system", False, False, "system_prompt"),
        ("developer", False, False, "system_prompt"),
        ("user", False, True, "current_user_prompt"),
        ("user", False, False, "chat_history_user"),
        ("assistant", False, False, "chat_history_assistant"),
        ("assistant", True, False, "tool_input"),
        ("tool", False, False, "tool_output"),
    ],
)
def test_a_role_gives_a_kind(role: str, tool_call: bool, newest_user: bool, kind: Kind) -> None:
    assert kind_of(role, tool_call=tool_call, newest_user=newest_user) == kind


def test_metadata_wins_over_the_table() -> None:
    said = {"layer": "L4_conversation", "category": "CONTEXT"}
    assert layer_of("tool_output", said) == "L4_conversation"
    assert category_of("tool_output", said) == "CONTEXT"


def test_a_remembered_fact_goes_to_its_topic_or_its_entity_else_it_is_retrieved() -> None:
    kind: Kind = "rag_memory_commit"
    found = [layer_of(kind, metadata) for metadata in ({"topic": "auth"}, {"entity_id": "e1"}, {})]
    assert found == ["L2_topic", "L3_entity", "L5_jit"]


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ('{"revenueImpact": 20000}', "business"),
        ("deal_status = negotiation", "business"),
        ("The urgency of this is high.", "general"),
        ("Look:\n```\nx\n```\nthere you are.", "code"),
        ("def f():\n\n    return 1\n    # done", "code"),
        ("one\ntwo\nthree\nfour:", "general"),
        ("", "general"),
    ],
)
def test_content_is_business_by_its_fields_and_code_by_its_lines(text: str, content: str) -> None:
    assert content_of(text) == content


@pytest.mark.parametrize(
    ("length", "density", "tokens"), [(0, 3.8, 0), (38, 3.8, 10), (39, 3.8, 11), (21, 4.2, 5)]
)
def test_estimates_round_up(length: int, density: float, tokens: int) -> None:
    assert estimate("x" * length, density) == tokens
