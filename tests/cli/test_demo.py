"""What the demo promises: it needs nothing, and what it says was measured."""

from __future__ import annotations

import re

import pytest

from commands import CommandLine
from foveal import wire
from foveal.cli.demo import script
from foveal.cli.demo.rehearsal import BUDGET, Rehearsal, rehearse
from foveal.pipeline.summarize.notes import LOG_MARK


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


def test_every_window_has_the_rules_though_nothing_is_pinned(found: Rehearsal) -> None:
    assert found.ruleless == 0


def test_the_log_of_the_last_window_answers_its_question(found: Rehearsal) -> None:
    sent = [message["content"] for message in found.window.messages]
    assert sent[-1] == script.QUESTION
    assert script.DECISION not in sent
    logs = [text for text in sent if text.startswith(LOG_MARK)]
    assert any("a grace period of 90 seconds" in log for log in logs)
    assert any(re.search(r"State at message \d+: changed auth/refresh.py", log) for log in logs)


def test_the_original_of_the_decision_is_recalled(found: Rehearsal) -> None:
    assert found.original == {"role": "assistant", "content": script.DECISION}


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
    reasons = printed[printed.index("What is in the window, and why") : printed.index("requests cost")]
    assert "in the log" in reasons
    assert len(reasons.splitlines()) <= 24


def test_the_quoted_log_fits_on_one_screen_and_has_the_answer_before_the_question(printed: str) -> None:
    quoted = printed[printed.index("What the model reads") : printed.index("What is in the window, and why")]
    plain = " ".join(quoted.split())
    assert len(quoted.splitlines()) <= 40
    assert (
        plain.index("a grace period of 90 seconds")
        < plain.index("State at message ")
        < plain.index(script.QUESTION)
    )


def test_what_is_logged_looks_different_from_what_is_in_full(printed: str) -> None:
    _, session, _, _, window, *_ = printed.partition("the session:")[2].splitlines()
    assert session.count("+") > session.count("#") > 0
    assert window.count("+") > 0
    assert window.count("#") > 0


def test_its_numbers_come_as_json(shell: CommandLine) -> None:
    numbers = shell.foveal("demo", "--json").json
    assert numbers["refused"] == numbers["over"] == 0
    assert numbers["sent"] < numbers["sent_whole"]
