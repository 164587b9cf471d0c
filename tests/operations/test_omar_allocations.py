"""What the `context_*` operations say of single chunks, texts and allocations."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foveal.errors import NotFoundError
from foveal.model import Kind
from foveal.operations.omar import OPERATIONS
from foveal.operations.registry import Registry

run = Registry({"omar": OPERATIONS}).run
NOW = 1_750_000_000
DAY = 86_400


def chunk(id: str, tokens: int, type: Kind = "chat_history_user", **fields: Any) -> dict[str, Any]:
    return {"id": id, "content": f"text of {id}", "type": type, "tokens": tokens, **fields}


def ids(found: list[dict[str, Any]]) -> list[str]:
    return [each["chunk_id"] for each in found]


# prioritize and boosts


def test_a_ten_day_old_document_that_matches_by_half_has_140() -> None:
    given = chunk(
        "a",
        5,
        "rag_document_chunk",
        timestamp=NOW - 10 * DAY,
        metadata={"rag_match_metadata": {"relevance": 0.5}},
    )
    (found,) = run("context_prioritize", {"chunks": [given], "now": NOW})["allocations"]
    assert found["priority"] == 140.0
    assert found["boosts"] == {"base": 120.0, "recency": 10.0, "rag": 10.0, "business": 0.0}
    assert run("context_calculate_rag_boost", {"chunk": given}) == {
        "boost": 10.0,
        "parts": {"relevance": 0.5},
    }


def test_iso_times_are_times() -> None:
    request = {"chunk": chunk("a", 5, timestamp="2025-01-01T00:00:00Z"), "now": "2025-01-11T00:00:00+00:00"}
    assert run("context_calculate_recency_boost", request) == {"boost": 10.0, "parts": {"age_days": 10.0}}


def test_a_business_boost_shows_its_parts_and_its_cap() -> None:
    fields = {"revenue_impact": 150_000, "urgency": "critical", "clientTier": "enterprise"}
    assert run("context_calculate_business_boost", {"chunk": chunk("a", 5, metadata=fields)}) == {
        "boost": 20.0,
        "parts": {
            "revenue_impact": 15.0,
            "urgency": 25.0,
            "client_tier": 12.0,
            "deal_status": 0.0,
            "relationship_stage": 0.0,
        },
    }


# estimates


@pytest.mark.parametrize(
    ("operation", "density"),
    [("business", 4.2), ("code", 3.5), ("general", 3.8), ("tokens", 3.8)],
)
def test_estimates_divide_by_their_density(operation: str, density: float) -> None:
    assert run(f"context_estimate_{operation}", {"text": "x" * 420})["density"] == density


def test_only_estimate_tokens_detects_the_type() -> None:
    assert run("context_estimate_tokens", {"text": "```\nx\n```"})["density"] == 3.5
    undetected = chunk("a", 5) | {"content": "```\n" + "x" * 65 + "\n```"}
    del undetected["tokens"]
    tokens = [
        run("context_chunk_to_allocation", {"chunk": undetected | {"metadata": metadata}})["allocation"][
            "tokens"
        ]
        for metadata in ({}, {"content_type": "code"}, {"content_type": "verse"})
    ]
    assert tokens == [20, 21, 20]


# allocations


def allocation(id: str, tokens: int, priority: float, **fields: Any) -> dict[str, Any]:
    return {"chunk_id": id, "tokens": tokens, "priority": priority, "chunk_type": "tool_output", **fields}


BUDGET = {
    "allocations": [allocation("a", 5, 10), allocation("b", 6, 30), allocation("c", 4, 20)],
    "available_tokens": 10,
    "constraints": {"reserve_tokens": 0},
}


@pytest.mark.parametrize("name", ["context_allocate_budget", "context_resolve_budget"])
def test_a_budget_is_spent_on_allocations(name: str) -> None:
    result = run(name, BUDGET)
    assert [(a["chunk_id"], a["token_span"]) for a in result["allocated"]] == [("b", [0, 6]), ("c", [6, 10])]
    assert (ids(result["dropped"]), result["tokens_used"], result["tokens_remaining"]) == (["a"], 10, 0)
    assert [(c["chunk1"], c["chunk2"]) for c in result["conflicts"]] == [("c", "a")]


def test_filters_and_conflicts_are_views_of_the_same_choice() -> None:
    result = run("context_resolve_budget", BUDGET)
    assert run("context_filter_allocated", BUDGET)["allocations"] == result["allocated"]
    assert run("context_filter_dropped", BUDGET)["allocations"] == result["dropped"]
    assert run("context_detect_conflicts", BUDGET)["conflicts"] == result["conflicts"]


def test_a_chunk_becomes_an_allocation_and_a_chunk_again() -> None:
    given = chunk("a", 7, timestamp=NOW - DAY)
    found = run("context_chunk_to_allocation", {"chunk": given, "position": 100, "now": NOW})["allocation"]
    assert (found["token_span"], found["priority"], found["timestamp"]) == ([100, 107], 169.0, NOW - DAY)
    request = {"allocation": found, "chunks": [chunk("z", 1), given]}
    assert run("context_allocation_to_chunk", request) == {"chunk": given}


def test_an_allocation_without_its_chunk_is_not_found() -> None:
    with pytest.raises(NotFoundError, match=r"`allocation.chunk_id` is 'a'; none of the 1 `chunks`") as error:
        run("context_allocation_to_chunk", {"allocation": allocation("a", 1, 1), "chunks": [chunk("b", 1)]})
    assert error.value.field == "allocation.chunk_id"


@pytest.mark.parametrize(
    ("a", "b", "order", "because"),
    [
        ({"priority": 2}, {"priority": 1}, -1, "priority 2.0 against 1.0"),
        ({"timestamp": 1}, {"timestamp": 2}, 1, "same priority, the newer goes first"),
        ({"timestamp": 1}, {}, -1, "same priority, only one has a time"),
        (
            {"original_index": 4},
            {"original_index": 3},
            1,
            "same priority and time, original index 4 against 3",
        ),
        ({"original_index": 3}, {"original_index": 3}, 0, "same priority, same time, same original index"),
        ({}, {"original_index": 0}, 1, "same priority and time, only one has an original index"),
        ({}, {}, 0, "same priority, same time, no original index"),
    ],
)
def test_two_allocations_compare_as_the_selection_orders_them(
    a: dict[str, Any], b: dict[str, Any], order: int, because: str
) -> None:
    request = {"a": allocation("a", 1, 1) | a, "b": allocation("b", 1, 1) | b}
    assert run("context_compare_allocations", request) == {"order": order, "because": because}


sides = st.fixed_dictionaries(
    {"priority": st.integers(1, 2)},
    optional={"timestamp": st.integers(0, 1), "original_index": st.integers(-1, 2)},
)


@given(sides, sides)
def test_the_other_way_round_two_allocations_compare_the_other_way_round(
    a: dict[str, Any], b: dict[str, Any]
) -> None:
    one, two = allocation("a", 1, 1) | a, allocation("b", 1, 1) | b
    there = run("context_compare_allocations", {"a": one, "b": two})["order"]
    assert run("context_compare_allocations", {"a": two, "b": one})["order"] == -there


def test_metrics_of_prioritized_allocations_are_those_of_their_boosts() -> None:
    chunks = [chunk("a", 5, timestamp=NOW - 10 * DAY), chunk("b", 5, metadata={"urgency": "medium"})]
    found = run("context_prioritize", {"chunks": chunks, "now": NOW})
    assert run("context_calculate_metrics", found) == {
        "prioritization_score": 157.5,
        "business_relevance_boost": 2.5,
        "recency_boost": 5.0,
        "optimality_gap": None,
    }
    kept = run("context_optimize", {"chunks": chunks, "available_tokens": 9_000, "user_id": "u", "now": NOW})
    again = run("context_calculate_metrics", {"allocations": kept["allocations"], "now": NOW})
    assert again == kept["optimization_metrics"] | {"optimality_gap": None}
