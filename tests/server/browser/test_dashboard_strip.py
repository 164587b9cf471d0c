"""The strip, the list and the detail beside it: what they draw is what the manifest says."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from server.browser.visits import Service, until

SEGMENTS = "document.querySelector('#strip').model.segments"
PAINTED = """
() => {
  const strip = document.querySelector("#strip");
  const { segments, starts } = strip.model;
  const pen = strip.canvas.getContext("2d");
  const ratio = strip.painter.ratio;
  return segments.flatMap((segment, index) => {
    const bar = segment.bars.at(-1);
    const end = (starts[index] + segment.tokens) * strip.view.scale;
    if (bar.tokens * strip.view.scale < 6 || segment.detail !== "full") return [];
    const x = end - (bar.tokens * strip.view.scale) / 2;
    const [r, g, b] = pen.getImageData(x * ratio, (strip.painter.frame.bottom - 4) * ratio, 1, 1).data;
    const hex = "#" + [r, g, b].map((part) => part.toString(16).padStart(2, "0")).join("");
    return [[hex, getComputedStyle(document.documentElement).getPropertyValue(`--kind-${bar.kind}`).trim()]];
  });
}
"""


@pytest.fixture(scope="module")
def session(service: Service) -> str:
    return service.demo("login")


@pytest.fixture
def shown(page: Page, service: Service, session: str) -> Page:
    page.goto(service.page(session))
    expect(page.locator("#window-about")).to_contain_text("build 4")
    until(page, f"{SEGMENTS}.some((segment) => segment.text)")
    return page


def kept(service: Service, session: str) -> list[dict[str, Any]]:
    manifest = service.get(f"{service.of(session)}/manifest")
    return [each for each in manifest["decisions"] if each["verdict"] == "kept" and each["tokens"]]


def test_the_segments_add_up_to_the_tokens_of_the_manifest(
    shown: Page, service: Service, session: str
) -> None:
    manifest = service.get(f"{service.of(session)}/manifest")
    assert sum(each["tokens"] for each in shown.evaluate(SEGMENTS)) == manifest["tokens"]


def test_the_segments_are_the_spans_of_the_manifest_turn_by_turn(
    shown: Page, service: Service, session: str
) -> None:
    drawn = [each for each in shown.evaluate(SEGMENTS) if "part" not in each]
    for span in kept(service, session):
        inside = [each for each in drawn if span["first"] <= each["first"] and each["last"] <= span["last"]]
        places = [place for each in inside for place in range(each["first"], each["last"] + 1)]
        assert places == list(range(span["first"], span["last"] + 1))
        assert sum(each["tokens"] for each in inside) == span["tokens"]
    assert len(drawn) > len(kept(service, session))


def test_each_segment_is_painted_where_its_tokens_are_in_the_colour_of_its_kind(shown: Page) -> None:
    painted = shown.evaluate(PAINTED)
    assert len(painted) >= 3
    assert [found for found, _ in painted] == [expected for _, expected in painted]


def test_pointing_at_a_segment_shows_what_it_is_and_why_it_is_there(shown: Page) -> None:
    shown.locator("#strip .strip-scroller").hover(position={"x": 400, "y": 80})
    expect(shown.locator("#tip")).to_contain_text(re.compile(r"\d+ tokens"))


def test_a_segment_shows_its_words_its_reason_and_brings_up_the_original(
    shown: Page, service: Service, session: str
) -> None:
    shown.get_by_role("option").filter(has_text="message 1").first.click()
    detail = shown.locator("#detail")
    expect(detail).to_contain_text("system prompt")
    detail.get_by_role("button", name="Recall original").click()
    original = service.get(f"{service.of(session)}/recall/m1")["content"]
    expect(detail.locator(".original")).to_have_text(original)


def test_scores_are_shown_by_part_where_the_preset_scores(page: Page, service: Service) -> None:
    session = service.talk("scored", [f"Decision {n}: the port is {8000 + n}." for n in range(30)])
    service.post(f"{service.of(session)}/build", preset="fifth", budget=400)
    page.goto(service.page(session))
    until(page, f"{SEGMENTS.replace('.model', '.model?')}?.some((segment) => segment.text)")
    page.get_by_role("listbox", name="Chunks").press("End")
    expect(page.locator("#detail .scores")).to_contain_text("recency")


def test_what_was_left_out_is_listed_with_its_reason_and_can_be_pinned(page: Page, service: Service) -> None:
    session = service.talk("pinning", [f"{n} " + "word " * 60 for n in range(30)], budget=600)
    page.goto(service.page(session))
    page.get_by_role("button", name=re.compile("^Left out")).click()
    page.get_by_role("option").first.click()
    page.locator("#detail").get_by_role("button", name="Pin", exact=True).first.click()
    expect(page.locator("#outcome")).to_contain_text("is pinned")
    expect(page.locator("#numbers")).to_contain_text("1 pinned")


def test_the_slider_goes_through_past_builds_and_says_what_changed(shown: Page) -> None:
    slider = shown.locator("#slider input")
    slider.focus()
    slider.press("ArrowLeft")
    expect(shown.locator("#window-about")).to_contain_text("build 3")
    expect(shown.locator("#diff")).to_contain_text("Since build 2")
    expect(shown.locator("[data-change=entered] li").first).to_contain_text("message")
    slider.press("Home")
    expect(shown.locator("#diff")).to_contain_text("The first build")
    shown.get_by_role("button", name="Newest").click()
    expect(shown.locator("#window-about")).to_contain_text("build 4")


def test_a_search_finds_a_message_and_shows_where_it_is(shown: Page) -> None:
    shown.get_by_role("searchbox").fill("grace period rotated refresh token")
    shown.keyboard.press("Enter")
    hit = shown.locator("#results .hit").filter(has_text="grace period of 90 seconds")
    hit.click()
    expect(shown.locator("#detail")).to_contain_text("grace period")


def test_presets_are_compared_side_by_side(shown: Page) -> None:
    shown.get_by_role("button", name="Compare presets").click()
    expect(shown.locator("#presets tbody tr")).to_have_count(7)
    expect(shown.locator("#presets")).to_contain_text("recent (in use)")


def test_everything_is_within_reach_of_the_keyboard(shown: Page) -> None:
    strip = shown.get_by_role("slider", name="Chunks of the window")
    strip.focus()
    for key in ("End", "ArrowLeft", "ArrowRight", "+", "0", "Home"):
        strip.press(key)
    expect(strip).to_have_attribute("aria-valuetext", re.compile(r"^1 of \d+: "))
    strip.press("End")
    strip.press("Enter")
    expect(shown.locator("#detail").get_by_role("button", name="Recall original").first).to_be_focused()
    shown.keyboard.press("Enter")
    expect(shown.locator("#detail .original").first).to_be_visible()


def test_the_tab_key_walks_from_the_first_link_to_the_last_button(shown: Page) -> None:
    passed = set()
    while "compare" not in passed and len(passed) < 60:
        shown.keyboard.press("Tab")
        passed.add(
            shown.evaluate(
                "(({ id, ariaLabel, innerText }) => id || ariaLabel || innerText)(document.activeElement)"
            )
        )
    assert {"query", "theme", "Prune", "Chunks of the window", "Chunks", "Build", "compare"} <= passed
