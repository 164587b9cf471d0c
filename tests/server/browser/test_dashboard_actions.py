"""What the buttons do, and that they say honestly what came of it."""

from __future__ import annotations

import re
from itertools import count
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from server.browser.visits import Service

_numbers = count()


@pytest.fixture
def session(page: Page, service: Service) -> str:
    """A session that is too long for its window, on the page."""
    name = f"long-{next(_numbers)}"
    service.talk(name, [f"{n} " + "word " * 60 for n in range(40)], budget=1_000)
    page.goto(service.page(name))
    expect(page.locator("#connection")).to_have_text("live")
    return name


def stats(service: Service, session: str) -> Any:
    return service.get(f"{service.of(session)}/stats")


def confirm(page: Page) -> None:
    page.locator('#outcome [data-do="confirm"]').click()


def test_what_is_not_confirmed_is_not_done(page: Page, service: Service, session: str) -> None:
    page.locator("#actions").get_by_role("button", name="Summarize").click()
    expect(page.locator("#outcome")).to_contain_text("Summarize replaces 30 messages of 40")
    page.locator("#outcome").get_by_role("button", name="Dismiss").click()
    expect(page.locator("#outcome")).to_be_hidden()
    assert stats(service, session)["absent"] == 0


def test_prune_says_how_many_messages_it_left_out_and_restore_brings_them_back(
    page: Page, service: Service, session: str
) -> None:
    page.locator("#actions").get_by_role("button", name="Prune").click()
    expect(page.locator("#outcome")).to_contain_text(re.compile(r"Prune leaves out \d+ messages of 40"))
    assert stats(service, session)["absent"] == 0
    confirm(page)
    expect(page.locator("#outcome")).to_contain_text(re.compile(r"Left out \d+ messages"))
    left_out = stats(service, session)["absent"]
    expect(page.locator("#outcome")).to_contain_text(f"Left out {left_out} messages")
    expect(page.locator("#numbers")).to_contain_text(f"{left_out} left out")
    page.locator("#outcome").get_by_role("button", name="Restore").click()
    expect(page.locator("#outcome")).to_contain_text(f"Restored {left_out} messages")
    assert stats(service, session)["absent"] == 0


def test_a_pruned_session_builds_a_window_without_a_warning(
    page: Page, service: Service, session: str
) -> None:
    page.locator("#actions").get_by_role("button", name="Prune").click()
    confirm(page)
    page.locator("#outcome").get_by_role("button", name="Build now").click()
    expect(page.locator("#outcome")).to_contain_text("Built a window")
    expect(page.locator("#banner")).to_be_hidden()


@pytest.mark.parametrize(("label", "done"), [("Compress", "Compressed"), ("Summarize", "Summarized")])
def test_compress_and_summarize_say_what_became_of_the_tokens(
    page: Page, session: str, label: str, done: str
) -> None:
    page.locator("#actions").get_by_role("button", name=label).click()
    expect(page.locator("#outcome")).to_contain_text("It can be undone")
    page.locator("#outcome summary").click()
    expect(page.locator("#outcome pre")).not_to_be_empty()
    confirm(page)
    expect(page.locator("#outcome")).to_contain_text(
        re.compile(rf"{done} \d+ messages: [\d,]+ tokens became")
    )


def test_pruning_what_fits_already_says_so(page: Page, service: Service) -> None:
    page.goto(service.page(service.talk(f"short-{next(_numbers)}", ["Hello"])))
    page.locator("#actions").get_by_role("button", name="Prune").click()
    expect(page.locator("#outcome")).to_contain_text("Nothing to do")


def test_what_the_server_refuses_is_shown_with_its_remedy(page: Page, session: str) -> None:
    problem = {"title": "Busy", "status": 503, "detail": "the store is busy", "remedy": "wait a moment"}
    page.route("**/prune", lambda route: route.fulfill(status=503, json=problem))
    page.locator("#actions").get_by_role("button", name="Prune").click()
    expect(page.locator("#outcome")).to_contain_text("The store is busy")
    expect(page.locator("#outcome")).to_contain_text("Try: wait a moment")
