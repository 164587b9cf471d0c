"""What the registry promises for every operation."""

from __future__ import annotations

import json
from typing import Any

import pytest

from foveal import operations
from foveal.errors import InputError, NotFoundError
from foveal.operations import REGISTRY
from foveal.operations.examples import EXAMPLES

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


def test_optimizing_and_building_have_events() -> None:
    assert [each.name for each in REGISTRY.operations if each.events] == OPTIMIZING


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
