"""A browser, a service and a page for each test; skipped where there is no browser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Error, Page, expect, sync_playwright

from server.browser.visits import FLAGS, PATIENCE, Service, chromium, elsewhere, serving


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    # Not for the whole run: while Playwright runs, no other test can have an event loop in this thread.
    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as playwright:
        try:
            found = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
        except Error as error:
            pytest.skip(f"no Chromium found: {error.message.splitlines()[0]}")
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
    """A page whose errors and violations of the security policy fail the test."""
    errors: list[str] = []
    context = browser.new_context(viewport={"width": 1360, "height": 900}, color_scheme="light")
    context.set_default_timeout(PATIENCE)
    context.on("weberror", lambda error: errors.append(str(error.error)))
    context.on("console", lambda message: errors.extend(_errors(message)))
    found = context.new_page()
    yield found
    context.close()
    assert errors == []


def _errors(message: ConsoleMessage) -> list[str]:
    """The errors of the page itself; it reports a server that does not answer on its own."""
    own = message.type == "error" and not message.text.startswith("Failed to load resource")
    return [message.text] if own else []
