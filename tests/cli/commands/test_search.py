"""What `search` and `focus` promise."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence

import pytest

from commands import CommandLine
from foveal import Foveal, wire
from foveal.cli import output
from foveal.model import Format

NOON = 1_760_000_000.0


def said(text: str, role: str = "user", **more: object) -> dict[str, object]:
    return {"role": role, "content": text, **more}


@pytest.fixture
def talked(shell: CommandLine) -> CommandLine:
    shell.fill(
        said("Fix the login."),
        *(said(f"Module {n} is fine. " * 8, "assistant") for n in range(30)),
        said("We decided to sign the tokens with RS256."),
    )
    return shell


def test_search_shows_id_handle_role_time_and_the_place(shell: CommandLine) -> None:
    shell.fill(said(f"{'before ' * 40}the needle{' after' * 40}", timestamp=NOON))
    head, place = shell.foveal("search", "needle", TZ="UTC").out.splitlines()
    assert head.startswith("m1  fv-")
    assert head.endswith("  user       2025-10-09 08:53")
    assert "the needle" in place
    assert max(len(head), len(place)) <= 80


def test_the_place_is_shown_around_words_that_say_something(shell: CommandLine) -> None:
    shell.fill(said(f"{'we did it on that day, where else. ' * 9}Then everybody decided on JWT."))
    _, place = shell.foveal("search", "Where did we decide on JWT?").out.splitlines()
    assert "decided on JWT." in place


def test_search_takes_a_limit_and_the_best_come_first(talked: CommandLine) -> None:
    hits = talked.foveal("search", "which algorithm signs the tokens?", "--limit", "2", "--json").json
    assert [hit["id"] for hit in hits][:1] == ["m32"]
    assert len(hits) <= 2
    assert set(hits[0]) == {
        "id", "handle", "session", "role", "score",
        "weak", "text", "created_at", "parts",
    }  # fmt: skip


def test_search_may_look_into_every_session(shell: CommandLine) -> None:
    name = "a session with quite a long name, as some tools like to give them to sessions"
    shell.fill(said("a needle"), session=name)
    (hit,) = shell.foveal("search", "needle", "--everywhere", "--json").json
    assert (hit["session"], hit["created_at"] > NOON) == (name, True)
    lines = shell.foveal("search", "needle", "--everywhere").out.splitlines()
    assert lines[0].startswith("a session with")
    assert max(map(len, lines)) <= 80


def test_nothing_found_is_said_on_stderr(shell: CommandLine) -> None:
    shell.fill(said("hello"))
    done = shell.foveal("search", "zebra")
    assert (done.code, done.out, done.err) == (0, "", "foveal: nothing found\n")


def test_the_embedder_of_the_settings_is_used(shell: CommandLine) -> None:
    shell.fill(said("a needle"))
    parts = shell.foveal("search", "needle", "--json", FOVEAL_EMBEDDER="none").json[0]["parts"]
    assert "vector" not in parts
    assert "vector" in shell.foveal("search", "needle", "--json").json[0]["parts"]


def test_focus_prints_the_best_messages_for_a_question_within_the_budget(talked: CommandLine) -> None:
    question = "which algorithm signs the tokens?"
    assert "RS256" in talked.foveal("focus", question, "--budget", "100").out
    body = talked.foveal("focus", question, "--budget", "100", "--json").json
    assert body["tokens"] <= body["budget"] == 100
    assert body["manifest"]["preset"] == "focus"


@pytest.mark.parametrize("format", ["openai", "responses", "anthropic", "gemini"])
def test_focus_prints_a_valid_request_of_any_provider(talked: CommandLine, format: Format) -> None:
    body = talked.foveal("focus", "RS256", "--budget", "300", "--format", format).json
    assert set(wire.check(body, format)) <= {"ends_with_assistant"}
    assert "RS256" in json.dumps(body)


def test_focus_stores_no_build(talked: CommandLine) -> None:
    talked.foveal("focus", "RS256")
    with Foveal(talked.store) as fov:
        assert fov.session().stats().builds == 0


def test_a_budget_that_makes_no_sense_is_refused(talked: CommandLine) -> None:
    done = talked.foveal("focus", "RS256", "--budget", "0")
    assert (done.code, done.out) == (2, "")
    assert "--budget is '0'" in done.err


@pytest.mark.parametrize(("seconds", "announced"), [("0", True), ("60", False)])
def test_on_a_terminal_a_long_search_is_announced(talked: CommandLine, seconds: str, announced: bool) -> None:
    assert ("reading the session" in _watched(talked, ["search", "RS256"], seconds)) is announced


def _watched(shell: CommandLine, arguments: Sequence[str], seconds: str) -> str:
    """What a terminal shows after so many seconds."""
    pty = pytest.importorskip("pty")
    ours, theirs = pty.openpty()
    code = (
        f"import {output.__name__} as output; "
        f"output.LATE = {seconds}; from foveal.cli.app import run; run({list(arguments)})"
    )
    subprocess.run(
        [sys.executable, "-c", code],
        env=shell.environment(),
        stderr=theirs,
        stdout=subprocess.DEVNULL,
        check=True,
    )
    os.write(theirs, b".")
    os.close(theirs)
    shown = os.read(ours, 100_000).decode()
    os.close(ours)
    return shown


@pytest.mark.parametrize("moment", [-1e11, -6.3e10, 253_402_300_799.0, 1e300, float("nan"), float("inf")])
def test_a_time_outside_the_calendar_is_shown_as_a_dash(moment: float) -> None:
    assert output.moment(moment) in ("–", "9999-12-31 23:59")
