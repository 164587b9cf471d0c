"""What the 21 `context_*` operations answer. Each is called as a surface calls it: plain data in and out."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foveal.errors import InputError
from foveal.model import Kind
from foveal.operations import omar_units
from foveal.operations.omar import OPERATIONS
from foveal.operations.registry import Registry
from foveal.pipeline.kinds import KINDS
from foveal.presets.omar.score import priorities

REGISTRY = Registry({"omar": OPERATIONS})
run = REGISTRY.run
NOW = 1_750_000_000
DAY = 86_400
CODES = {
    "context_optimize": "0x3200",
    "context_prioritize": "0x3201",
    "context_allocate_budget": "0x3202",
    "context_calculate_metrics": "0x3203",
    "context_estimate_tokens": "0x3210",
    "context_estimate_business": "0x3211",
    "context_estimate_code": "0x3212",
    "context_estimate_general": "0x3213",
    "context_chunk_to_allocation": "0x3220",
    "context_allocation_to_chunk": "0x3221",
    "context_compare_allocations": "0x3222",
    "context_resolve_budget": "0x3223",
    "context_calculate_recency_boost": "0x3230",
    "context_calculate_business_boost": "0x3231",
    "context_calculate_rag_boost": "0x3232",
    "context_detect_conflicts": "0x3240",
    "context_filter_allocated": "0x3241",
    "context_filter_dropped": "0x3242",
    "context_build_business": "0x3250",
    "context_build_llm": "0x3251",
    "context_build_rag": "0x3252",
}
ALLOCATION = {
    "chunk_id",
    "token_span",
    "tokens",
    "priority",
    "chunk_type",
    "timestamp",
    "original_index",
    "flags",
    "metadata",
}


def chunk(id: str, tokens: int, type: Kind = "chat_history_user", **fields: Any) -> dict[str, Any]:
    return {"id": id, "content": f"text of {id}", "type": type, "tokens": tokens, **fields}


def optimize(chunks: list[dict[str, Any]], available: int, **constraints: Any) -> dict[str, Any]:
    request = {"chunks": chunks, "available_tokens": available, "user_id": "u", "now": NOW}
    return run("context_optimize", {**request, "constraints": {"reserve_tokens": 0, **constraints}})


def ids(found: list[dict[str, Any]]) -> list[str]:
    return [each.get("id") or each["chunk_id"] for each in found]


def test_there_are_21_operations_each_with_its_code() -> None:
    assert {operation.name: operation.code for operation in OPERATIONS} == CODES


def test_an_operation_answers_to_its_code_as_to_its_name() -> None:
    request = {"text": "x" * 38}
    assert (
        run("0x3213", request) == run("context_estimate_general", request) == {"tokens": 10, "density": 3.8}
    )


def test_every_operation_has_a_schema_of_both_ends() -> None:
    assert all(json.dumps(REGISTRY.schema(name)) for name in CODES)


# optimize


def test_the_best_chunks_that_fit_stay_in_their_original_order() -> None:
    chunks = [chunk("old", 60, "chat_history_assistant"), chunk("tool", 50, "tool_output"), chunk("ask", 40)]
    result = optimize(chunks, 100)
    assert ids(result["optimized_chunks"]) == ["tool", "ask"]
    assert (result["total_tokens_used"], result["tokens_remaining"]) == (90, 10)
    assert (result["chunks_dropped"], result["dropped"]) == (1, ["old"])
    assert result["conflicts"] == [
        {
            "chunk1": "ask",
            "chunk2": "old",
            "conflict_type": "budget_exceeded",
            "resolution": "keep_chunk1",
        }
    ]


def test_chunks_come_back_as_they_came() -> None:
    given = chunk("a", 5, timestamp="2025-01-31T09:30:00Z", metadata={"any": {"thing": [1, None]}})
    bare = {"id": "b", "content": "", "type": "tool_input"}
    assert optimize([given, bare], 100)["optimized_chunks"] == [given, bare]


def test_original_index_decides_the_order_of_what_is_kept() -> None:
    chunks = [chunk("late", 5, original_index=9), chunk("early", 5, original_index=2)]
    assert ids(optimize(chunks, 100)["optimized_chunks"]) == ["early", "late"]


def test_allocations_stand_in_placing_order_end_to_end() -> None:
    chunks = [
        chunk("low", 30, "rag_generic_chunk"),
        chunk("high", 600, "tool_output", timestamp=NOW - 5 * DAY),
    ]
    allocations = optimize(chunks, 1_000)["allocations"]
    assert set(allocations[0]) == ALLOCATION
    assert [(a["chunk_id"], a["token_span"], a["priority"]) for a in allocations] == [
        ("high", [0, 600], 185.0),
        ("low", [600, 630], 100.0),
    ]
    assert [a["flags"] for a in allocations] == [["requires_summarization"], []]


def test_metrics_are_means_over_what_is_kept() -> None:
    chunks = [chunk("a", 5, timestamp=NOW - 10 * DAY), chunk("b", 5, metadata={"revenueImpact": 40_000})]
    assert optimize(chunks, 100)["optimization_metrics"] == {
        "prioritization_score": 157.0,
        "business_relevance_boost": 2.0,
        "recency_boost": 5.0,
        "optimality_gap": 0.0,
    }


def test_metrics_are_0_when_nothing_is_kept() -> None:
    assert set(optimize([chunk("a", 50)], 10)["optimization_metrics"].values()) == {0.0}


def test_the_gap_says_how_far_greedy_can_be_from_the_optimum() -> None:
    chunks = [chunk("big", 10, priority=150), chunk("one", 5, priority=100), chunk("two", 5, priority=100)]
    greedy, exact = optimize(chunks, 10), optimize(chunks, 10, solver="exact")
    assert (ids(greedy["optimized_chunks"]), ids(exact["optimized_chunks"])) == (["big"], ["one", "two"])
    gaps = [each["optimization_metrics"]["optimality_gap"] for each in (greedy, exact)]
    assert gaps == [0.25, 0.0]


def test_the_reserve_is_2000_and_counts_as_used() -> None:
    request = {"chunks": [chunk("a", 700)], "available_tokens": 3_000, "user_id": "u"}
    result = run("context_optimize", request)
    assert (result["total_tokens_used"], result["tokens_remaining"]) == (2_700, 300)


def test_the_reserve_is_never_more_than_what_is_available() -> None:
    result = run("context_optimize", {"chunks": [chunk("a", 1)], "available_tokens": 900, "user_id": "u"})
    assert (result["total_tokens_used"], result["tokens_remaining"], result["dropped"]) == (900, 0, ["a"])


@pytest.mark.parametrize(("system", "remaining"), [(1_500, 300), (2_100, 200)])
@pytest.mark.parametrize("solver", ["greedy", "exact"])
def test_the_system_prompt_draws_on_the_reserve_before_the_pool(
    system: int, remaining: int, solver: str
) -> None:
    chunks = [chunk("s", system, "system_prompt"), chunk("a", 700)]
    result = optimize(chunks, 3_000, reserve_tokens=2_000, solver=solver)
    assert result["dropped"] == []
    assert (result["total_tokens_used"], result["tokens_remaining"]) == (3_000 - remaining, remaining)


def test_the_reserve_is_for_the_system_prompt_alone() -> None:
    chunks = [chunk("s", 10, "system_prompt"), chunk("a", 1_001)]
    assert optimize(chunks, 3_000, reserve_tokens=2_000)["dropped"] == ["a"]


def test_max_total_tokens_lowers_the_budget() -> None:
    assert optimize([chunk("a", 60)], 100, max_total_tokens=50)["dropped"] == ["a"]


def test_group_caps_hold_only_when_given_and_null_means_the_usual_one() -> None:
    chunks = [chunk("a", 3_000, "rag_ebook_chunk"), chunk("b", 2_000, "rag_ebook_chunk")]
    assert optimize(chunks, 9_000)["dropped"] == []
    assert optimize(chunks, 9_000, group_caps={"rag_results": None})["dropped"] == ["b"]
    assert optimize(chunks, 9_000, group_caps={"rag_results": 2_500})["dropped"] == ["a"]


def test_priority_thresholds_replace_base_priorities() -> None:
    chunks = [chunk("tool", 60, "tool_output"), chunk("ask", 60)]
    assert optimize(chunks, 60, priority_thresholds={"chat_history_user": 500})["dropped"] == ["tool"]


def test_business_context_supplies_the_fields_that_lack() -> None:
    request = {"chunks": [chunk("a", 5), chunk("b", 5, metadata={"urgency": "low"})], "now": NOW}
    found = run("context_prioritize", {**request, "business_context": {"urgency": "high"}})["allocations"]
    assert [(each["chunk_id"], each["boosts"]["business"]) for each in found] == [("a", 15.0), ("b", 0.0)]


def test_the_same_request_has_the_same_id_and_another_has_another() -> None:
    same = [optimize([chunk("a", 5)], 100)["optimization_id"] for _ in range(2)]
    assert same[0] == same[1] != optimize([chunk("a", 5)], 101)["optimization_id"]


def test_without_now_nothing_has_an_age() -> None:
    request = {"chunk": chunk("a", 5, timestamp=-5)}
    assert run("context_calculate_recency_boost", request) == {"boost": 20.0, "parts": {"age_days": 0.0}}


# building

MIXED: dict[str, Any] = {
    "chunks": [
        chunk("s", 5, "system_prompt"),
        chunk("h", 5),
        chunk("t", 5, "tool_output"),
        chunk("r", 5, "rag_generic_chunk", metadata={"dealStatus": "closed"}),
        chunk("q", 5, "current_user_prompt"),
    ],
    "available_tokens": 9_000,
    "user_id": "u",
}


@pytest.mark.parametrize(
    ("name", "texts"),
    [
        ("context_build_llm", ["s", "h", "t", "r", "q"]),
        ("context_build_rag", ["s", "r", "h", "t", "q"]),
        ("context_build_business", ["s", "r", "q"]),
    ],
)
def test_a_context_is_built_as_messages(name: str, texts: list[str]) -> None:
    result = run(name, MIXED)
    assert [message["content"][-1] for message in result["messages"]] == texts
    assert set(result) - {"messages"} == set(run("context_optimize", MIXED))


def test_what_is_built_for_business_keeps_its_place_in_the_request_and_the_requests_id() -> None:
    built = run("context_build_business", MIXED)
    places = {each["chunk_id"]: each["original_index"] for each in built["allocations"]}
    assert places == {"s": 0, "r": 3, "q": 4}
    assert built["optimization_id"] == run("context_optimize", MIXED)["optimization_id"]
    assert built["optimized_chunks"] == [MIXED["chunks"][place] for place in (0, 3, 4)]


def test_what_was_retrieved_never_speaks_with_the_systems_voice() -> None:
    messages = run("context_build_llm", MIXED)["messages"]
    assert [message["role"] for message in messages] == ["system", "user", "tool", "user", "user"]


# bad requests


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"available_tokens": -1}, "available_tokens"),
        ({"user_id": ""}, "user_id"),
        ({"colour": 1}, "colour"),
        ({"chunks": [{"id": "a", "content": ""}]}, "chunks[0].type"),
        ({"chunks": [chunk("a", 1, "poem")]}, "chunks[0].type"),  # type: ignore[arg-type]
        ({"chunks": [chunk("a", -1)]}, "chunks[0].tokens"),
        ({"chunks": [chunk("a", 1, timestamp="soon")]}, "chunks[0].timestamp"),
        ({"chunks": [chunk("a", 1, priority=float("nan"))]}, "chunks[0].priority"),
        *(
            ({"chunks": [chunk("a", 1, priority=wrong)]}, "chunks[0].priority")
            for wrong in ("7", True, -5, 1_001, math.inf)
        ),
        ({"chunks": [chunk("a", True)]}, "chunks[0].tokens"),
        ({"chunks": [chunk("a", "5")]}, "chunks[0].tokens"),  # type: ignore[arg-type]
        ({"chunks": [chunk("a", 1, metadata={"revenue_impact": math.inf})]}, "chunks[0].metadata"),
        ({"chunks": [chunk("a", 1, metadata={"deep": [{"in": math.nan}]})]}, "chunks[0].metadata"),
        ({"business_context": {"revenue_impact": math.inf}}, "business_context"),
        ({"constraints": {"prefer_recent": "yes"}}, "constraints.prefer_recent"),
        ({"chunks": [chunk("a", 1), chunk("a", 2)]}, "1.id is 'a'"),
        ({"constraints": {"solver": "magic"}}, "constraints.solver"),
        ({"constraints": {"group_caps": {"misc": 1}}}, "constraints.group_caps.misc"),
    ],
)
def test_a_bad_request_names_the_field(change: dict[str, Any], named: str) -> None:
    request = {"chunks": [], "available_tokens": 1, "user_id": "u"}
    with pytest.raises(InputError) as failure:
        run("context_optimize", request | change)
    assert named in failure.value.what


# events


def test_an_optimization_reports_its_events_in_order() -> None:
    fields = {"revenue_impact": 20_000, "urgency": "low"}
    chunks = [
        chunk("a", 5, timestamp=NOW, metadata=fields),
        chunk("b", 9),
        {"id": "c", "content": "", "type": "tool_output"},
    ]
    request = {"chunks": chunks, "available_tokens": 10, "user_id": "u", "now": NOW}
    events = REGISTRY.events("context_optimize", {**request, "constraints": {"reserve_tokens": 0}})
    assert [name for name, _ in events] == [
        "context.optimization.started",
        "context.tokens_estimated",
        "context.allocations_created",
        "context.recency_boost_applied",
        "context.business_boost_applied",
        "context.budget.resolved",
        "context.chunks_dropped",
        "context.conflict_detected",
        "context.optimization.success",
    ]
    payloads: dict[str, Any] = dict(events)
    assert payloads["context.business_boost_applied"]["chunks"] == [
        {
            "chunk_id": "a",
            "total_boost": 2.0,
            "revenue_boost": 2.0,
            "urgency_boost": 0.0,
            "client_tier_boost": 0.0,
        }
    ]
    assert payloads["context.budget.resolved"] == {
        "allocated_count": 2,
        "dropped_count": 1,
        "tokens_used": 5,
        "tokens_remaining": 5,
    }


ALLOCATIONS = [
    {"chunk_id": "a", "tokens": 5, "priority": 150, "chunk_type": "chat_history_user"},
    {"chunk_id": "b", "tokens": 9, "priority": 140, "chunk_type": "chat_history_assistant"},
]
BUDGET = {"allocations": ALLOCATIONS, "available_tokens": 10, "constraints": {"reserve_tokens": 0}}
CONFLICT = {
    "chunk1": "a",
    "chunk2": "b",
    "conflict_type": "budget_exceeded",
    "resolution": "keep_chunk1",
}
DEAL = chunk("a", 5, metadata={"revenueImpact": 50_000, "rag_match_metadata": {"relevance": 0.5}})


@pytest.mark.parametrize(
    ("name", "request_", "events"),
    [
        ("resolve_budget", BUDGET, ["budget.resolved", "chunks_dropped", "conflict_detected"]),
        ("allocate_budget", BUDGET, ["budget.resolved", "chunks_dropped", "conflict_detected"]),
        ("detect_conflicts", BUDGET, ["conflict_detected"]),
        ("filter_dropped", BUDGET, ["chunks_dropped"]),
        ("filter_dropped", BUDGET | {"available_tokens": 14}, []),
        ("estimate_tokens", {"text": "hello"}, ["tokens_estimated"]),
        ("chunk_to_allocation", {"chunk": chunk("a", 5)}, ["allocations_created"]),
        (
            "prioritize",
            {"chunks": [DEAL, {"id": "b", "content": "hello", "type": "tool_output"}]},
            ["tokens_estimated", "allocations_created", "business_boost_applied", "rag_boost_applied"],
        ),
        ("calculate_recency_boost", {"chunk": DEAL}, ["recency_boost_applied"]),
        ("calculate_business_boost", {"chunk": DEAL}, ["business_boost_applied"]),
        ("calculate_rag_boost", {"chunk": DEAL}, ["rag_boost_applied"]),
    ],
)
def test_each_operation_reports_what_it_did(name: str, request_: dict[str, Any], events: list[str]) -> None:
    found = REGISTRY.events(f"context_{name}", request_)
    assert [name for name, _ in found] == [f"context.{name}" for name in events]


def test_events_count_everything_and_list_the_first_twenty_that_have_short_ids() -> None:
    chunks = [
        chunk("long" * 1_000 if n == 3 else f"c{n}", 900, timestamp=NOW, metadata={"urgency": "high"})
        for n in range(3_000)
    ]
    request = {"chunks": chunks, "available_tokens": 2_900, "user_id": "u", "now": NOW}
    events: dict[str, Any] = dict(REGISTRY.events("context_optimize", request))
    boosts, dropped = events["context.recency_boost_applied"], events["context.chunks_dropped"]
    assert (boosts["count"], [each["chunk_id"] for each in boosts["chunks"]]) == (
        3_000,
        [f"c{n}" for n in range(20) if n != 3],
    )
    assert (dropped["count"], len(dropped["chunk_ids"])) == (2_999, 19)
    assert len(json.dumps(events)) < 20_000


def test_chunks_are_scored_once_for_the_result_and_its_events(monkeypatch: pytest.MonkeyPatch) -> None:
    scored = []

    def counted(items: Any, *rest: Any) -> Any:
        scored.extend(items)
        return priorities(items, *rest)

    monkeypatch.setattr(omar_units, "priorities", counted)
    assert REGISTRY.events("context_calculate_rag_boost", {"chunk": DEAL})
    assert len(scored) == 1


def test_events_carry_what_the_result_says() -> None:
    assert dict(REGISTRY.events("context_resolve_budget", BUDGET)) == {
        "context.budget.resolved": {
            "allocated_count": 1,
            "dropped_count": 1,
            "tokens_used": 5,
            "tokens_remaining": 5,
        },
        "context.chunks_dropped": {"count": 1, "chunk_ids": ["b"]},
        "context.conflict_detected": {"count": 1, "conflicts": [CONFLICT]},
    }
    ((_, estimated),) = REGISTRY.events("context_estimate_code", {"text": "x" * 7})
    assert estimated == {"count": 1, "chunks": [{"tokens": 2, "density": 3.5}]}
    ((_, boost),) = REGISTRY.events("context_calculate_business_boost", {"chunk": DEAL})
    assert boost == {
        "count": 1,
        "chunks": [
            {
                "chunk_id": "a",
                "total_boost": 5.0,
                "revenue_boost": 5.0,
                "urgency_boost": 0.0,
                "client_tier_boost": 0.0,
            }
        ],
    }


# settings


@pytest.mark.parametrize(
    ("setting", "constraint"),
    [
        ({"reserve": 60}, {"reserve_tokens": 60}),
        ({"base": {"chat_history_assistant": 199}}, {"priority_thresholds": {"chat_history_assistant": 199}}),
        ({"group_caps": {"history": 20}}, {"group_caps": {"history": 20}}),
        ({"allow_partial_fill": False}, {"allow_partial_fill": False}),
        ({"prefer_higher_priority": False}, {"prefer_higher_priority": False}),
        ({"prefer_recent": False}, {"prefer_recent": False}),
        ({"recency": "exponential"}, {"recency": "exponential"}),
        ({"solver": "exact"}, {"solver": "exact"}),
    ],
)
def test_a_setting_applies_as_the_constraint_of_its_name(
    setting: dict[str, Any], constraint: dict[str, Any]
) -> None:
    chunks = [
        chunk("tool", 70, "tool_output", timestamp=NOW - 30 * DAY),
        chunk("user", 55, timestamp=NOW - 5 * DAY),
        chunk("answer", 50, "chat_history_assistant", timestamp=NOW),
        chunk("found", 10, "rag_generic_chunk"),
    ]
    request = {"chunks": chunks, "available_tokens": 110, "user_id": "u", "now": NOW}
    plain = {**request, "constraints": {"reserve_tokens": 0}}
    numbers = {"omar": {"reserve": 0, **setting}}
    by_setting = run("context_optimize", request, numbers=numbers)
    by_request = run("context_optimize", {**request, "constraints": {"reserve_tokens": 0, **constraint}})
    del by_setting["optimization_id"], by_request["optimization_id"]
    assert by_setting == by_request
    without = run("context_optimize", plain)
    assert run("context_optimize", plain, numbers={"omar": {}}) == without
    del without["optimization_id"]
    assert by_setting != without


def test_a_request_takes_precedence_over_the_settings() -> None:
    numbers = {"omar": {"reserve": 60, "solver": "exact", "group_caps": {"history": 20}}}
    given = {"reserve_tokens": 0, "solver": "greedy", "group_caps": {"history": 500}}
    request = {"chunks": [chunk("a", 50)], "available_tokens": 60, "user_id": "u", "constraints": given}
    assert run("context_optimize", request, numbers=numbers)["dropped"] == []
    capped = request | {"constraints": given | {"group_caps": {"history": None}}}
    assert run("context_optimize", capped, numbers=numbers)["dropped"] == ["a"]


def test_settings_decide_the_flags() -> None:
    request = {"chunk": chunk("a", 50, metadata={"revenue_impact": 400})}
    numbers = {"omar": {"long": 49, "high_revenue": 400}}
    (flags,) = [run("context_chunk_to_allocation", request, numbers=numbers)["allocation"]["flags"]]
    assert flags == ["high_business_relevance", "requires_summarization"]
    assert run("context_chunk_to_allocation", request)["allocation"]["flags"] == []


# laws

requests = st.fixed_dictionaries(
    {
        "chunks": st.lists(
            st.tuples(
                st.sampled_from(list(KINDS)), st.integers(0, 60), st.one_of(st.none(), st.integers(0, NOW))
            ),
            max_size=7,
        ).map(lambda rows: [chunk(str(i), t, k, timestamp=s) for i, (k, t, s) in enumerate(rows)]),
        "available_tokens": st.integers(0, 200),
        "user_id": st.just("u"),
        "now": st.just(NOW),
        "constraints": st.fixed_dictionaries(
            {
                "reserve_tokens": st.integers(0, 80),
                "solver": st.sampled_from(["greedy", "exact"]),
                "allow_partial_fill": st.booleans(),
                "prefer_higher_priority": st.booleans(),
                "group_caps": st.sampled_from([{}, {"history": 40}, {"overall": 90, "rag_results": 20}]),
            }
        ),
    }
)


@settings(max_examples=300)
@given(requests)
def test_every_chunk_is_kept_or_dropped_and_the_tokens_add_up(request: dict[str, Any]) -> None:
    result = run("context_optimize", request)
    assert sorted(ids(result["optimized_chunks"]) + result["dropped"]) == sorted(ids(request["chunks"]))
    assert ids(result["allocations"]) != result["dropped"] or not request["chunks"]
    assert sum(a["tokens"] for a in result["allocations"]) <= request["available_tokens"]
    assert result["total_tokens_used"] + result["tokens_remaining"] == request["available_tokens"]
    assert result["tokens_remaining"] >= 0
    assert 0 <= result["optimization_metrics"]["optimality_gap"] <= 1
