"""Turn every error into a problem document (RFC 9457) with a remedy.

Errors of the library name their numbers and the field; an internal error shows no internals.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response

from foveal.errors import (
    NAME_MOST,
    REMEDY_MOST,
    BudgetError,
    ConfigError,
    FovealError,
    InputError,
    NotFoundError,
    See,
    StoreError,
    StoreTimeoutError,
    UpstreamError,
    shortened,
)
from foveal.validation import place, wording

MEDIA_TYPE = "application/problem+json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    name: str
    title: str
    status: int


KINDS = {
    kind.name: kind
    for kind in (
        Kind(name="malformed", title="Malformed", status=400),
        Kind(name="unauthorized", title="A token is needed", status=401),
        Kind(name="forbidden", title="Forbidden", status=403),
        Kind(name="not-found", title="Not found", status=404),
        Kind(name="method-not-allowed", title="Method not allowed", status=405),
        Kind(name="conflict", title="Already there", status=409),
        Kind(name="too-large", title="Too large", status=413),
        Kind(name="media-type", title="Not JSON", status=415),
        Kind(name="misdirected", title="Not this server", status=421),
        Kind(name="input", title="Cannot be understood", status=422),
        Kind(name="budget", title="Does not fit", status=422),
        Kind(name="config", title="Invalid setting", status=422),
        Kind(name="busy", title="Too many requests", status=429),
        Kind(name="internal", title="Internal error", status=500),
        Kind(name="upstream", title="A model did not answer", status=502),
        Kind(name="store", title="The store cannot be used", status=503),
        Kind(name="timeout", title="Took too long", status=504),
    )
}
_ERRORS: tuple[tuple[type[FovealError], str], ...] = (
    (InputError, "input"),
    (BudgetError, "budget"),
    (NotFoundError, "not-found"),
    (ConfigError, "config"),
    (StoreTimeoutError, "timeout"),
    (StoreError, "store"),
    (UpstreamError, "upstream"),
)
_BY_STATUS = {kind.status: kind.name for kind in reversed(KINDS.values())}
_REMEDIES = {
    400: "send JSON, in UTF-8",
    404: "`/docs` lists the routes",
    405: "use a method that the header `Allow` names",
    413: "send it in several requests",
}
_SEE: dict[See, str] = {
    "sessions": "`GET /api/v1/sessions` lists them",
    "pools": "`GET /api/v1/pools` lists them",
    "messages": "`GET …/messages` gives ids and handles",
    "operations": "`GET /api/v1/operations` names them all",
    "schemas": "`GET /api/v1/operations/{operation}` shows what it takes",
    "profile": "`GET /api/v1/profile` lists them with their ids",
    "tasks": "`POST …/tasks` begins one with the next message",
}
"""The remedy for errors that refer to another call: the route that makes it here."""


class Problem(Exception):  # noqa: N818 — RFC 9457 calls it that
    """A request that the service itself refuses."""

    def __init__(
        self,
        kind: str,
        detail: str,
        remedy: str,
        *,
        field: str = "",
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(kind, detail)
        self.kind = KINDS[kind]
        self.detail = shortened(detail)
        self.remedy = shortened(remedy, REMEDY_MOST)
        self.field = shortened(field, NAME_MOST)
        self.headers = dict(headers or {})

    def response(self) -> Response:
        document = {
            "type": f"urn:foveal:problem:{self.kind.name}",
            "title": self.kind.title,
            "status": self.kind.status,
            "detail": self.detail,
            "remedy": self.remedy,
        }
        if self.field:
            document["field"] = self.field
        return Response(
            json.dumps(document).encode(), self.kind.status, media_type=MEDIA_TYPE, headers=self.headers
        )


def internal() -> Problem:
    return Problem("internal", "the server failed", "try again; the log of the server has the cause")


def problem_of(error: FovealError) -> Problem:
    """The problem document for an error of the library."""
    kind = next((name for each, name in _ERRORS if isinstance(error, each)), "internal")
    headers = {"retry-after": "1"} if kind == "store" else None
    remedy = _SEE.get(error.see, error.remedy)
    return Problem(kind, error.what, remedy, field=error.field, headers=headers)


def response_to(error: Problem | FovealError | RequestValidationError) -> Response:
    """The response for an error that a route raised."""
    match error:
        case Problem():
            return error.response()
        case FovealError():
            return problem_of(error).response()
        case _:
            return _invalid(error).response()


def install(app: FastAPI) -> None:
    """Make every error of the app a problem document."""

    @app.exception_handler(Problem)
    async def refused(_: Request, error: Problem) -> Response:
        return response_to(error)

    @app.exception_handler(FovealError)
    async def raised_by_library(_: Request, error: FovealError) -> Response:
        return response_to(error)

    @app.exception_handler(RequestValidationError)
    async def invalid(_: Request, error: RequestValidationError) -> Response:
        return response_to(error)

    @app.exception_handler(HTTPException)
    async def http(_: Request, error: HTTPException) -> Response:
        name = _BY_STATUS.get(error.status_code, "malformed")
        remedy = _REMEDIES.get(error.status_code, "`/docs` lists the routes")
        detail = {404: "there is no such route", 405: "the route has other methods"}
        what = detail.get(error.status_code, str(error.detail))
        return Problem(name, what, remedy, headers=error.headers).response()

    @app.exception_handler(Exception)
    async def unexpected(_: Request, __: Exception) -> Response:
        return internal().response()


def _invalid(error: RequestValidationError) -> Problem:
    """Name the first field that is wrong and what it should be; values are never repeated."""
    first, *more = error.errors()
    part, *steps = first["loc"]
    if first["type"] == "json_invalid":
        return _malformed(first["ctx"]["error"], steps[0])
    field = place(steps)
    detail = f"`{field or part}` {wording(first)}{' (and more)' if more else ''}"
    remedy = "`/docs` says what the route takes"
    if field in TOKENS and first["type"].startswith("int"):
        remedy = "give the number of tokens as a JSON number, as in 8000"
    return Problem("input", detail, remedy, field=field)


def _malformed(why: str, at: int) -> Problem:
    if why == TOO_LONG:
        return Problem("malformed", why, "write it as text")
    what = why if why in NOT_JSON else "the body is not JSON"
    return Problem("malformed", what, f"correct it at character {at:,}")


TOKENS = ("budget", "max_tokens")
TOO_LONG = "a number has too many digits"
NOT_JSON = tuple(f"{name} is not JSON" for name in ("NaN", "Infinity", "-Infinity"))
