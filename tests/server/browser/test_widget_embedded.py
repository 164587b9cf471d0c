"""The widget in a page of another origin: what it shows and reports, and that it leaves nothing behind."""

from __future__ import annotations

import re
from itertools import count
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from server.browser.visits import DOCS, IMAGES, SCREENSHOTS, Service, elsewhere, until

WIDGET = "document.querySelector('context-manager-widget')"
_numbers = count()


@pytest.fixture
def session(service: Service) -> str:
    """Its window is four fifths full and more."""
    words = [f"{n} " + "word " * 60 for n in range(40)]
    return service.talk(f"full-{next(_numbers)}", words, budget=1_000)


def embedded(service: Service, session: str) -> str:
    """A page with a policy of its own: nothing but the one script, and calls to the one server."""
    policy = f"default-src 'none'; script-src {service.url}; connect-src {service.url}"
    script = f'<script src="{service.url}/widget.js"></script>'
    return (
        f'<!doctype html><title>An app</title><meta http-equiv="Content-Security-Policy" content="{policy}">'
        f'{script}{script}<context-manager-widget session="{session}"></context-manager-widget>'
    )


@pytest.fixture
def app(page: Page, service: Service, session: str, origin: str, folder: Path) -> Page:
    """A foreign page with the widget in it, which has heard of the session."""
    (folder / "app.html").write_text(embedded(service, session), encoding="utf-8")
    page.goto(f"{origin}/app.html")
    until(page, f"{WIDGET}.getStatus().state === 'warning'")
    return page


def test_it_shows_messages_tokens_of_the_limit_and_utilisation(app: Page) -> None:
    status = app.evaluate(f"{WIDGET}.getStatus()")
    cards = app.locator("context-manager-widget .card")
    expect(cards.nth(0)).to_contain_text("40")
    expect(cards.nth(1)).to_contain_text(f"{status['primaryMetric'].removesuffix(' tokens')} of 1,000")
    expect(cards.nth(2)).to_contain_text(status["secondaryMetric"].removesuffix(" used"))
    expect(app.get_by_role("progressbar")).to_be_visible()
    expect(app.locator("context-manager-widget")).to_contain_text(
        "Above 80% windows are managed automatically"
    )


def test_above_80_percent_it_warns_and_says_that_the_window_manages_itself(app: Page) -> None:
    widget = app.locator("context-manager-widget")
    expect(widget.locator(".state")).to_have_text("over 80% used")
    expect(widget.locator(".banner")).to_contain_text("stays within its budget by itself")
    expect(widget.get_by_role("button", name="Prune")).to_be_visible()


def test_its_status_is_made_for_a_host_that_lists_many_widgets(app: Page) -> None:
    status = app.evaluate(f"{WIDGET}.getStatus()")
    assert set(status) == {"state", "primaryMetric", "secondaryMetric", "lastActivity", "message"}
    assert re.fullmatch(r"[\d,]+ tokens", status["primaryMetric"])
    assert re.fullmatch(r"\d+% used", status["secondaryMetric"])
    assert status["message"] == "Needs pruning"
    names = ("displayName", "icon", "category", "updateInterval")
    kind = [app.evaluate(f"{WIDGET}.constructor.{name}") for name in names]
    assert kind == ["Context Manager", "▤", "context", 3000]


def test_pruning_reports_how_many_messages_it_removed(app: Page, service: Service, session: str) -> None:
    app.get_by_role("button", name="Prune").click()
    app.get_by_role("button", name=re.compile(r"Prune \d+ messages")).click()
    said = app.locator("context-manager-widget .said")
    expect(said).to_contain_text(re.compile(r"Removed \d+ messages"))
    absent = service.get(f"{service.of(session)}/stats")["absent"]
    expect(said).to_contain_text(f"Removed {absent} messages")


def test_it_says_what_would_be_pruned_before_it_prunes(app: Page, service: Service, session: str) -> None:
    app.get_by_role("button", name="Prune").click()
    said = app.locator("context-manager-widget .said")
    expect(said).to_have_text(re.compile(r"^\d+ messages would leave the window; .* Prune\?$"))
    assert service.get(f"{service.of(session)}/stats")["absent"] == 0


def test_what_it_said_would_be_pruned_lapses_when_the_session_changes(
    app: Page, service: Service, session: str
) -> None:
    app.get_by_role("button", name="Prune").click()
    expect(app.get_by_role("button", name=re.compile(r"Prune \d+ messages"))).to_be_visible()
    service.post(f"{service.of(session)}/messages", role="user", text="One more")
    expect(app.get_by_role("button", name="Prune", exact=True)).to_be_visible()


def test_events_bring_it_up_to_date(app: Page, service: Service, session: str) -> None:
    service.post(f"{service.of(session)}/messages", role="user", text="One more")
    expect(app.locator("context-manager-widget .card").first).to_contain_text("41")


def test_a_session_with_room_is_active_and_one_without_tokens_is_idle(app: Page, service: Service) -> None:
    roomy = service.talk(f"roomy-{next(_numbers)}", ["Hello"])
    app.evaluate(f"{WIDGET}.setAttribute('session', '{roomy}')")
    until(app, f"{WIDGET}.getStatus().state === 'active'")
    assert app.evaluate(f"{WIDGET}.getStatus().message") == "Healthy"
    expect(app.get_by_role("button", name="Prune")).to_be_hidden()
    service.post("/sessions", name="bare", model="gpt-5", preset="recent")
    app.evaluate(f"{WIDGET}.setAttribute('session', 'bare')")
    until(app, f"{WIDGET}.getStatus().state === 'idle'")


def test_without_the_event_stream_it_looks_every_3_seconds(app: Page) -> None:
    looks: list[str] = []
    app.route("**/events", lambda route: route.abort())
    app.on("request", lambda request: looks.append(request.url) if request.url.endswith("/stats") else None)
    app.evaluate(f"{WIDGET}.setAttribute('token', 'unused')")
    app.wait_for_timeout(7_500)
    assert 2 <= len(looks) <= 4


def test_once_removed_it_asks_nothing_and_is_forgotten(app: Page, service: Service, session: str) -> None:
    app.evaluate(f"window.gone = new WeakRef({WIDGET}); {WIDGET}.remove()")
    asked: list[str] = []
    app.on("request", lambda request: asked.append(request.url))
    service.post(f"{service.of(session)}/messages", role="user", text="Nobody listens")
    app.wait_for_timeout(4_000)
    app.context.new_cdp_session(app).send("HeapProfiler.collectGarbage")
    assert asked == []
    assert app.evaluate("window.gone.deref() === undefined")


def test_an_origin_that_is_not_allowed_learns_nothing(
    browser: Browser, service: Service, session: str, tmp_path: Path
) -> None:
    (tmp_path / "app.html").write_text(embedded(service, session), encoding="utf-8")
    page = browser.new_page()
    with elsewhere(tmp_path) as stranger:
        page.goto(f"{stranger}/app.html")
        until(page, f"{WIDGET}.getStatus().state === 'error'")
        expect(page.locator("context-manager-widget .card").first).to_contain_text("0")
        page.close()


def test_the_page_in_the_docs_shows_it(
    browser: Browser, service: Service, origin: str, folder: Path, session: str
) -> None:
    shown = (DOCS / "embed.html").read_text(encoding="utf-8").replace("http://127.0.0.1:8790", service.url)
    (folder / "embed.html").write_text(shown, encoding="utf-8")
    page = browser.new_page()
    page.goto(f"{origin}/embed.html")
    expect(page.locator("#status")).to_contain_text('"message": "Needs pruning"')
    expect(page.locator("context-manager-widget h2")).to_have_text(session)
    page.close()


@pytest.mark.skipif(not SCREENSHOTS, reason="pictures are made with FOVEAL_SCREENSHOTS=1")
def test_the_picture_of_the_docs_is_made(app: Page) -> None:
    app.locator("context-manager-widget").screenshot(path=IMAGES / "widget.png")
