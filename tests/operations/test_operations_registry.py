"""What the registry promises of every operation, whoever wrote it."""

from __future__ import annotations

import json

import pytest

from foveal import operations
from foveal.errors import InputError, NotFoundError
from foveal.operations import REGISTRY

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


@pytest.mark.parametrize("name", [name for name in NAMES if name != "window_fit"])  # takes any request body
def test_every_operation_refuses_a_field_it_does_not_know_by_its_name(name: str) -> None:
    required = operations.schema(name)["request"].get("required", [])
    with pytest.raises(InputError) as failure:
        operations.run(name, {"nobody_knows": 1})
    assert any(f"`{field}`" in failure.value.what for field in (*required, "nobody_knows"))
    assert f"`foveal op {name} --schema`" in failure.value.remedy


@pytest.mark.parametrize("operation", CODED, ids=lambda each: each.name)
def test_a_code_finds_what_the_name_finds_in_either_case(operation: operations.Operation) -> None:
    assert operations.find(operation.code) is operations.find(operation.name)
    assert operations.find(operation.code.upper()) is operation


def test_an_unknown_name_is_told_where_the_names_are() -> None:
    with pytest.raises(NotFoundError, match="there is no operation 'context_optimise'"):
        operations.run("context_optimise", {})
