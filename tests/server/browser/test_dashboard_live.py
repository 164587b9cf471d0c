"""What the dashboard shows of a session, and how it follows what happens."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from server.browser.visits import Service, serving

SESSION = "login"


@pytest.fixture(scope="module")
def session(service: Service) -> str:
    return service.demo(SESSION)


def test_it_loads_and_shows_the_numbers_of_the_newest_window(
    page: Page, service: Service, session: str
) -> None:
    page.goto(service.page(session))
    stats = service.get(f"{service.of(session)}/stats")
    expect(page.locator("#title")).to_have_text(session)
    expect(page.locator("#numbers")).to_contain_text(f"{stats['window_tokens']:,}")
    expect(page.locator("#numbers")).to_contain_text(f"{stats['messages']:,}")
    expect(page.locator("#connection")).to_have_text("live")


def test_a_message_added_over_the_api_appears_by_itself(page: Page, service: Service) -> None:
    session = service.talk("growing", ["Hello", "Is it on?"])
    page.goto(service.page(session))
    expect(page.locator("#connection")).to_have_text("live")
    expect(page.locator("#numbers .tile").nth(1)).to_contain_text("2")
    service.post(f"{service.of(session)}/messages", role="user", text="And now?")
    expect(page.locator("#numbers .tile").nth(1)).to_contain_text("3")
    service.post(f"{service.of(session)}/build", budget=8_000)
    expect(page.locator("#window-about")).to_contain_text("build 2")
    expect(page.locator("#announcer")).to_contain_text("Build 2")


def test_a_session_that_is_new_joins_the_list_by_itself(page: Page, service: Service, session: str) -> None:
    page.goto(service.page(session))
    expect(page.locator("#connection")).to_have_text("live")
    service.talk("just-made", ["Hello"])
    expect(page.get_by_role("link", name=re.compile("just-made"))).to_be_visible()


def test_choosing_another_session_shows_that_one(page: Page, service: Service, session: str) -> None:
    other = service.talk("other", ["Something else"])
    page.goto(service.page(session))
    page.get_by_role("link", name=re.compile(f"^{other}")).click()
    expect(page.locator("#title")).to_have_text(other)


def test_no_session_yet_says_how_to_make_one(page: Page, service: Service) -> None:
    page.route("**/api/v1/sessions", lambda route: route.fulfill(json=[]))
    page.goto(service.url)
    expect(page.locator("#empty")).to_contain_text("No session yet")
    expect(page.locator("#empty code").first).to_have_text("foveal import chat.jsonl")


def test_a_session_without_a_window_offers_to_build_one(page: Page, service: Service) -> None:
    service.post("/sessions", name="unbuilt", model="gpt-5", preset="recent")
    service.post(f"{service.of('unbuilt')}/messages", role="user", text="Hello")
    page.goto(service.page("unbuilt"))
    page.locator("#unbuilt").get_by_role("button", name="Build now").click()
    expect(page.locator("#window-about")).to_contain_text("build 1")


@pytest.mark.filterwarnings("ignore:the budget")  # the server runs in a thread of this process
def test_a_full_window_is_no_alarm_and_a_warning_of_its_build_is(page: Page, service: Service) -> None:
    full = service.talk("full", ["word " * 90] * 10, budget=1_000)
    page.goto(service.page(full))
    expect(page.locator("#title")).to_have_text("full")
    expect(page.locator("#banner")).to_be_hidden()
    service.post("/sessions", name="over", model="gpt-4o")
    service.post(f"{service.of('over')}/messages", role="user", text="Hello")
    service.post(f"{service.of('over')}/build", budget=1_000_000)
    page.goto(service.page("over"))
    expect(page.locator("#banner")).to_contain_text("over the limit of gpt-4o, which takes 128,000")


def test_it_can_be_loaded_again_from_what_the_browser_kept(
    page: Page, service: Service, session: str
) -> None:
    page.goto(service.page(session))
    expect(page.locator("#connection")).to_have_text("live")
    page.reload()
    expect(page.locator("#connection")).to_have_text("live")
    expect(page.locator("#title")).to_have_text(session)


def test_a_session_that_is_deleted_gives_way_to_another(page: Page, service: Service, session: str) -> None:
    doomed = service.talk("doomed", ["Hello"])
    page.goto(service.page(doomed))
    expect(page.locator("#connection")).to_have_text("live")
    service.delete(service.of(doomed))
    expect(page.locator("#title")).not_to_have_text(doomed)
    expect(page.get_by_role("link", name=re.compile(doomed))).to_have_count(0)


def test_a_server_with_tokens_asks_for_one(page: Page, tmp_path: Path) -> None:
    with serving(tmp_path / "foveal.db", token="a-token-long-enough") as locked:
        session = locked.talk("secret", ["Hello"])
        page.goto(locked.page(session))
        page.get_by_label("This server needs a token").fill("mistyped")
        page.keyboard.press("Enter")
        page.get_by_label("The server does not accept that token").fill("a-token-long-enough")
        page.keyboard.press("Enter")
        expect(page.locator("#title")).to_have_text(session)
        expect(page.locator("#connection")).to_have_text("live")
        page.goto("about:blank")


def test_a_server_that_goes_away_is_reported_and_found_again(
    page: Page, service: Service, session: str
) -> None:
    page.goto(service.page(session))
    expect(page.locator("#window-about")).to_contain_text("build 4")
    page.route("**/api/v1/**", lambda route: route.abort())
    page.locator("#slider").get_by_label("Older build").click()
    expect(page.locator("#notice")).to_contain_text("foveal serve")
    page.unroute("**/api/v1/**")
    page.get_by_role("button", name="Try again").click()
    expect(page.locator("#notice")).to_be_hidden()
