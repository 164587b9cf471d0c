"""A browser, a service and a page for each test; skipped where there is no browser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Error, Page, expect, sync_playwright

from server.browser.visits import FLAGS, PATIENCE, Service, chromium, elsewhere, serving


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    # Not for the whole run: while Playwright is there, nobody else can have an event loop in this thread.
    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as playwright:
        try:
            found = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
        except Error as fault:
            pytest.skip(f"no Chromium to be had: {fault.message.splitlines()[0]}")
        yield found
        found.close()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("elsewhere")


@pytest.fixture(scope="module")
def origin(folder: Path) -> Iterator[str]:
    """Another origin, which the service allows; it serves `folder`."""
    with elsewhere(folder) as address:
        yield address


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory, origin: str) -> Iterator[Service]:
    with serving(tmp_path_factory.mktemp("store") / "foveal.db", (origin,)) as running:
        yield running


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page on which nothing may go wrong unseen: no error, no word of the security policy."""
    faults: list[str] = []
    context = browser.new_context(viewport={"width": 1360, "height": 900}, color_scheme="light")
    context.set_default_timeout(PATIENCE)
    context.on("weberror", lambda error: faults.append(str(error.error)))
    context.on("console", lambda message: faults.extend(_fault(message)))
    found = context.new_page()
    yield found
    context.close()
    assert faults == []


def _fault(message: ConsoleMessage) -> list[str]:
    """What the page did wrong; that a server did not answer is said by the page itself."""
    own = message.type == "error" and not message.text.startswith("Failed to load resource")
    return [message.text] if own else []
