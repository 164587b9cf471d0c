"""Admit a request with its tenant, or refuse it before its body is read.

Checks the host, then the origin, then the token, by the raw path alone. A page on another origin reaches
only the pages, the widget and `/health`: even an answer that it may not read would cost work. A host name
that was rebound to this machine (DNS rebinding) gets nothing.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator
from urllib.parse import quote, unquote

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from foveal.server.problems import Problem
from foveal.server.settings import LOOPBACK, Serving

API = "/api/v1/"
WIDGET = "/widget.js"
TENANT = "foveal.tenant"
"""The key of the ASGI scope that has the tenant's name."""
EVERYBODY = ""
"""Instead of a tenant's name: the operator's token was sent."""
_SAFE = ("GET", "HEAD")
_WORKING = ("/api/", "/metrics", "/ready")
"""The beginnings of the paths whose answers cost work or show data."""
_HOST = re.compile(r"(?P<name>\[[0-9a-f:.]{2,45}\]|[a-z0-9_.-]{1,253})(?::\d{1,5})?")
_PAGE = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
    "base-uri 'none'; frame-ancestors 'none'; form-action 'none'"
)
_DATA = "default-src 'none'; frame-ancestors 'none'"
_METHODS = "GET, POST, PUT, DELETE"
_REQUEST_HEADERS = "authorization, content-type, last-event-id"


class Guard:
    """The outermost middleware."""

    def __init__(self, app: ASGIApp, serving: Serving, tenant: str) -> None:
        self._app = app
        self._serving = serving
        self._tenant = tenant

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        scope["path"] = _quoted_path(scope)
        origin = headers.get("origin", "")
        allowed = origin.lower() if origin.lower() in self._serving.allowed_origins else ""
        send = _with_headers(send, scope["path"], allowed)
        try:
            self._check(scope, headers, origin)
            if scope["method"] == "OPTIONS" and "access-control-request-method" in headers:
                await _preflight(headers)(scope, receive, send)
                return
            scope[TENANT] = self._authenticate(scope, headers)
        except Problem as problem:
            await problem.response()(scope, receive, send)
            return
        await self._app(scope, receive, send)

    def _check(self, scope: Scope, headers: Headers, origin: str) -> None:
        host = self._host(headers)
        checked = scope["method"] not in _SAFE or scope["path"].startswith(_WORKING)
        if not checked or origin.lower() in self._serving.allowed_origins:
            return
        foreign = origin and origin.lower() not in (f"http://{host}", f"https://{host}")
        unnamed = not origin and headers.get("sec-fetch-site", "") in ("cross-site", "same-site")
        if foreign or unnamed:
            raise Problem(
                "forbidden",
                "the request comes from a page of another origin",
                "add its origin to `allowed_origins` in `[serve]`, if you trust it",
            )

    def _host(self, headers: Headers) -> str:
        """The `Host` of the request, if it names this server."""
        given = [value.lower() for value in headers.getlist("host")]
        found = _HOST.fullmatch(given[0]) if len(given) == 1 else None
        name = found["name"].strip("[]") if found else ""
        known = name in LOOPBACK or name in self._serving.hosts or name == self._serving.host.lower()
        # An IP address cannot be rebound: a client that uses it has reached it.
        if name and (known or (not self._serving.loopback and _is_address(name))):
            return given[0]
        raise Problem(
            "misdirected", "the `Host` is not a name of this server", "add it to `hosts` in `[serve]`"
        )

    def _authenticate(self, scope: Scope, headers: Headers) -> str:
        """The tenant of the token; that of the settings where no token is required."""
        path = scope["path"]
        if not self._serving.tokens or not (path.startswith(API) or path == "/metrics"):
            return self._tenant
        scheme, _, token = headers.get("authorization", "").partition(" ")
        token = token.strip() if scheme.lower() == "bearer" else ""
        if path == "/metrics" and self._serving.reads_metrics(token):
            return EVERYBODY
        found = self._serving.tenant_of(token) if token else None
        if found is not None:
            return found
        raise Problem(
            "unauthorized",
            "the token is missing or unknown",
            "send `Authorization: Bearer TOKEN`",
            headers={"www-authenticate": "Bearer"},
        )


def _quoted_path(scope: Scope) -> str:
    """The path with the slashes and percent signs inside its segments still quoted.

    A session's name may contain them; the route unquotes it.
    """
    raw: bytes = scope.get("raw_path") or quote(scope["path"]).encode()
    return "/".join(_segments(raw.decode("latin-1").partition("?")[0]))


def _segments(raw: str) -> Iterator[str]:
    for segment in raw.split("/"):
        yield unquote(segment).replace("%", "%25").replace("/", "%2F")


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _preflight(headers: Headers) -> Response:
    response = Response(status_code=204)
    if headers.get("access-control-request-private-network"):
        response.headers["access-control-allow-private-network"] = "true"
    response.headers["access-control-allow-methods"] = _METHODS
    response.headers["access-control-allow-headers"] = _REQUEST_HEADERS
    response.headers["access-control-max-age"] = "600"
    return response


def _with_headers(send: Send, path: str, allowed: str) -> Send:
    """Add the security headers to every response."""

    async def with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            page = headers.get("content-type", "").startswith("text/html")
            headers["content-security-policy"] = _PAGE if page else _DATA
            headers["x-content-type-options"] = "nosniff"
            headers["referrer-policy"] = "no-referrer"
            headers["cross-origin-resource-policy"] = "cross-origin" if path == WIDGET else "same-origin"
            headers.setdefault("cache-control", "no-store")
            if page:
                headers["cross-origin-opener-policy"] = "same-origin"
            headers.add_vary_header("Origin")
            if allowed:
                headers["access-control-allow-origin"] = allowed
        await send(message)

    return with_headers
