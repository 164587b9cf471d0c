"""What `why`, `diff` and `replay` promise on the command line."""

from __future__ import annotations

import pytest

import foveal
from commands import CommandLine
from foveal.presets import DEFAULT

HISTORY = [
    {"role": "system", "content": "You fix bugs."},
    *(
        {"role": role, "content": f"{role} says {n} of file_{n}.py " * 4}
        for n in range(20)
        for role in ("user", "assistant")
    ),
    {"role": "user", "content": "And now?"},
]


@pytest.fixture
def built(shell: CommandLine) -> CommandLine:
    shell.fill(*HISTORY)
    with foveal.Foveal(shell.store) as fov:
        fov.session().build(budget=300, preset="recent")
        fov.session().build(budget=400, preset="reploid")
    return shell


def test_why_shows_the_decision_and_what_would_change_it(built: CommandLine) -> None:
    out = built.foveal("why", "m3").out
    assert out.startswith("message 3, preset reploid\nverdict  left out\n")
    assert "more tokens of budget" in out
    assert max(map(len, out.splitlines())) <= 80


def test_why_asks_any_build_and_answers_in_json(built: CommandLine) -> None:
    found = built.foveal("why", "m3", "--build", "1", "--json").json
    assert (found["id"], found["build"], found["preset"], found["place"]) == ("m3", 1, "recent", 2)
    assert found["tokens"] > 0
    assert found["decision"]["verdict"] == "left out"


def test_why_and_explain_of_a_message_say_the_same(built: CommandLine) -> None:
    assert built.foveal("why", "m3").out == built.foveal("explain", "--message", "m3").out


def test_diff_shows_what_was_added_and_evicted(built: CommandLine) -> None:
    out = built.foveal("diff", "1", "2").out
    assert out.startswith("build 1 → 2\npreset      recent → reploid\n")
    assert "\nentered: " in out
    assert max(map(len, out.splitlines())) <= 80


def test_diff_in_json_has_the_reasons_of_both(built: CommandLine) -> None:
    found = built.foveal("diff", "1", "2", "--json").json
    assert (found["a"]["budget"], found["b"]["budget"]) == (300, 400)
    assert {run["before"]["verdict"] for run in found["entered"]} == {"left out"}


def test_diff_of_builds_that_are_not_there_says_which_are(built: CommandLine) -> None:
    done = built.foveal("diff", "1", "9")
    assert (done.code, done.out) == (1, "")
    assert "no build 9" in done.err
    assert "name a build from 1 to 2" in done.err


def test_replay_is_a_table_of_policies_in_80_columns(built: CommandLine) -> None:
    out = built.foveal("replay", "--preset", "omar", "--budget", "400", "--model", "claude-sonnet-4-5").out
    lines = out.splitlines()
    assert lines[0] == "42 messages, 21 calls of the model"
    assert [line.split()[0] for line in lines[4:7]] == ["sent", DEFAULT, "omar"]
    assert "$" in lines[4]
    assert max(map(len, lines)) <= 80


def test_replay_in_json_has_every_request(built: CommandLine) -> None:
    found = built.foveal("replay", "--preset", "omar", "--budget", "400", "--json").json
    assert (found["calls"], len(found["run"]["requests"])) == (21, 21)
    assert (found["run"]["invalid"], found["run"]["over"]) == (0, 0)


def test_replay_without_prices_says_how_to_get_them(built: CommandLine) -> None:
    assert "name a --model" in built.foveal("replay", "--budget", "400").out


def test_replay_stores_nothing(built: CommandLine) -> None:
    before = built.foveal("stats", "--json").json
    built.foveal("replay", "--preset", "omar", "--budget", "400")
    assert built.foveal("stats", "--json").json == before
