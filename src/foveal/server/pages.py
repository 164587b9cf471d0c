"""Serve the files that ship with the package: the dashboard, the widget, the list of routes.

A requested name is looked up among the files that exist, never joined to a folder.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from importlib.resources.abc import Traversable

from fastapi import APIRouter, Request
from starlette.responses import Response

from foveal.server.problems import Problem

router = APIRouter(include_in_schema=False)
TYPES = {
    "css": "text/css; charset=utf-8",
    "html": "text/html; charset=utf-8",
    "ico": "image/x-icon",
    "js": "text/javascript; charset=utf-8",
    "json": "application/json",
    "png": "image/png",
    "svg": "image/svg+xml",
    "woff2": "font/woff2",
}
ROUTES_PAGE = "docs.html"


@dataclass(frozen=True, slots=True, kw_only=True)
class File:
    content: bytes
    type: str
    tag: str


@lru_cache(maxsize=1)
def _names() -> dict[str, Traversable]:
    """Every file that is served, by its path below `listing` or `static`."""
    here = resources.files("foveal.server")
    return dict(_walk(here / "listing", "")) | dict(_walk(here / "static", ""))


def _walk(folder: Traversable, prefix: str) -> list[tuple[str, Traversable]]:
    found: list[tuple[str, Traversable]] = []
    for each in folder.iterdir() if folder.is_dir() else ():
        name = prefix + each.name
        if each.is_dir():
            found += _walk(each, name + "/")
        elif name.rpartition(".")[2] in TYPES:
            found.append((name, each))
    return found


def _file(name: str) -> File:
    file = _names().get(name)
    if file is None:
        raise Problem("not-found", "there is no such page", "`/` is the dashboard, `/docs` lists the routes")
    content = file.read_bytes()
    tag = f'"{hashlib.sha256(content).hexdigest()[:20]}"'
    return File(content=content, type=TYPES[name.rpartition(".")[2]], tag=tag)


def _respond(request: Request, name: str) -> Response:
    file = _file(name)
    headers = {"etag": file.tag, "cache-control": "no-cache"}
    if file.tag in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers, media_type=file.type)
    return Response(file.content, headers=headers, media_type=file.type)


@router.api_route("/", methods=["GET", "HEAD"])
def index(request: Request) -> Response:
    return _respond(request, "index.html")


@router.api_route("/widget.js", methods=["GET", "HEAD"])
def widget(request: Request) -> Response:
    return _respond(request, "widget.js")


@router.api_route("/docs", methods=["GET", "HEAD"])
def docs(request: Request) -> Response:
    return _respond(request, ROUTES_PAGE)


@router.api_route("/static/{name:path}", methods=["GET", "HEAD"])
def static(request: Request, name: str) -> Response:
    return _respond(request, name)
