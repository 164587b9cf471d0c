"""The service is what its OpenAPI document says: whatever is asked, the answer is in shape and no fault."""

from __future__ import annotations

import os
from typing import Any

import jsonschema_rs
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from house.tree import DOCS
from serving import Served

CASES = 60 if "FOVEAL_SOAK" in os.environ else 8
"""For each route; there are about sixty."""
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]
KNOWN = "known"
"""A session with messages and builds, which every other case asks for."""
ENDLESS = "/api/v1/events"
GROUPS = ["sessions and messages", "windows", "memory", "what there is", "the server"]


@pytest.fixture(scope="module")
def schema(service: Served) -> Any:
    for text in ("hello", "the port is 8081", "and the host is db-7"):
        service.post(f"/sessions/{KNOWN}/messages", {"role": "user", "text": text})
        service.post(f"/sessions/{KNOWN}/build", {"budget": 1_000})
    return schemathesis.openapi.from_url(f"{service.address}/openapi.json").exclude(path=ENDLESS)


@pytest.mark.parametrize("group", GROUPS)
def test_every_answer_fits_its_schema(schema: Any, group: str) -> None:
    asked: list[str] = []
    for operation in schema.include(tag=group).get_all_operations():
        _tried(operation.ok(), asked)
    assert len(asked) >= len(set(asked)) > 0


def _tried(operation: Any, asked: list[str]) -> None:
    @settings(
        max_examples=CASES,
        phases=(Phase.explicit, Phase.generate),
        suppress_health_check=list(HealthCheck),
        deadline=None,
        database=None,
    )
    @given(case=operation.as_strategy(), known=st.booleans())
    def fits(case: Any, known: bool) -> None:
        asked.append(operation.label)
        if known and case.method != "DELETE" and "name" in case.path_parameters:
            case.path_parameters["name"] = KNOWN
        case.call_and_validate(checks=CHECKS)

    fits()


def test_every_route_is_on_the_page(service: Served) -> None:
    page = (DOCS / "reference" / "http.md").read_text(encoding="utf-8")
    paths = service.client.get("/openapi.json").json()["paths"]
    assert [path for path in paths if path.rpartition("/")[2].strip("{}") not in page] == []


def test_every_example_fits_the_schema_beside_it(service: Served) -> None:
    document = service.client.get("/openapi.json").json()
    contents = [
        place["content"]["application/json"]
        for methods in document["paths"].values()
        for route in methods.values()
        for place in (route.get("requestBody", {}), *route["responses"].values())
        if "application/json" in place.get("content", {})
    ]
    shown = [each for each in contents if "example" in each]
    for each in shown:
        whole = {**each["schema"], "components": document["components"]}
        jsonschema_rs.validate(whole, each["example"])
    assert len(shown) > 50
