"""Text in any field of the API comes back as data: no browser takes an answer for a page."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest

from server.browser.payloads import payloads
from serving import Served

PAYLOADS = list(payloads())
KNOWN = "hostile fields"
_log = logging.getLogger(__name__)
ENDLESS = "/api/v1/events"
DATA = {"application/json", "application/problem+json", "application/x-ndjson", "text/plain"}


@pytest.fixture(scope="module")
def document(service: Served) -> Any:
    service.post(f"/sessions/{quote(KNOWN)}/messages", {"role": "user", "text": "hello"})
    service.post(f"/sessions/{quote(KNOWN)}/build", {"budget": 1_000})
    return service.client.get("/openapi.json").json()


def fields(document: Any) -> Iterator[tuple[str, str, str, str]]:
    """Every place for a text: the method, the path, where in the request, and its name."""
    for path, methods in document["paths"].items():
        for method, route in methods.items():
            if path == ENDLESS:
                continue
            for each in route.get("parameters", ()):
                if "string" in types(document, each["schema"]):
                    yield method, path, each["in"], each["name"]
            content = route.get("requestBody", {}).get("content", {}).get("application/json", {})
            for name, schema in resolved(document, content.get("schema", {})).get("properties", {}).items():
                if types(document, schema) & {"string", "array", "object"}:
                    yield method, path, "body", name


def resolved(document: Any, schema: Any) -> Any:
    found = schema.get("$ref", "").rpartition("/")[2]
    return document["components"]["schemas"][found] if found else schema


def types(document: Any, schema: Any) -> set[str]:
    each = resolved(document, schema)
    return {each.get("type", "")}.union(*(types(document, some) for some in each.get("anyOf", ())))


def asked(document: Any, field: tuple[str, str, str, str], payload: str) -> dict[str, Any]:
    """A request that is as it should be but for one field."""
    method, path, where, named = field
    route = document["paths"][path][method]
    content = route.get("requestBody", {}).get("content", {}).get("application/json", {})
    schema = resolved(document, content.get("schema", {})).get("properties", {}).get(named, {})
    body = content.get("example")
    if where == "body":
        kinds = types(document, schema)
        value: Any = payload if "string" in kinds else [payload] if named != "messages" else said(payload)
        body = {**(body or {}), named: {payload: payload} if kinds == {"object"} else value}
    url = path.replace("{name}", quote(KNOWN)).replace("{number}", "1")
    if where == "path":
        url = path.replace(f"{{{named}}}", quote(payload, safe=""))
    for other in ("name", "number", "handle", "id", "operation"):
        url = url.replace(f"{{{other}}}", {"name": quote(KNOWN), "operation": "count"}.get(other, "m1"))
    params = {named: payload} if where == "query" else {}
    headers = {named: quote(payload)} if where == "header" else {}
    return {"method": method, "url": url, "params": params, "headers": headers, "json": body}


def said(payload: str) -> list[dict[str, str]]:
    return [{"role": "user", "content": payload, "name": payload}]


def tried(service: Served, document: Any, *, step: int) -> int:
    """Say one payload of `step` in each field, each field its own ones; how many requests that took."""
    requests = 0
    for at, field in enumerate(fields(document)):
        for payload in PAYLOADS[at % step :: step]:
            answer = service.client.request(**asked(document, field, payload))
            requests += 1
            assert answer.status_code < 500, (field, payload, answer.text)
            assert answer.headers["content-type"].partition(";")[0] in DATA, (field, payload)
            assert answer.headers["x-content-type-options"] == "nosniff"
            assert answer.headers["content-security-policy"].startswith("default-src 'none'")
    return requests


def test_what_any_field_says_is_answered_as_data(service: Served, document: Any) -> None:
    assert tried(service, document, step=100) > 300


@pytest.mark.soak
@pytest.mark.skipif("FOVEAL_SOAK" not in os.environ, reason="takes minutes; set FOVEAL_SOAK=1")
def test_so_is_every_payload_in_every_field(service: Served, document: Any) -> None:
    requests = tried(service, document, step=1)
    _log.info("%d requests to %d fields", requests, requests // len(PAYLOADS))
    assert requests == len(PAYLOADS) * len(list(fields(document)))
