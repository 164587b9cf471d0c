"""A session of the preset `reploid`, as a reader of its design knows it: watched, and pruned above 80%.

A talk fills 93% of what its model takes. The widget, the statistics of every surface and the archive agree
before the next call of the model and after it, and nothing is lost.
"""

from __future__ import annotations

import re
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from commands import CommandLine
from foveal import Foveal, count_tokens
from foveal.events import Event, Reported
from foveal.operations.reploid import auto_manage, prune, stats, summarize
from server.browser.conftest import browser, folder, origin, page, service
from server.browser.visits import Service, until

__all__ = ["browser", "folder", "origin", "page", "service"]

WIDGET = "document.querySelector('context-manager-widget')"
LIMIT = 10_000
_numbers = count()


def talk(messages: int) -> list[dict[str, Any]]:
    """A system prompt, and a user and a model in turn; some of what they say is about errors."""
    said = [{"role": "system", "content": "You fix bugs in a login service."}]
    for n in range(messages):
        text = f"ERROR: attempt {n} failed. " if n % 10 == 3 else f"Step {n}. "
        said.append({"role": ("user", "assistant")[n % 2], "content": text + "looking around " * 43})
    return said


# In Python


def test_the_history_of_a_call_is_managed_by_one_function() -> None:
    history = [{"role": "user", "parts": [f"hello {n} " * 150]} for n in range(370)]
    history[5:6] = [{"role": "model", "parts": ["ERROR: Failed"]}]
    found = stats(history, "claude-4-5-sonnet")
    assert (found.items, found.limit, found.needs_pruning) == (370, 200_000, True)
    managed = auto_manage(history, "claude-4-5-sonnet")
    assert managed.final <= 160_000
    assert managed.pruned[-1] is history[-1]
    assert any("ERROR" in message["parts"][0] for message in managed.pruned)
    assert not stats(managed.pruned, "claude-4-5-sonnet").needs_pruning
    assert auto_manage(managed.pruned, "claude-4-5-sonnet").pruned is managed.pruned


def test_of_six_messages_the_four_best_stay() -> None:
    roles = ("system", "user", "model", "user", "model", "user")
    history = [{"role": role, "content": f"{n} plain words"} for n, role in enumerate(roles)]
    kept = prune(history, count_tokens(history[:1] + history[3:])).pruned
    assert [message["content"][0] for message in kept] == ["0", "3", "4", "5"]


def test_older_messages_become_one_that_counts_them() -> None:
    done = summarize(talk(60))
    assert len(done.summarized) == 1 + 1 + 10
    assert "Previous 50 messages: 25 user messages, 25 model responses" in done.summary["content"]


# A session and its widget


@pytest.fixture
def session(service: Service) -> str:
    """93% of the limit, which the client gives with each build; the last build was earlier."""
    name = f"long-{next(_numbers)}"
    service.post("/sessions", name=name, model="gpt-5", preset="reploid")
    said, path = talk(98), service.of(name)
    service.post(f"{path}/messages/import", messages=said[:70], format="openai")
    service.post(f"{path}/build", budget=LIMIT)
    service.post(f"{path}/messages/import", messages=said[70:], format="openai")
    return name


@pytest.fixture
def app(page: Page, service: Service, session: str, origin: str, folder: Path) -> Page:
    """A page of another origin with the widget, which has heard of the session."""
    text = (
        f'<!doctype html><title>An agent</title><script src="{service.url}/widget.js"></script>'
        f'<context-manager-widget session="{session}"></context-manager-widget>'
    )
    (folder / "agent.html").write_text(text, encoding="utf-8")
    page.goto(f"{origin}/agent.html")
    until(page, f"{WIDGET}.getStatus().primaryMetric !== '0 tokens'")
    return page


def numbers(service: Service, session: str) -> dict[str, Any]:
    found: dict[str, Any] = service.get(f"{service.of(session)}/stats")
    return found


def status(app: Page) -> dict[str, Any]:
    found: dict[str, Any] = app.evaluate(f"{WIDGET}.getStatus()")
    return found


def agrees(app: Page, found: dict[str, Any], *, warns: bool) -> None:
    """The widget reports, and shows, what the statistics say."""
    shown = status(app)
    assert shown["state"] == ("warning" if warns else "active")
    assert shown["primaryMetric"] == f"{found['used_tokens']:,} tokens"
    assert shown["secondaryMetric"] == f"{found['percent']:.0f}% used"
    assert shown["message"] == ("Needs pruning" if warns else "Healthy")
    cards = app.locator("context-manager-widget .card")
    expect(cards.nth(1)).to_contain_text(f"{found['used_tokens']:,} of {LIMIT:,}")
    expect(cards.nth(2)).to_contain_text(f"{found['percent']:.0f}%")
    expect(app.locator("context-manager-widget .banner")).to_be_visible(visible=warns)
    expect(app.get_by_role("button", name="Prune")).to_be_visible(visible=warns)


def test_at_93_percent_it_prunes_itself_with_the_next_build(
    app: Page, service: Service, session: str
) -> None:
    before = numbers(service, session)
    assert (92 < before["percent"] < 94, before["needs_pruning"], before["absent"]) == (True, True, 0)
    agrees(app, before, warns=True)
    widget = app.locator("context-manager-widget")
    expect(widget.locator(".banner")).to_contain_text("more than 80%. The next build prunes by itself")
    expect(widget).to_contain_text("Above 80% windows are managed automatically")
    service.post(f"{service.of(session)}/build", budget=LIMIT)
    until(app, f"{WIDGET}.getStatus().state === 'active'")
    after = numbers(service, session)
    assert (75 < after["percent"] <= 80, after["needs_pruning"]) == (True, False)
    assert after["window_tokens"] == after["used_tokens"]
    agrees(app, after, warns=False)
    restored = service.post(f"{service.of(session)}/restore")["ids"]
    assert len(restored) == after["absent"] > 0
    until(app, f"{WIDGET}.getStatus().state === 'warning'")
    agrees(app, numbers(service, session), warns=True)
    assert numbers(service, session)["used_tokens"] == before["used_tokens"]


def test_the_button_says_what_it_would_prune_and_then_the_widget_is_content(
    app: Page, service: Service, session: str
) -> None:
    app.get_by_role("button", name="Prune").click()
    said = app.locator("context-manager-widget .said")
    expect(said).to_have_text(re.compile(r"^\d+ messages would leave the window; .* Prune\?$"))
    assert numbers(service, session)["absent"] == 0
    app.get_by_role("button", name=re.compile(r"Prune \d+ messages")).click()
    until(app, f"{WIDGET}.getStatus().state === 'active'")
    found = numbers(service, session)
    expect(said).to_contain_text(f"Removed {found['absent']} messages")
    assert 75 < found["percent"] <= 80
    agrees(app, found, warns=False)


# On the command line


@pytest.fixture
def history(shell: CommandLine) -> list[Reported]:
    """The same talk in a store, and the events of its first builds."""
    heard: list[Reported] = []

    def hear(event: Event) -> None:
        if isinstance(event, Reported):
            heard.append(event)

    with Foveal(shell.store) as fov:
        fov.subscribe(hear)
        session = fov.session(model="gpt-5", preset="reploid")
        session.extend(talk(98))
        session.build(budget=10 * LIMIT)
        session.build(budget=LIMIT)
    return heard


def test_the_command_line_reports_the_same_and_restores_everything(
    shell: CommandLine, history: list[Reported]
) -> None:
    (event,) = history
    assert set(event.payload) == {"original", "final", "removed", "token_reduction"}
    found = shell.foveal("stats", "--json").json
    assert (found["absent"], found["needs_pruning"]) == (event.payload["removed"], False)
    assert re.search(rf"\nused +{found['used_tokens']:,} of 10,000 tokens, 79%\n", shell.foveal("stats").out)
    shell.foveal("restore")
    found = shell.foveal("stats", "--json").json
    assert (found["absent"], found["needs_pruning"]) == (0, True)
    assert "the next build prunes by itself" in shell.foveal("stats").out
