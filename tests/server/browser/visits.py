"""A service, a page of another origin and a browser: what the tests of the dashboard are made of."""

from __future__ import annotations

import os
import shutil
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import uvicorn
from playwright.sync_api import Page

from foveal import config
from foveal.cli.demo import script
from foveal.server.app import create_app
from foveal.server.settings import Serving, hashed
from foveal.server.tenants import setup_of

DOCS = Path(__file__).parents[3] / "docs"
IMAGES = DOCS / "images"
SCREENSHOTS = os.environ.get("FOVEAL_SCREENSHOTS") == "1"
PATIENCE = 30_000
"""Milliseconds: a slow machine is not a wrong page."""
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip


def chromium() -> str | None:
    """A browser of the machine's; None lets Playwright look for its own."""
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


class Service:
    """A running server and what a client does with it."""

    def __init__(self, url: str, token: str = "") -> None:
        self.url = url
        key = {"Authorization": f"Bearer {token}"} if token else {}
        self._client = httpx.Client(base_url=f"{url}/api/v1", headers=key, timeout=60)

    def close(self) -> None:
        self._client.close()

    def get(self, path: str, **query: object) -> Any:
        answer = self._client.get(path, params={name: str(value) for name, value in query.items()})
        assert answer.is_success, answer.text
        return answer.json()

    def post(self, path: str, **body: object) -> Any:
        answer = self._client.post(path, json=body)
        assert answer.is_success, answer.text
        return answer.json()

    def delete(self, path: str) -> None:
        assert self._client.delete(path).is_success

    def of(self, session: str) -> str:
        return f"/sessions/{quote(session, safe='')}"

    def demo(self, session: str, *, messages: int = 120, builds: int = 4, preset: str = "recent") -> str:
        """The first messages of the bundled session, with a window built now and then."""
        history = list(script.messages())[:messages]
        self.post("/sessions", name=session, model="gpt-5", preset=preset)
        step = -(-len(history) // builds)
        for start in range(0, len(history), step):
            self.post(f"{self.of(session)}/messages/import", messages=history[start : start + step])
            self.post(f"{self.of(session)}/build", budget=16_000)
        return session

    def talk(self, session: str, words: list[str], *, budget: int = 8_000) -> str:
        """A session of the user's words alone, and a window of it."""
        self.post("/sessions", name=session, model="gpt-5", preset="recent")
        said = [{"role": "user", "content": each} for each in words]
        self.post(f"{self.of(session)}/messages/import", messages=said, format="openai")
        self.post(f"{self.of(session)}/build", budget=budget)
        return session

    def page(self, session: str) -> str:
        return f"{self.url}/#session={quote(session, safe='')}"


def until(page: Page, expression: str) -> None:
    """Wait for it; not with `wait_for_function`, whose `eval` the page's policy forbids."""
    deadline = time.monotonic() + PATIENCE / 1000
    while not page.evaluate(expression):
        assert time.monotonic() < deadline, expression
        page.wait_for_timeout(50)


@contextmanager
def serving(store: Path, origins: tuple[str, ...] = (), token: str = "") -> Iterator[Service]:
    """The real service on a free port of this machine, for as long as it is needed."""
    with socket.create_server(("127.0.0.1", 0)) as place:
        url = f"http://127.0.0.1:{place.getsockname()[1]}"
        loaded = config.load({"store": str(store)}, {}, store.parent)
        tokens = {hashed(token): "default"} if token else {}
        app = create_app(setup_of(loaded, Serving(allowed_origins=origins, tokens=tokens)))
        server = uvicorn.Server(uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=1))
        thread = threading.Thread(target=partial(server.run, sockets=[place]))
        thread.start()
        while not server.started:
            time.sleep(0.02)
        service = Service(url, token)
        try:
            yield service
        finally:
            service.close()
            server.should_exit = True
            thread.join()


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        """Nothing: what a test asks for is no news."""


@contextmanager
def elsewhere(folder: Path) -> Iterator[str]:
    """A folder served from another origin."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
