"""Every route with the text in each field, parameter and header, through the whole app in this process."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

from starlette.testclient import TestClient

from entry_points.library import in_result
from entry_points.stories import SMALLER, Step, Story
from foveal import config
from foveal.server.app import bare_app, create_app
from foveal.server.openapi import openapi_document
from foveal.server.settings import Serving
from foveal.server.tenants import setup_of

JSON = dict[str, Any]
API = "/api/v1"
KNOWN = {"name": "work", "number": "1", "operation": "tokens_count"}
IN_URL = 60_000
"""Characters of a URL and of the headers: the server refuses more of them before the app sees the request."""
WITHOUT_TEXT = {
    "GET /api/v1/events": "a stream that does not end",
    "GET /health": "no parameters",
    "GET /ready": "no parameters",
    "GET /metrics": "no parameters",
}


@cache
def document() -> JSON:
    found: JSON = openapi_document(bare_app(_setup(Path())))
    return found


def _setup(folder: Path) -> Any:
    # A store in memory, so that this process does all the work.
    return setup_of(config.load({"store": ":memory:", "embedder": "none"}, {}, folder), Serving())


@contextmanager
def service(folder: Path) -> Iterator[TestClient]:
    with TestClient(create_app(_setup(folder)), base_url="http://localhost") as client:
        messages = {"messages": in_result("AssertionError in src/a.py")}
        client.post(f"{API}/sessions/work/messages/import", json=messages)
        client.post(f"{API}/sessions/work/build", json={"budget": 900})
        yield client


def _fields(route: JSON) -> Iterator[tuple[str, str]]:
    """Where in a request a text may be, and the name there."""
    for each in route.get("parameters", ()):
        yield each["in"], each["name"]
    if "requestBody" in route:
        yield from (("body", name) for name in _properties(route))
        yield "body", "*"


def _body(route: JSON) -> JSON:
    found: JSON = route.get("requestBody", {}).get("content", {}).get("application/json", {})
    return found


def _properties(route: JSON) -> JSON:
    schema = _body(route).get("schema", {})
    found: JSON = _resolved(schema).get("properties", {})
    return found


def _resolved(schema: JSON) -> JSON:
    named = schema.get("$ref", "").rpartition("/")[2]
    found: JSON = document()["components"]["schemas"][named] if named else schema
    return found


def _types(schema: JSON) -> set[str]:
    inner = _resolved(schema)
    return {inner.get("type", "")}.union(*(_types(each) for each in inner.get("anyOf", ())))


def _sent(method: str, path: str, route: JSON, where: str, name: str) -> Step:
    def step(client: TestClient, text: str) -> None:
        known = dict(KNOWN)
        headers, params, body = {}, {}, dict(_body(route).get("example") or {})
        match where:
            case "path":
                known[name] = _quoted(text)
            case "query":
                params[name] = text[: IN_URL // 12]
            case "header":
                headers[name] = _quoted(text)
            case _:
                body.pop(_EXCLUDED.get((path, name)), None)
                body[text if name == "*" else name] = _filled(_properties(route).get(name, {}), name, text)
        url = path
        for each in {part[1:-1] for part in path.split("/") if part.startswith("{")}:
            url = url.replace(f"{{{each}}}", known.get(each, "m1"))
        sent = {"json": body} if _body(route) else {}
        client.request(method, url, params=params, headers=headers, **sent)

    return step


def _quoted(text: str) -> str:
    return quote(text.encode("utf-8", "replace")[:IN_URL], safe="")[:IN_URL].rstrip("%")


def _filled(schema: JSON, name: str, text: str) -> Any:
    """A value of the field with the text in it."""
    types = _types(schema)
    if name in ("messages", "history"):
        return in_result(text)
    if "string" in types or not types & {"array", "object"}:
        return text
    return [text] if "array" in types else {text: text}


def _steps() -> Iterator[tuple[str, Step]]:
    for path, methods in document()["paths"].items():
        for method, route in methods.items():
            entry = f"{method.upper()} {path}"
            if entry not in WITHOUT_TEXT:
                for where, name in _fields(route):
                    yield f"{entry}: {where}, {name}", _sent(method, path, route, where, name)


def _with_body(client: TestClient, text: str, whole: str) -> None:
    client.post(f"{API}/fit", content=whole.replace("TEXT", text).encode(), headers=_JSON)


def _with_header(client: TestClient, text: str, name: str) -> None:
    client.post(f"{API}/fit", headers={name: _quoted(text)}, content=b"{}")


_JSON = {"content-type": "application/json"}
_EXCLUDED: dict[tuple[str, str], str] = {(f"{API}/count", "messages"): "text"}
"""Fields of an example that exclude another field."""
HEADERS = (
    "authorization",
    "host",
    "origin",
    "traceparent",
    "tracestate",
    "accept",
    "cookie",
    "content-type",
    "content-length",
)
BODIES = ("TEXT", '{"messages": TEXT}', '{"messages": "TEXT"}', '[{"TEXT": ')
ROUTES = (
    Story(
        name="routes",
        place=service,
        sizes=SMALLER,
        steps={
            **dict(_steps()),
            "no route: path": lambda client, text: client.get(f"/{_quoted(text)}"),
            "no route: method": lambda client, text: client.request(_quoted(text), f"{API}/sessions"),
            **{f"any route: body {whole}": partial(_with_body, whole=whole) for whole in BODIES},
            **{f"any route: {name}": partial(_with_header, name=name) for name in HEADERS},
        },
    ),
)
