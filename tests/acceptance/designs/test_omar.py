"""OMAR's context window manager, as its design walks through it: over HTTP, on a real server, in order."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from commands import CommandLine
from foveal import operations
from serving import API, Served, served

NOW = 1_750_000_000
DAY = 86_400
ALLOCATION = {"chunk_id": "a", "tokens": 40, "priority": 150, "chunk_type": "chat_history_user"}
DEAL = {
    "id": "deal",
    "content": "The contract of Acme is worth half a million.",
    "type": "rag_document_chunk",
    "tokens": 600,
    "timestamp": NOW - 5 * DAY,
    "metadata": {
        "revenueImpact": 50_000,
        "urgency": "critical",
        "clientTier": "midMarket",
        "rag_match_metadata": {"relevance": 0.9},
    },
}
CHUNKS = [
    {"id": "system", "content": "You help a sales team.", "type": "system_prompt", "tokens": 50},
    DEAL,
    {"id": "log", "content": "x" * 380, "type": "tool_output"},
    {"id": "old", "content": "Hello.", "type": "chat_history_assistant", "tokens": 900},
    {"id": "ask", "content": "What is Acme worth?", "type": "current_user_prompt", "tokens": 30},
]
OPTIMIZE = {"chunks": CHUNKS, "available_tokens": 2_800, "user_id": "ann", "now": NOW}
BUDGET = {"allocations": [ALLOCATION, ALLOCATION | {"chunk_id": "b"}], "available_tokens": 2_050}
REQUESTS: dict[str, tuple[str, dict[str, Any]]] = {
    "context_optimize": ("0x3200", OPTIMIZE),
    "context_prioritize": ("0x3201", {"chunks": CHUNKS, "now": NOW}),
    "context_allocate_budget": ("0x3202", BUDGET),
    "context_calculate_metrics": ("0x3203", {"allocations": [ALLOCATION]}),
    "context_estimate_tokens": ("0x3210", {"text": "def f():\n    return {}"}),
    "context_estimate_business": ("0x3211", {"text": "x" * 42}),
    "context_estimate_code": ("0x3212", {"text": "x" * 35}),
    "context_estimate_general": ("0x3213", {"text": "x" * 38}),
    "context_chunk_to_allocation": ("0x3220", {"chunk": DEAL, "now": NOW}),
    "context_allocation_to_chunk": (
        "0x3221",
        {"allocation": ALLOCATION | {"chunk_id": "deal"}, "chunks": [DEAL]},
    ),
    "context_compare_allocations": ("0x3222", {"a": ALLOCATION, "b": ALLOCATION | {"priority": 140}}),
    "context_resolve_budget": ("0x3223", BUDGET),
    "context_calculate_recency_boost": ("0x3230", {"chunk": DEAL, "now": NOW}),
    "context_calculate_business_boost": ("0x3231", {"chunk": DEAL}),
    "context_calculate_rag_boost": ("0x3232", {"chunk": DEAL}),
    "context_detect_conflicts": ("0x3240", BUDGET),
    "context_filter_allocated": ("0x3241", BUDGET),
    "context_filter_dropped": ("0x3242", BUDGET),
    "context_build_business": ("0x3250", OPTIMIZE),
    "context_build_llm": ("0x3251", OPTIMIZE),
    "context_build_rag": ("0x3252", OPTIMIZE),
}
Event = tuple[str, Any]


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("omar")) as found:
        yield found


@contextmanager
def stream(service: Served, session: str = "") -> Iterator[Iterator[Event]]:
    """The events of the tenant from now on."""
    asked = service.client.stream("GET", f"{API}/events", params={"session": session})
    with asked as answer:
        lines = answer.iter_lines()
        assert next(lines).startswith("retry:")
        yield _read(lines)


def _read(lines: Iterator[str]) -> Iterator[Event]:
    name = ""
    for line in lines:
        key, _, value = line.partition(": ")
        if key == "event":
            name = value
        elif key == "data":
            yield name, json.loads(value)


def heard(service: Served, operation: str, request: dict[str, Any], count: int) -> list[Event]:
    """The events that an operation leaves on the stream."""
    with stream(service) as events:
        service.client.post(f"{API}/operations/{operation}", json=request)
        return [next(events) for _ in range(count)]


def test_the_walk_through_keeps_the_best_chunks_and_says_what_each_was_worth(service: Served) -> None:
    done = service.post("/operations/context_optimize", OPTIMIZE)
    assert done["optimized_chunks"] == [CHUNKS[0], DEAL, CHUNKS[2], CHUNKS[4]]
    assert (done["total_tokens_used"], done["tokens_remaining"]) == (2_730, 70)
    assert (done["chunks_dropped"], done["dropped"]) == (1, ["old"])
    assert done["conflicts"] == [
        {
            "chunk1": "log",
            "chunk2": "old",
            "conflict_type": "budget_exceeded",
            "resolution": "keep_chunk1",
        }
    ]
    deal = next(each for each in done["allocations"] if each["chunk_id"] == "deal")
    assert deal["priority"] == 120 + 15 + 18 + 20
    assert deal["flags"] == ["high_business_relevance", "urgent", "requires_summarization"]
    spans = [tuple(each["token_span"]) for each in done["allocations"]]
    assert spans == [(0, 50), (50, 80), (80, 680), (680, 780)]
    assert done["optimization_metrics"] == {
        "prioritization_score": (200 + 190 + 173 + 170) / 4,
        "business_relevance_boost": 20 / 4,
        "recency_boost": 15 / 4,
        "optimality_gap": pytest.approx(0.0, abs=0.2),
    }


def test_the_walk_through_leaves_its_events_in_order_and_its_record(service: Served) -> None:
    found = heard(service, "context_optimize", OPTIMIZE | {"session_id": "acme"}, 10)
    assert [name for name, _ in found] == [
        "context.optimization.started",
        "context.tokens_estimated",
        "context.allocations_created",
        "context.recency_boost_applied",
        "context.business_boost_applied",
        "context.rag_boost_applied",
        "context.budget.resolved",
        "context.chunks_dropped",
        "context.conflict_detected",
        "context.optimization.success",
    ]
    assert len({data["trace_id"] for _, data in found}) == 1
    success = found[-1][1]
    record = service.get("/optimizations", limit=1)["optimizations"][0]
    assert (record["number"] > 0, record["created_at"] > NOW) == (True, True)
    assert {name: record[name] for name in success} == success
    assert record | success == record
    assert (record["user_id"], record["session"], record["operation"]) == ("ann", "acme", "context_optimize")
    assert (record["chunks_count"], record["chunks_optimized"], record["chunks_dropped"]) == (5, 4, 1)
    assert (record["tokens_used"], record["tokens_available"]) == (2_730, 2_800)
    assert len(record["trace_id"]) == 32
    assert record["duration_ms"] >= 0


EVENTS: dict[str, tuple[str, dict[str, Any]]] = {
    "context.tokens_estimated": ("context_estimate_business", {"chunks": [{"tokens": 10, "density": 4.2}]}),
    "context.allocations_created": ("context_chunk_to_allocation", {"count": 1}),
    "context.recency_boost_applied": (
        "context_calculate_recency_boost",
        {"chunks": [{"chunk_id": "deal", "total_boost": 15.0, "timestamp": NOW - 5 * DAY}]},
    ),
    "context.business_boost_applied": (
        "context_calculate_business_boost",
        {
            "chunks": [
                {
                    "chunk_id": "deal",
                    "total_boost": 20.0,
                    "revenue_boost": 5.0,
                    "urgency_boost": 25.0,
                    "client_tier_boost": 8.0,
                }
            ]
        },
    ),
    "context.rag_boost_applied": (
        "context_calculate_rag_boost",
        {"chunks": [{"chunk_id": "deal", "total_boost": 18.0}]},
    ),
    "context.budget.resolved": (
        "context_resolve_budget",
        {"allocated_count": 1, "dropped_count": 1, "tokens_used": 2_040, "tokens_remaining": 10},
    ),
    "context.chunks_dropped": ("context_filter_dropped", {"count": 1, "chunk_ids": ["b"]}),
    "context.conflict_detected": (
        "context_detect_conflicts",
        {
            "conflicts": [
                {
                    "chunk1": "a",
                    "chunk2": "b",
                    "conflict_type": "priority_conflict",
                    "resolution": "keep_chunk1",
                }
            ]
        },
    ),
    "context.optimization.started": ("context_build_llm", {"chunks_count": 5, "tokens_available": 2_800}),
}


@pytest.mark.parametrize("name", EVENTS)
def test_each_event_of_the_design_is_on_the_stream(service: Served, name: str) -> None:
    operation, payload = EVENTS[name]
    ((found, data),) = heard(service, operation, REQUESTS[operation][1], 1)
    assert (found, data["operation"]) == (name, operation)
    assert data | payload == data


@pytest.mark.parametrize("operation", ["context_optimize", "context_build_rag"])
def test_an_optimization_that_fails_says_so(service: Served, operation: str) -> None:
    ((name, data),) = heard(service, operation, OPTIMIZE | {"available_tokens": -1}, 1)
    assert name == "context.optimization.failed"
    assert (data["error"], data["operation"]) == ("InputError", operation)
    assert "`available_tokens`" in data["what"]


def test_a_window_that_cannot_be_made_says_so(service: Served) -> None:
    path = session(service, "tiny")
    with stream(service, "tiny") as events:
        service.client.post(f"{API}{path}/build", json={"budget": 5, "preset": "omar"})
        name, data = next(events)
    assert (name, data["error"], data["operation"]) == (
        "context.optimization.failed",
        "BudgetError",
        "build",
    )


def test_there_are_21_operations() -> None:
    known = {each.name: each.code for each in operations.REGISTRY.operations if each.code}
    assert known == {name: code for name, (code, _) in REQUESTS.items()}


@pytest.mark.parametrize("name", REQUESTS)
def test_every_operation_answers_by_name_and_by_code_over_http_and_on_the_command_line(
    service: Served, tmp_path: Path, name: str
) -> None:
    code, request = REQUESTS[name]
    expected = operations.run(name, request)
    shell = CommandLine(folder=tmp_path)
    for called in (name, code):
        assert service.post(f"/operations/{called}", request) == expected
        assert shell.foveal("op", called, stdin=json.dumps(request)).json == expected


def test_the_command_line_leaves_the_same_events_for_the_stream(service: Served) -> None:
    shell = CommandLine(folder=service.store.parent)
    with stream(service) as events:
        shell.foveal("op", "0x3231", stdin=json.dumps({"chunk": DEAL}))
        assert next(events)[0] == "context.business_boost_applied"


SAID = [
    {
        "role": "assistant",
        "content": f"Account {n} asked for an offer, and we sent it on Monday.",
        "timestamp": NOW,
    }
    for n in range(6)
]


def session(service: Served, name: str, **changes: Any) -> str:
    """A session in which one of six equal messages has something of its own."""
    messages = [*SAID[:2], SAID[2] | changes, *SAID[3:], {"role": "user", "content": "Which one?"}]
    path = f"/sessions/{quote(name, safe='')}"
    service.post(f"{path}/messages/import", {"messages": messages})
    return path


def kept(window: Any) -> list[int]:
    decisions = window["manifest"]["decisions"]
    return [at for each in decisions if each["verdict"] == "kept" for at in range(each["first"], 6)][:1]


@pytest.mark.parametrize(
    "fields",
    [
        {"metadata": {"clientTier": "midMarket"}},
        {"metadata": {"client_tier": "mid_market"}},
        {"metadata": {"revenueImpact": 80_000}},
        {"metadata": {"dealStatus": "negotiation"}},
        {"metadata": {"relationshipStage": "initial"}},
        {"metadata": {"rag_match_metadata": {"relevance": 0.4}}},
        {"priority": 141},
    ],
    ids=str,
)
def test_business_fields_relevance_and_priority_change_a_window(
    service: Served, fields: dict[str, Any]
) -> None:
    name = json.dumps(fields)
    budget = {"budget": 60, "preset": "omar"}
    plain = service.post(f"{session(service, f'without {name}')}/build", budget)
    window = service.post(f"{session(service, name, **fields)}/build", budget)
    assert (kept(plain), kept(window)) == ([0], [2])


def test_a_window_leaves_the_same_events_and_a_record_and_shows_the_flags(service: Served) -> None:
    path = session(service, "flags", metadata={"revenueImpact": 10_000, "urgency": "urgent"})
    with stream(service, "flags") as events:
        window = service.post(f"{path}/build", {"budget": 60, "preset": "omar"})
        names = [next(events)[0] for _ in range(9)]
    assert (names[0], names[-2:]) == (
        "context.optimization.started",
        ["context.optimization.success", "window.built"],
    )
    flagged = {each["first"]: each["flags"] for each in window["manifest"]["decisions"] if each["flags"]}
    assert flagged == {2: ["high_business_relevance", "urgent"]}
    stored = service.get(f"{path}/manifest")["decisions"]
    assert {each["first"]: each["flags"] for each in stored if each["flags"]} == flagged
    record = service.get("/optimizations", limit=1)["optimizations"][0]
    assert (record["operation"], record["session"], record["user_id"]) == ("build", "flags", None)
    assert record["optimization_id"] == window["manifest"]["record"]["optimization_id"]
    assert record["trace_id"] == window["manifest"]["record"]["trace_id"]


def test_a_large_request_leaves_its_events_too(service: Served) -> None:
    long = [{"id": f"c{n}", "content": "x" * 30_000, "type": "rag_generic_chunk"} for n in range(100)]
    found = heard(service, "context_build_llm", OPTIMIZE | {"chunks": long, "session_id": "large"}, 4)
    assert [name for name, _ in found][1:3] == ["context.tokens_estimated", "context.allocations_created"]
    assert service.get("/optimizations", limit=1)["optimizations"][0]["session"] == "large"


def test_records_are_listed_latest_first_a_page_at_a_time(service: Served) -> None:
    for user in ("one", "two", "three"):
        service.post("/operations/context_optimize", OPTIMIZE | {"user_id": user})
    first = service.get("/optimizations", limit=2)
    second = service.get("/optimizations", limit=1, before=first["next"])
    users = [each["user_id"] for each in (*first["optimizations"], *second["optimizations"])]
    assert users == ["three", "two", "one"]


def test_a_deleted_session_takes_its_records_with_it(service: Served) -> None:
    session(service, "leaves")
    service.post("/operations/context_optimize", OPTIMIZE | {"session_id": "leaves"})
    service.client.delete(f"{API}/sessions/leaves")
    listed = service.get("/optimizations", limit=500)["optimizations"]
    assert "leaves" not in {each["session"] for each in listed}


def test_the_settings_of_the_service_apply_to_operations(tmp_path: Path) -> None:
    (tmp_path / "foveal.toml").write_text(
        "[presets.omar]\nreserve = 0\nlong = 30\n[presets.omar.densities]\nbusiness = 2.0\n"
    )
    with served(tmp_path) as service:
        assert service.post("/operations/0x3211", {"text": "x" * 42})["tokens"] == 21
        done = service.post("/operations/context_optimize", OPTIMIZE | {"available_tokens": 800})
        assert done["total_tokens_used"] == 780
        assert "requires_summarization" in done["allocations"][0]["flags"]
        own = OPTIMIZE | {"constraints": {"reserve_tokens": 2_000}}
        assert service.post("/operations/context_optimize", own)["total_tokens_used"] == 2_730
