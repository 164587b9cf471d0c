"""The service is what its OpenAPI document says: every response matches it, and none is a server error."""

from __future__ import annotations

import logging
import os
from collections import Counter
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

CASES = 8
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
_log = logging.getLogger(__name__)
GROUPS = ["sessions and messages", "windows", "memory", "catalogue", "the server"]


@pytest.fixture(scope="module")
def schema(service: Served) -> Any:
    for text in ("hello", "the port is 8081", "and the host is db-7"):
        service.post(f"/sessions/{KNOWN}/messages", {"role": "user", "text": text})
        service.post(f"/sessions/{KNOWN}/build", {"budget": 1_000})
    return schemathesis.openapi.from_url(f"{service.address}/openapi.json").exclude(path=ENDLESS)


@pytest.mark.parametrize("group", GROUPS)
def test_every_answer_fits_its_schema(schema: Any, group: str) -> None:
    assert tried(schema.include(tag=group), cases=CASES)


@pytest.mark.soak
@pytest.mark.skipif("FOVEAL_SOAK" not in os.environ, reason="takes minutes; set FOVEAL_SOAK=1")
def test_the_answers_to_two_thousand_requests_fit_too(schema: Any) -> None:
    asked = tried(schema, cases=60)
    _log.info("%d requests to %d routes", asked.total(), len(asked))
    assert asked.total() >= 2_000


def tried(schema: Any, *, cases: int) -> Counter[str]:
    """Ask each route so many things; how many requests were sent to which."""
    asked: Counter[str] = Counter()
    for found in schema.get_all_operations():
        _tried(found.ok(), cases, asked)
    return asked


def _tried(operation: Any, cases: int, asked: Counter[str]) -> None:
    @settings(
        max_examples=cases,
        phases=(Phase.explicit, Phase.generate),
        suppress_health_check=list(HealthCheck),
        deadline=None,
        database=None,
    )
    @given(case=operation.as_strategy(), known=st.booleans())
    def fits(case: Any, known: bool) -> None:
        if known and case.method != "DELETE" and "name" in case.path_parameters:
            case.path_parameters["name"] = KNOWN
        case.call_and_validate(checks=CHECKS)
        asked[operation.label] += 1

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
