"""Text is text: 300 payloads in every text field that comes to the page, and none of them runs."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from server.browser.payloads import payloads
from server.browser.visits import Service, until

PAYLOADS = list(payloads())
NAMES = [payload for payload in PAYLOADS if payload.isprintable()]
"""Names of sessions have no control characters."""
FOREIGN = (
    "script:not([src]), iframe, object, embed, base, marquee, video, template, math, main img, main style"
)


@pytest.fixture
def wary(page: Page) -> Iterator[Page]:
    """A page that may show anything and run none of it."""
    opened: list[str] = []
    page.on("dialog", lambda dialog: (opened.append(dialog.message), dialog.dismiss()))
    yield page
    assert opened == []
    assert page.evaluate("window.did") is None
    assert page.locator(FOREIGN).count() == 0


@pytest.fixture(scope="module")
def session(service: Service) -> str:
    """Every payload as a user's words, an assistant's, a tool's name, its arguments and its answer."""
    service.post("/sessions", name="hostile", model="gpt-5", preset="recent")
    history = [message for at, payload in enumerate(PAYLOADS) for message in said(at, payload)]
    service.post(f"{service.of('hostile')}/messages/import", messages=history, format="openai")
    service.post(f"{service.of('hostile')}/build", budget=200_000, task=PAYLOADS[0], system=PAYLOADS[1])
    return "hostile"


def said(at: int, payload: str) -> list[dict[str, object]]:
    function = {"name": f"tool_{at}", "arguments": payload}
    call = {"id": f"call_{at}", "type": "function", "function": function}
    return [
        {"role": "user", "content": payload, "name": "someone"},
        {"role": "assistant", "content": payload, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": f"call_{at}", "content": payload},
    ]


def test_there_are_300_payloads_and_they_differ() -> None:
    assert len(set(PAYLOADS)) == 300


def test_messages_are_shown_as_the_text_they_are(wary: Page, service: Service, session: str) -> None:
    wary.goto(service.page(session))
    until(wary, "document.querySelector('#strip').model?.segments.length > 590")
    shown = wary.evaluate("document.querySelector('#strip').model.segments.map((each) => each.text ?? '')")
    assert sum(payload[:40] in text for text in shown for payload in (PAYLOADS[0], PAYLOADS[299])) >= 2
    for at in (0, 60, 120, 299):
        found = wary.locator("#strip").evaluate(
            "(strip, words) => strip.model.segments.findIndex((each) => each.text?.startsWith(words))",
            PAYLOADS[at][:60],
        )
        wary.locator("#strip").evaluate("(strip, index) => strip.select(index, { tell: true })", found)
        expect(wary.locator("#detail .preview").first).to_have_text(PAYLOADS[at], use_inner_text=True)


def test_every_message_can_be_walked_through_and_recalled(wary: Page, service: Service, session: str) -> None:
    wary.goto(service.page(session))
    until(wary, "document.querySelector('#strip').model?.segments.length > 590")
    wary.evaluate("""async () => {
      const strip = document.querySelector("#strip");
      for (let index = 0; index < strip.model.count; index += 1) {
        strip.select(index, { tell: true });
        if (index % 20 === 0) await new Promise((resolve) => setTimeout(resolve, 60));
      }
    }""")
    wary.locator("#detail").get_by_role("button", name="Recall original").first.click()
    expect(wary.locator("#detail .original").first).to_be_visible()


def test_names_of_sessions_are_text_in_the_list_and_in_the_address(wary: Page, service: Service) -> None:
    listed = [
        {"name": each, "messages": 1, "format": None, "model": each, "preset": each, "created_at": 1.0}
        for each in PAYLOADS
    ]
    wary.route("**/api/v1/sessions", lambda route: route.fulfill(json=listed))
    wary.goto(service.page(PAYLOADS[7]))
    expect(wary.locator("#sessions li")).to_have_count(300)
    assert wary.locator("#sessions .session-name").all_text_contents() == PAYLOADS[::-1]
    expect(wary.locator("#notice")).to_contain_text("There is no session")


@pytest.fixture(scope="module")
def named(service: Service) -> None:
    """A session for every name."""
    for name in NAMES:
        service.post("/sessions", name=name)


def opened(page: Page, service: Service, names: list[str]) -> None:
    """Go from one to the next without loading the page again."""
    page.goto(service.page(names[0]))
    expect(page.locator("#title")).to_have_text(names[0])
    assert page.evaluate(OPENED, [service.page(name) for name in names[1:]]) == names[1:]


@pytest.mark.usefixtures("named")
def test_a_session_may_have_any_name_without_control_characters(wary: Page, service: Service) -> None:
    opened(wary, service, NAMES[::30])
    assert set(NAMES) <= set(wary.locator("#sessions .session-name").all_text_contents())


@pytest.mark.soak
@pytest.mark.skipif("FOVEAL_SOAK" not in os.environ, reason="takes minutes; set FOVEAL_SOAK=1")
@pytest.mark.usefixtures("named")
def test_each_of_them_can_be_opened(wary: Page, service: Service) -> None:
    opened(wary, service, NAMES)


@pytest.mark.soak
def test_a_query_and_its_hits_are_text(wary: Page, service: Service, session: str) -> None:
    wary.goto(service.page(session))
    until(wary, "document.querySelector('#strip').model?.segments.length > 590")
    payloads = PAYLOADS if "FOVEAL_SOAK" in os.environ else PAYLOADS[::10]
    queries = [payload.replace("\n", " ") for payload in payloads]
    for query, (title, hits) in zip(queries, wary.evaluate(SEARCHED, queries), strict=True):
        assert query.strip() in title
        assert any(query[:40] in hit.replace("\n", " ") for hit in hits)


OPENED = """
async (places) => {
  const shown = [], title = document.querySelector("#title");
  for (const place of places) {
    const before = title.textContent;
    location.href = place;
    for (let left = 3000; left && title.textContent === before; left -= 1)
      await new Promise((resolve) => setTimeout(resolve, 10));
    shown.push(title.textContent);
  }
  return shown;
}
"""
SEARCHED = """
async (queries) => {
  const shown = [], box = document.querySelector("#query");
  for (const query of queries) {
    const before = document.querySelector("#results-title");
    box.value = query;
    box.form.requestSubmit();
    for (let left = 3000; left && document.querySelector("#results-title") === before; left -= 1)
      await new Promise((resolve) => setTimeout(resolve, 10));
    const hits = [...document.querySelectorAll("#results .hit-text")].map((each) => each.textContent);
    shown.push([document.querySelector("#results-title")?.textContent ?? "", hits]);
  }
  return shown;
}
"""


def test_reasons_slots_warnings_and_problems_are_text(wary: Page, service: Service, session: str) -> None:
    def poisoned(route: Route) -> None:
        build = route.fetch().json()
        for at, segment in enumerate(build["segments"]):
            payload = PAYLOADS[at % 300]
            segment |= {"because": payload, "slot": payload, "id": payload, "handle": payload}
            segment |= {"score": {"total": 1.0, "parts": {payload: 1.0}}}
        route.fulfill(json=build | {"preset": PAYLOADS[2], "model": PAYLOADS[3], "parts": {PAYLOADS[4]: 9}})

    wary.route("**/builds/newest", poisoned)
    wary.route("**/prune", lambda route: route.fulfill(status=422, json={"detail": PAYLOADS[5]}))
    wary.goto(service.page(session))
    wary.get_by_role("option").nth(2).click()
    expect(wary.locator("#detail .scores")).to_be_visible()
    wary.locator("#actions").get_by_role("button", name="Prune").click()
    expect(wary.locator("#outcome")).to_contain_text(PAYLOADS[5])


def test_the_widget_shows_them_as_text_even_where_no_policy_guards_the_page(
    browser: Browser, service: Service, origin: str, folder: Path
) -> None:
    (folder / "hostile.html").write_text(f'<script src="{service.url}/widget.js"></script>', encoding="utf-8")
    page = browser.new_page()
    page.goto(f"{origin}/hostile.html")
    shown = page.evaluate(WIDGETS, [PAYLOADS, {"messages": 1, "tokens": 9, "limit": 10, "builds": 0}])
    assert shown == PAYLOADS
    assert page.evaluate("window.did") is None
    page.close()


WIDGETS = """
async ([payloads, stats]) => {
  const shown = [];
  for (const payload of payloads) {
    const answer = JSON.stringify({ ...stats, session: payload });
    window.fetch = async (url) => new Response(answer, { status: url.endsWith("events") ? 500 : 200 });
    const widget = document.createElement("context-manager-widget");
    widget.setAttribute("session", payload);
    document.body.append(widget);
    await new Promise((resolve) => setTimeout(resolve, 0));
    await new Promise((resolve) => setTimeout(resolve, 0));
    shown.push(widget.shadowRoot.querySelector("h2").textContent);
    widget.remove();
  }
  return shown;
}
"""
