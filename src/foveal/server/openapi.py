"""Build the OpenAPI document, with example requests and responses, and problems as the default response."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from foveal.server.problems import MEDIA_TYPE

_HANDLE = "fv-419a705c617a56b77c45"
_SESSION = {
    "name": "fix-auth",
    "messages": 361,
    "format": "openai",
    "model": "gpt-5",
    "preset": "foveal",
    "created_at": 1794813021.3,
}
_MESSAGES = [{"role": "user", "content": "Fix the bug in auth.js"}]
_ROW = {
    "place": 1,
    "id": "m2",
    "handle": _HANDLE,
    "role": "user",
    "kind": None,
    "priority": None,
    "private": False,
    "tokens": 68,
    "mark": "",
    "created_at": 1794813021.7,
    "text": "Since release 4.2 about one login in fifty fails.",
}
_DECISION = {
    "first": 0,
    "last": 0,
    "verdict": "kept",
    "code": "system_prompt",
    "tokens": 38,
    "because": "system prompt",
    "brief": "",
    "numbers": {},
    "detail": "full",
    "score": None,
    "slot": "",
}
_PARTS = {"framing": 3, "system": 38, "history": 7889, "open turn": 25}
_MANIFEST = {
    "preset": "foveal",
    "counter": "o200k_base",
    "budget": 16000,
    "tokens": 7955,
    "parts": _PARTS,
    "decisions": [_DECISION],
    "notes": [],
    "repairs": [],
    "warnings": [],
    "slots": [],
    "conflicts": [],
    "metrics": {"refocused": 0.0, "duration_ms": 1.4},
    "record": {"branch": "1", "session": "fix-auth", "trace_id": "9f0c1d2e3b4a59687716253443526170"},
    "retrieved": [],
    "contributed": [],
    "costs": None,
}
_WINDOW = {"messages": _MESSAGES, "system": None, "tokens": 7955, "budget": 16000, "manifest": _MANIFEST}
_REMOVAL = {"ids": ["m2", "m3"], "original": 155153, "final": 29950, "summary": "", "unreached": ""}
_MEMORY = {
    "id": "memory-3",
    "kind": "preference",
    "text": "I like short answers.",
    "origin": "user",
    "confirmed": True,
    "session": "",
    "created_at": 1794813021.3,
    "updated_at": 1794813021.3,
}
_BUILT = {
    "number": 7,
    "created_at": 1794813028.9,
    "preset": "foveal",
    "model": "gpt-5",
    "budget": 16000,
    "tokens": 7955,
    "percent": 49.7,
    "messages": 361,
    "kept": 214,
    "left_out": 147,
    "parts": _PARTS,
    "slots": [],
    "milliseconds": 12.4,
    "refocused": False,
    "requested": True,
    "managed": None,
    "unmanaged": None,
}
_HIT = {
    "id": "m2",
    "handle": _HANDLE,
    "session": "fix-auth",
    "role": "user",
    "score": 12.5,
    "text": "Since release 4.2 about one login in fifty fails.",
    "created_at": 1794813021.7,
    "parts": {"keyword": 5.6, "vector": 4.9},
}

_OPTIMIZATION = {
    "number": 912,
    "created_at": 1794813028.9,
    "optimization_id": "5d1c0f6a3b7e4c2d9f8a1b2c3d4e5f60",
    "operation": "context_optimize",
    "user_id": "ann",
    "session": "fix-auth",
    "chunks_count": 15,
    "chunks_optimized": 12,
    "chunks_dropped": 3,
    "tokens_used": 7955,
    "tokens_available": 8000,
    "duration_ms": 1.4,
    "trace_id": "9f0c1d2e3b4a59687716253443526170",
}
_POOL = {
    "name": "repo",
    "budget": 24000,
    "agents": [
        {
            "session": "fix-auth",
            "tokens": 12000,
            "because": "12,000 of the 24,000 tokens of pool repo, divided among 2 agents: …",
        }
    ],
}
REQUESTS: dict[str, Any] = {
    "POST /sessions": {"name": "fix-auth", "model": "gpt-5"},
    "POST /sessions/{name}/fork": {"name": "fix-auth-2", "messages": 40},
    "POST /sessions/{name}/messages": {"role": "user", "text": "Fix the bug in auth.js"},
    "POST /sessions/{name}/messages/import": {"messages": _MESSAGES},
    "POST /sessions/{name}/pin": {"id": "m2"},
    "POST /sessions/{name}/unpin": {"id": "m2"},
    "POST /sessions/{name}/forget": {"id": "m2", "keep": True},
    "POST /sessions/{name}/restore": {"id": "m2"},
    "POST /sessions/{name}/prune": {"max_tokens": 30000},
    "POST /sessions/{name}/compress": {"max_tokens": 30000},
    "POST /sessions/{name}/summarize": {"keep": 10},
    "POST /sessions/{name}/build": {"budget": 16000, "model": "gpt-5"},
    "POST /fit": {"messages": _MESSAGES, "budget": 8000, "model": "gpt-5"},
    "POST /count": {"text": "Fix the bug in auth.js", "model": "gpt-5"},
    "POST /sessions/{name}/compare": {"budget": 8000, "presets": ["recent", "omar"]},
    "POST /compare": {"messages": _MESSAGES, "budget": 8000},
    "POST /sessions/{name}/replay": {"preset": "recent", "budget": 8000},
    "POST /sessions/{name}/focus": {"question": "What grace period did we settle on?", "budget": 2000},
    "POST /sessions/{name}/tasks": {"name": "fix the login"},
    "PUT /pools/{pool}": {"budget": 24000},
    "POST /pools/{pool}/join": {"session": "fix-auth"},
    "POST /pools/{pool}/leave": {"session": "fix-auth"},
    "POST /context": {"workspace": "/home/me/project", "task": "fix the login"},
    "POST /sessions/{name}/context": {"workspace": "/home/me/project"},
    "POST /profile": {"text": "I like short answers."},
    "PUT /profile/{id}": {"text": "I like long answers."},
    "POST /profile/{id}/rename": {"name": "the login"},
    "POST /presence": {"active_conversation": "fix-auth"},
    "POST /operations/{operation}": {"text": "hello"},
}
"""Example request bodies by route."""

RESPONSES: dict[str, Any] = {
    "GET /sessions": [_SESSION],
    "POST /sessions": _SESSION,
    "GET /sessions/{name}": _SESSION,
    "POST /sessions/{name}/fork": _SESSION | {"name": "fix-auth-2", "messages": 40},
    "DELETE /sessions/{name}": {"name": "fix-auth", "change": "deleted"},
    "GET /sessions/{name}/messages": {"messages": [_ROW], "total": 361, "next": 2},
    "POST /sessions/{name}/messages": {"id": "m362"},
    "POST /sessions/{name}/messages/import": {
        "format": "openai",
        "messages": 1,
        "stored": 1,
        "ids": ["m363"],
    },
    "GET /sessions/{name}/recall/{handle}": _MESSAGES[0],
    "POST /sessions/{name}/pin": {"id": "m2", "mark": "pinned"},
    "POST /sessions/{name}/unpin": {"id": "m2", "mark": "unpinned"},
    "POST /sessions/{name}/forget": {"id": "m2", "mark": "left out", "ids": ["m2"]},
    "POST /sessions/{name}/restore": {"id": "m2", "mark": "restored", "ids": ["m2"]},
    "POST /sessions/{name}/prune": _REMOVAL,
    "POST /sessions/{name}/compress": _REMOVAL | {"summary": "The login was looked into."},
    "POST /sessions/{name}/summarize": _REMOVAL | {"summary": "The login was looked into."},
    "POST /sessions/{name}/build": _WINDOW,
    "POST /fit": {"messages": _MESSAGES, "tokens": 11, "budget": 8000, "manifest": _MANIFEST},
    "POST /count": {"tokens": 6, "exact": True, "error_bound": 0.0, "tokenizer": "o200k_base"},
    "GET /sessions/{name}/builds": {"builds": [_BUILT], "next": None},
    "GET /sessions/{name}/manifest": _MANIFEST,
    "GET /sessions/{name}/explain": _MANIFEST,
    "GET /sessions/{name}/builds/{number}/notes": {
        "number": 7,
        "notes": [
            {"kind": "log", "first": 1, "last": 337, "tokens": 4210, "text": "Log of messages 2–338 …"}
        ],
    },
    "GET /sessions/{name}/builds/{number}/chunks": {
        "number": 7,
        "total": 361,
        "chunks": [
            _ROW
            | {
                "verdict": "kept",
                "detail": "full",
                "slot": "",
                "code": "open_turn",
                "because": "open turn",
                "score": None,
            }
        ],
    },
    "GET /sessions/{name}/search": [_HIT],
    "GET /search": [_HIT],
    "POST /sessions/{name}/focus": _WINDOW,
    "POST /sessions/{name}/tasks": {"number": 1, "name": "fix the login"},
    "POST /sessions/{name}/tasks/complete": {"summary": "Fixed the login.", "replaced": ["m2", "m3"]},
    "GET /pools": [_POOL],
    "PUT /pools/{pool}": _POOL,
    "DELETE /pools/{pool}": {"name": "repo", "change": "deleted"},
    "POST /pools/{pool}/join": _POOL,
    "POST /pools/{pool}/leave": _POOL,
    "POST /profile": _MEMORY,
    "PUT /profile/{id}": _MEMORY | {"text": "I like long answers.", "change": "edited"},
    "POST /profile/{id}/confirm": _MEMORY | {"change": "confirmed"},
    "POST /profile/{id}/rename": {"id": "thing-12", "change": "renamed"},
    "DELETE /profile/{id}": {"id": "memory-3", "change": "deleted"},
    "GET /profile": {"memories": [_MEMORY], "topics": [], "entities": []},
    "GET /optimizations": {"optimizations": [_OPTIMIZATION], "next": None},
    "GET /health": {"status": "ok", "version": "0.1.0"},
    "GET /ready": {"status": "ready", "version": "0.1.0"},
}
"""Example responses by route."""


PROBLEM: dict[str, Any] = {
    "type": "object",
    "description": "What went wrong, and what to do about it (RFC 9457).",
    "properties": {
        "type": {"type": "string", "format": "uri"},
        "title": {"type": "string"},
        "status": {"type": "integer", "minimum": 400, "maximum": 599},
        "detail": {"type": "string"},
        "remedy": {"type": "string"},
        "field": {"type": "string", "description": "The field that is wrong, where there is one."},
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


def openapi_document(app: FastAPI) -> dict[str, Any]:
    """The document; FastAPI caches it."""
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
    responses = [each for status, each in route["responses"].items() if status.startswith("2")]
    bodies = [route["requestBody"]] if "requestBody" in route else []
    for examples, targets in ((REQUESTS, bodies), (RESPONSES, responses)):
        for target in targets:
            content = target.get("content", {}).get("application/json")
            if content is not None and name in examples:
                content["example"] = examples[name]
