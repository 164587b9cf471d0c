"""The app in → its OpenAPI document, with examples, and a problem document for every fault."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from foveal.server.examples import ASKED, TOLD
from foveal.server.problems import MEDIA_TYPE

PROBLEM: dict[str, Any] = {
    "type": "object",
    "description": "What went wrong, and what to do about it (RFC 9457).",
    "properties": {
        "type": {"type": "string", "format": "uri"},
        "title": {"type": "string"},
        "status": {"type": "integer", "minimum": 400, "maximum": 599},
        "detail": {"type": "string"},
        "remedy": {"type": "string"},
        "field": {"type": "string", "description": "The field at fault, where there is one."},
    },
    "required": ["type", "title", "status", "detail", "remedy"],
    "example": {
        "type": "urn:foveal:problem:not-found",
        "title": "Not found",
        "status": 404,
        "detail": "there is no session 'fix-auth'",
        "remedy": "`GET /api/v1/sessions` lists them; `POST /api/v1/sessions` makes one",
    },
}


def described(app: FastAPI) -> dict[str, Any]:
    """Made once; FastAPI keeps it."""
    if app.openapi_schema is None:
        found = get_openapi(
            title=app.title, version=app.version, description=app.description, routes=app.routes
        )
        schemas = found.setdefault("components", {}).setdefault("schemas", {})
        for name in ("HTTPValidationError", "ValidationError"):
            schemas.pop(name, None)
        schemas["Problem"] = PROBLEM
        found["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
        for path, methods in found["paths"].items():
            for method, route in methods.items():
                _with_problems(route, path)
                _with_examples(route, f"{method.upper()} {path.removeprefix('/api/v1')}")
        app.openapi_schema = found
    return app.openapi_schema


def _with_problems(route: dict[str, Any], path: str) -> None:
    route["responses"].pop("422", None)
    schema = {"$ref": "#/components/schemas/Problem"}
    route["responses"]["default"] = {
        "description": "A problem",
        "content": {MEDIA_TYPE: {"schema": schema}},
    }
    if path.startswith("/api/"):
        route["security"] = [{}, {"token": []}]


def _with_examples(route: dict[str, Any], name: str) -> None:
    answers = [answer for status, answer in route["responses"].items() if status.startswith("2")]
    bodies = [route["requestBody"]] if "requestBody" in route else []
    for examples, places in ((ASKED, bodies), (TOLD, answers)):
        for place in places:
            content = place.get("content", {}).get("application/json")
            if content is not None and name in examples:
                content["example"] = examples[name]
