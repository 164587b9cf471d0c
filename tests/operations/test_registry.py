"""What the registry promises for every operation."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from foveal import Foveal, operations
from foveal.errors import ConfigError, InputError, NotFoundError
from foveal.events import Event, Reported
from foveal.operations import REGISTRY
from foveal.operations.examples import EXAMPLES
from foveal.session.inspect.builds import events_after, latest_event

NAMES = [each.name for each in REGISTRY.operations]
CODED = [each for each in REGISTRY.operations if each.code]


def test_names_and_codes_are_unique() -> None:
    assert len(set(NAMES)) == len(NAMES)
    assert len({each.code for each in CODED}) == len(CODED)


@pytest.mark.parametrize("name", NAMES)
def test_every_operation_says_what_it_is_takes_and_gives(name: str) -> None:
    found = operations.schema(name)
    assert found["about"]
    assert {found["request"]["type"], found["result"]["type"]} == {"object"}
    json.dumps(found)


@pytest.mark.parametrize("name", NAMES)
def test_the_example_of_an_operation_runs_and_is_in_its_schema(name: str) -> None:
    example = operations.schema(name)["example"]
    assert operations.run(name, example)
    assert operations.example(name) == example == json.loads(json.dumps(example))


def test_an_example_is_the_callers_own_to_change() -> None:
    operations.example("history_prune")["messages"].clear()
    operations.schema("history_prune")["example"]["messages"].clear()
    assert operations.example("history_prune")["messages"]


def test_there_is_an_example_for_each_operation_and_for_no_other() -> None:
    assert sorted(EXAMPLES) == sorted(NAMES)


@pytest.mark.parametrize("name", [name for name in NAMES if name != "window_fit"])  # takes any request body
def test_every_operation_refuses_a_field_it_does_not_know_by_its_name(name: str) -> None:
    required = operations.schema(name)["request"].get("required", [])
    with pytest.raises(InputError) as failure:
        operations.run(name, {"unknown_field": 1})
    assert any(f"`{field}`" in failure.value.what for field in (*required, "unknown_field"))
    assert f"`foveal op {name} --schema`" in failure.value.remedy


@pytest.mark.parametrize("operation", CODED, ids=lambda each: each.name)
def test_a_code_finds_what_the_name_finds_in_either_case(operation: operations.Operation) -> None:
    assert operations.find(operation.code) is operations.find(operation.name)
    assert operations.find(operation.code.upper()) is operation


def test_a_code_is_a_number_too() -> None:
    assert operations.find(0x3211).name == operations.schema(0x3211)["name"] == "context_estimate_business"
    assert operations.run(0x3211, {"text": "x" * 42}) == {"tokens": 10, "density": 4.2}
    with pytest.raises(NotFoundError, match="there is no operation '0x0321'"):
        operations.find(0x321)


OPTIMIZING = [name for name in NAMES if name == "context_optimize" or name.startswith("context_build_")]
SILENT = {
    "context_calculate_metrics",
    "context_allocation_to_chunk",
    "context_compare_allocations",
    "context_filter_allocated",
}


def test_the_operations_of_omar_have_the_events_of_its_design() -> None:
    omar = [each for each in REGISTRY.operations if each.name.startswith("context_")]
    assert {each.name for each in omar if each.events is None} == SILENT
    assert [each.name for each in omar if each.on_failure == "context.optimization.failed"] == OPTIMIZING


@pytest.mark.parametrize("name", OPTIMIZING)
def test_events_agree_with_the_result(name: str) -> None:
    chunks = [
        {"id": "talk", "content": "hello", "type": "chat_history_user"},
        {"id": "deal", "content": "a deal", "type": "rag_generic_chunk", "metadata": {"urgency": "high"}},
        {"id": "ask", "content": "and?", "type": "current_user_prompt", "tokens": 3},
    ]
    request = {"chunks": chunks, "available_tokens": 2_004, "user_id": "u"}
    done = operations.run(name, request)
    events: dict[str, Any] = dict(operations.events(name, request))
    assert events["context.optimization.success"] == {
        "optimization_id": done["optimization_id"],
        "tokens_used": done["total_tokens_used"],
        "chunks_optimized": len(done["optimized_chunks"]),
        "chunks_count": len(done["optimized_chunks"]) + done["chunks_dropped"],
        "chunks_dropped": done["chunks_dropped"],
        "tokens_available": 2_004,
        "user_id": "u",
    }
    assert sorted(events["context.chunks_dropped"]["chunk_ids"]) == sorted(done["dropped"])
    json.dumps(events)


def test_other_operations_have_no_events_and_validate_their_requests() -> None:
    assert operations.events("tokens_count", {"text": "hello"}) == []
    with pytest.raises(InputError, match="`unknown_field`"):
        operations.events("tokens_count", {"text": "hello", "unknown_field": 1})


def test_an_unknown_name_is_not_found() -> None:
    with pytest.raises(NotFoundError, match="there is no operation 'context_optimise'"):
        operations.run("context_optimise", {})


# settings


def test_the_request_takes_precedence_over_the_settings_and_those_over_the_defaults() -> None:
    request = {"text": "x" * 42}
    numbers = {"omar": {"densities": {"general": 2.0}}}
    assert operations.run("context_estimate_general", request, numbers=numbers)["tokens"] == 21
    assert operations.run("context_estimate_general", request)["tokens"] == 12
    given = request | {"content_type": "business"}
    assert operations.run("context_estimate_general", given, numbers=numbers)["density"] == 4.2


def test_wrong_settings_are_refused_by_name() -> None:
    with pytest.raises(ConfigError, match="unknown number `density`"):
        operations.run("context_estimate_general", {"text": "x"}, numbers={"omar": {"density": 1}})


def test_run_in_uses_the_settings_of_the_store_and_stores_the_events(tmp_path: Path) -> None:
    heard: list[Event] = []
    with Foveal(tmp_path / "f.db", numbers={"omar": {"densities": {"code": 7.0}}}) as fov:
        fov.subscribe(heard.append)
        done = operations.run_in(fov, 0x3212, {"text": "x" * 42})
        (event,) = heard
        (logged,) = events_after(fov, after=0, limit=10)
    assert done == {"tokens": 6, "density": 7.0}
    assert isinstance(event, Reported)
    assert json.loads(logged.payload) == event.payload
    assert {**event.payload, "trace_id": "", "duration_ms": 0} == {
        "count": 1,
        "chunks": [{"tokens": 6, "density": 7.0}],
        "operation": "context_estimate_code",
        "trace_id": "",
        "duration_ms": 0,
    }


def test_a_run_without_events_stores_nothing(tmp_path: Path) -> None:
    with Foveal(tmp_path / "f.db") as fov:
        operations.run_in(fov, "tokens_count", {"text": "hello"})
        with pytest.raises(InputError):
            operations.run_in(fov, "tokens_count", {})
        assert latest_event(fov) == 0


TALK = [{"role": "user", "content": f"{n} the quick brown fox"} for n in range(5)]
FAILURE = [{"role": "user", "content": text} for text in ("the error is here", *"abcdefgh", "and now?")]
LONG = [{"role": "user", "content": "word " * 4_000}] * 10
ENTRY = {"content": "x", "tokens": 60, "type": "tool_output"}
SITUATION = operations.example("layers_negotiate")


@pytest.mark.parametrize(
    ("name", "request_", "numbers"),
    [
        ("levels_plan", {"entries": [ENTRY], "total": 1_000}, {"fifth": {"verbose_tokens": 50}}),
        ("entries_score", {"entries": [ENTRY], "task": "x"}, {"fifth": {"relevance_weight": 0.9}}),
        ("session_analyze", {"messages": TALK}, {"penguin": {"shares": {"DIALOG": 0.2}}}),
        ("session_trim", {"messages": TALK, "max_tokens": 90}, {"penguin": {"shares": {"DIALOG": 0.2}}}),
        (
            "budget_report",
            operations.example("budget_report"),
            {"penguin": {"weights": {"PROJECT_DOCS": 0.9}}},
        ),
        ("layers_negotiate", SITUATION, {"openscroll": {"history_max_share": 0.1}}),
        ("history_score", {"messages": FAILURE}, {"reploid": {"error": 0}}),
        ("history_prune", {"messages": FAILURE, "max_tokens": 40}, {"reploid": {"error": 100}}),
        ("history_prune", {"messages": LONG}, {"reploid": {"target": 0.1}}),
        ("history_auto_manage", {"messages": LONG}, {"reploid": {"target": 0.1}}),
        ("history_stats", {"messages": LONG}, {"reploid": {"target": 0.1}}),
        ("history_summarize", {"messages": TALK * 3}, {"reploid": {"keep": 2}}),
        (
            "window_fit",
            {"messages": FAILURE, "budget": 50, "preset": "reploid"},
            {"reploid": {"error": 0}},
        ),
    ],
)
def test_settings_of_other_presets_apply_too(name: str, request_: Any, numbers: Any) -> None:
    assert operations.run(name, request_, numbers=numbers) != operations.run(name, request_)


def test_what_a_history_loses_is_reported_without_its_text() -> None:
    pruned = operations.run("history_prune", {"messages": TALK, "max_tokens": 25})
    ((name, payload),) = operations.events("history_prune", {"messages": TALK, "max_tokens": 25})
    stats = pruned["stats"]
    assert (name, payload["original"], payload["final"]) == (
        "context:pruned",
        stats["original"],
        stats["final"],
    )
    assert (payload["removed"], payload["token_reduction"]) == (3, stats["original"] - stats["final"])
    assert operations.events("history_auto_manage", {"messages": TALK}) == []
    summarized = operations.events("history_summarize", {"messages": TALK, "keep": 2})
    assert summarized == [("context:summarized", {"summarized": 3, "kept": 2})]
