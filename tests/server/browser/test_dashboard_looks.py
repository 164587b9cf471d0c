"""How it looks: both themes, a phone's width, no serious violation that axe finds, the images of the docs."""

from __future__ import annotations

from typing import Literal

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, ViewportSize, expect

from server.browser.visits import IMAGES, PATIENCE, SCREENSHOTS, Service

Theme = Literal["light", "dark"]
THEMES: tuple[Theme, ...] = ("light", "dark")
BAD = ("serious", "critical")
DESKTOP: ViewportSize = {"width": 1360, "height": 900}
PHONE: ViewportSize = {"width": 390, "height": 844}


@pytest.fixture(scope="module")
def session(service: Service) -> str:
    service.talk("release-notes", ["Draft the notes for 4.3.", "Shorter, please."])
    service.talk("support-triage", [f"Ticket {n}: cannot sign in." for n in range(24)])
    size = {"messages": 361, "builds": 40} if SCREENSHOTS else {"messages": 150, "builds": 6}
    return service.demo("login-service", preset="foveal", **size)


def opened(browser: Browser, service: Service, session: str, *, theme: Theme, size: ViewportSize) -> Page:
    context = browser.new_context(color_scheme=theme, viewport=size, reduced_motion="reduce")
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    page.goto(service.page(session))
    expect(page.locator("#window-about")).to_contain_text("of 16,000 tokens")
    expect(page.locator("#diff")).to_contain_text("Since build")
    page.get_by_role("option").filter(has_text="message").nth(3).click()
    expect(page.locator("#detail .message").first).to_be_visible()
    return page


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_axe_finds_no_serious_violation(
    browser: Browser, service: Service, session: str, theme: Theme, size: ViewportSize
) -> None:
    page = opened(browser, service, session, theme=theme, size=size)
    page.get_by_role("button", name="Compare presets").click()
    expect(page.locator("#presets tbody tr")).to_have_count(7)
    page.locator("#charts summary").first.click()
    found = Axe().run(page).response["violations"]
    page.context.close()
    assert [(each["id"], each["nodes"][0]["html"]) for each in found if each["impact"] in BAD] == []


def test_the_theme_of_the_system_is_taken_and_can_be_changed(
    browser: Browser, service: Service, session: str
) -> None:
    page = opened(browser, service, session, theme="dark", size=DESKTOP)
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    page.get_by_role("button", name="Use the light theme").click()
    expect(page.locator("html")).to_have_attribute("data-theme", "light")
    page.reload()
    expect(page.locator("html")).to_have_attribute("data-theme", "light")
    page.context.close()


def test_a_phone_shows_everything_without_scrolling_sideways(
    browser: Browser, service: Service, session: str
) -> None:
    page = opened(browser, service, session, theme="light", size=PHONE)
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    for part in ("#numbers", "#strip", "#chunks", "#detail", "#slider", "#charts", "#presets-title"):
        page.locator(part).scroll_into_view_if_needed()
        expect(page.locator(part)).to_be_in_viewport()
    page.context.close()


@pytest.mark.skipif(not SCREENSHOTS, reason="pictures are made with FOVEAL_SCREENSHOTS=1")
@pytest.mark.parametrize(
    ("name", "theme", "size"),
    [("light", "light", DESKTOP), ("dark", "dark", DESKTOP), ("phone", "light", PHONE)],
)
def test_the_pictures_of_the_docs_are_made(
    browser: Browser, service: Service, session: str, name: str, theme: Theme, size: ViewportSize
) -> None:
    page = opened(browser, service, session, theme=theme, size=size)
    page.evaluate("scrollTo(0, 0); document.activeElement.blur()")
    page.screenshot(path=IMAGES / f"dashboard-{name}.png", full_page=name != "phone")
    page.context.close()
