"""Every number of `omar` has an effect, in operations and, but for two, in windows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import pytest

import foveal
from foveal import InputError, operations
from foveal.presets.omar.score import OmarNumbers

Numbers = Mapping[str, Any]
OTHER: dict[str, Any] = {
    "base": {"chat_history_user": 10},
    "prefer_recent": False,
    "recency": "exponential",
    "most_linear": 5.0,
    "most_exponential": 5.0,
    "decay": 0.5,
    "business_decay": 0.5,
    "most_rag": 5.0,
    "most_business": 5.0,
    "most_revenue": 1.0,
    "revenue_scale": 100.0,
    "urgency": {"medium": 20},
    "client_tier": {"startup": 9},
    "deal_status": {"closed": 9},
    "relationship_stage": {"initial": 9},
    "high_revenue": 50_000.0,
    "long": 5,
    "densities": {"general": 1.0},
    "reserve": 5,
    "group_caps": {"history": 40},
    "prefer_higher_priority": False,
    "allow_partial_fill": False,
    "solver": "exact",
    "exact_steps": 1,
}
TOGETHER: dict[str, Numbers] = {
    "most_exponential": {"recency": "exponential"},
    "decay": {"recency": "exponential"},
    "business_decay": {"recency": "exponential"},
    "exact_steps": {"solver": "exact"},
}
"""What a number needs to show."""
OF_OPERATIONS = {"densities", "reserve"}
"""A window counts exactly, and reserves what its system prompt needs."""
DAY = 86_400.0
NOW = 1_000 * DAY
METADATA: list[dict[str, object]] = [
    {"revenue_impact": 20_000},
    {"urgency": "medium"},
    {"client_tier": "startup"},
    {"deal_status": "closed"},
    {"relationship_stage": "initial"},
    {"rag_match_metadata": {"relevance": 0.8}},
    {"revenue_impact": 90_000, "urgency": "critical"},
    *({} for _ in range(8)),
]
TEXTS = [f"Note {n}: {'the customer asked again. ' * (1 + n * 7 % 5)}" for n in range(len(METADATA))]


def chunks() -> list[dict[str, object]]:
    return [
        {
            "id": str(n),
            "content": text,
            "type": "chat_history_user" if n % 2 else "tool_output",
            "timestamp": NOW - n * DAY / 2,
            "metadata": metadata,
        }
        for n, (text, metadata) in enumerate(zip(TEXTS, METADATA, strict=True))
    ]


def optimized(numbers: Numbers) -> object:
    """What the operation makes of fifteen chunks, of which about six fit."""
    request = {"chunks": chunks(), "available_tokens": 2_090, "user_id": "ada", "now": NOW}
    return operations.run("context_optimize", request, numbers={"omar": numbers})


def window(numbers: Numbers) -> object:
    """The same notes as messages: what is in the window, with scores, flags and caps."""
    messages = [
        {"role": "user", "content": text, "timestamp": NOW - n * DAY / 2, "metadata": metadata}
        for n, (text, metadata) in enumerate(zip(TEXTS, METADATA, strict=True))
    ]
    messages.append({"role": "user", "content": "What is open?"})
    found = foveal.fit(messages, budget=150, preset="omar", numbers={"omar": numbers}, now=NOW).manifest
    return [(each.score, each.flags, each.verdict) for each in found.decisions], found.slots


def outcome(look: Any, numbers: Numbers) -> object:
    try:
        return look(numbers)
    except InputError as error:
        return error.what


def test_no_number_is_missing_here() -> None:
    assert OTHER.keys() == {field.name for field in fields(OmarNumbers)}


@pytest.mark.parametrize("name", OTHER)
def test_another_number_gives_another_optimization(name: str) -> None:
    usual = TOGETHER.get(name, {})
    assert outcome(optimized, {**usual, name: OTHER[name]}) != outcome(optimized, usual)


@pytest.mark.parametrize("name", [name for name in OTHER if name not in OF_OPERATIONS])
def test_another_number_gives_another_window(name: str) -> None:
    usual = TOGETHER.get(name, {})
    assert outcome(window, {**usual, name: OTHER[name]}) != outcome(window, usual)
