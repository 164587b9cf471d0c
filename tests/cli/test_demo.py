"""What the demo promises: it needs nothing, and what it says was measured."""

from __future__ import annotations

from pathlib import Path

import pytest

from commands import CommandLine
from foveal import wire
from foveal.cli.demo import script
from foveal.cli.demo.rehearsal import BUDGET, Rehearsal, rehearse


@pytest.fixture(scope="module")
def found() -> Rehearsal:
    return rehearse()


def test_the_bundled_session_is_long_valid_and_the_same_every_time() -> None:
    history = list(script.messages())
    assert len(history) > 300
    assert wire.check({"messages": history}, "openai") == []
    assert history == list(script.messages())


def test_every_managed_request_is_valid_and_within_the_budget(found: Rehearsal) -> None:
    assert (found.refused, found.over) == (0, 0)
    assert found.largest <= BUDGET


def test_the_naive_cut_breaks_requests_and_loses_the_rules(found: Rehearsal) -> None:
    assert found.naive_refused > 0
    assert found.naive_ruleless > 0


def test_the_rules_are_in_the_last_window_and_the_decision_is_recalled(found: Rehearsal) -> None:
    sent = [message["content"] for message in found.window.messages]
    assert script.RULE in sent
    assert script.DECISION not in sent
    assert found.original == {"role": "assistant", "content": script.DECISION}


def test_the_picture_of_the_readme_shows_its_last_window(found: Rehearsal) -> None:
    picture = Path(__file__).parents[2] / "docs" / "images" / "window.svg"
    assert f"{found.window.tokens:,} of {BUDGET:,} tokens" in picture.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What it prints; it stores nothing."""
    shell = CommandLine(folder=tmp_path_factory.mktemp("demo"))
    done = shell.foveal("demo")
    assert done.code == 0, done.err
    assert not shell.store.exists()
    return done.out


def test_it_is_shown_in_80_columns_with_nothing_stored(printed: str) -> None:
    assert max(map(len, printed.splitlines())) <= 80
    assert "grace period of 90 seconds" in " ".join(printed.split())


def test_the_reasons_fit_on_one_screen(printed: str) -> None:
    reasons = printed[printed.index("What is in it, and why") : printed.index("requests cost")]
    assert "snippets of" in reasons
    assert len(reasons.splitlines()) <= 24


def test_what_is_shortened_looks_different_from_what_is_kept(printed: str) -> None:
    _, session, _, _, window, *_ = printed.partition("the session:")[2].splitlines()
    assert session.count("+") > session.count("#") > 0
    assert window.count("#") > window.count("+") > 0


def test_its_numbers_come_as_json(shell: CommandLine) -> None:
    numbers = shell.foveal("demo", "--json").json
    assert numbers["refused"] == numbers["over"] == 0
    assert numbers["sent"] < numbers["sent_whole"]
