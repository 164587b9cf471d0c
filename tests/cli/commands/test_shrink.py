"""What `compress`, `prune`, `summarize` and `task` promise, and who writes the summaries."""

from __future__ import annotations

import pytest

from commands import CommandLine
from foveal.testing.model_server import ModelServer, Reply

LONG = [
    {
        "role": ("user", "assistant")[n % 2],
        "content": f"Step {n}: module {n} was read, and nothing is wrong. " * 6,
    }
    for n in range(60)
]


@pytest.fixture
def long(shell: CommandLine) -> CommandLine:
    shell.fill(*LONG)
    return shell


def test_prune_says_what_left_and_how_to_get_it_back(long: CommandLine) -> None:
    done = long.foveal("prune", "--max-tokens", "900")
    assert done.out == "51 messages left out: 5,703 tokens became 858\n"
    assert (
        done.err
        == "foveal: `foveal restore ID` allows a message into windows again; without an ID, all of them\n"
    )
    assert long.history() == LONG


def test_prune_as_json_names_the_messages(long: CommandLine) -> None:
    found = long.foveal("prune", "--max-tokens", "900", "--json").json
    assert found["final"] <= 900 < found["original"]
    assert long.foveal("prune", "--max-tokens", "900", "--json").json["ids"] == []


def test_summarize_keeps_the_newest_and_shows_the_note(long: CommandLine) -> None:
    done = long.foveal("summarize", "--keep", "4")
    assert done.out.startswith("56 messages summarized: ")
    note = done.out.partition("\n\n")[2].strip()
    assert note in long.foveal("build", "--budget", "100000").out


def test_where_nothing_leaves_that_is_said(shell: CommandLine) -> None:
    shell.fill(*LONG[:3])
    for command, done in (("prune", "left out"), ("summarize", "summarized"), ("compress", "compressed")):
        assert shell.foveal(command).out == f"nothing {done}\n"


def test_compress_makes_windows_smaller_and_restore_brings_all_back(long: CommandLine) -> None:
    found = long.foveal("compress", "--max-tokens", "2000", "--json").json
    assert found["final"] < found["original"] / 2
    assert long.foveal("compress", "--max-tokens", "2000").out == "nothing compressed\n"
    back = long.foveal("restore", found["ids"][0], "--json").json
    assert found["ids"][0] in back["ids"]
    assert set(back["ids"]) <= set(found["ids"])


def test_a_task_begins_ends_and_leaves_its_summary(shell: CommandLine) -> None:
    assert shell.foveal("task", "start", "fix the login").out == "task 1 started\n"
    shell.fill(*LONG)
    assert shell.foveal("task", "--json").json[0]["name"] == "fix the login"
    summary = shell.foveal("task", "complete", "--json").json["summary"]
    assert summary
    assert shell.foveal("task").out == "1  complete  fix the login\n"


def test_the_next_task_ends_the_one_before(shell: CommandLine) -> None:
    shell.foveal("task", "start", "one")
    assert shell.foveal("task", "--json", "start", "two").json == {"number": 2, "name": "two"}
    assert shell.foveal("task").out == "1  complete  one\n2  open      two\n"


def test_no_task_is_no_failure_and_none_to_complete_is_one(shell: CommandLine) -> None:
    shell.fill(*LONG[:2])
    assert shell.foveal("task").err == "foveal: no tasks yet; `foveal task start NAME` starts one\n"
    done = shell.foveal("task", "complete")
    assert done.code == 1
    assert "try: `foveal task start NAME` begins one" in done.err


def test_completing_a_task_says_what_windows_show_from_then_on(shell: CommandLine) -> None:
    shell.foveal("task", "start", "long")
    shell.fill(*LONG)
    done = shell.foveal("task", "complete")
    assert done.err == "foveal: windows show this in place of 60 messages; `foveal restore m1` undoes it\n"
    assert done.out.strip() in shell.foveal("build", "--budget", "9000").out


def test_a_short_task_is_said_to_stay_as_it_is(shell: CommandLine) -> None:
    shell.foveal("task", "start", "short")
    shell.fill({"role": "user", "content": "hello"}, {"role": "assistant", "content": "hi there"})
    done = shell.foveal("task", "complete")
    assert done.out.strip()
    assert done.err == "foveal: windows keep showing the messages themselves: they are hardly longer\n"


def test_an_empty_task_is_said_to_be_empty(shell: CommandLine) -> None:
    shell.foveal("task", "start", "nothing")
    done = shell.foveal("task", "complete")
    assert (done.out, done.err) == ("nothing to summarize in task 1: it was empty\n", "")


def test_a_limit_that_cannot_be_reached_is_reported(long: CommandLine) -> None:
    done = long.foveal("compress", "--max-tokens", "100")
    assert "tokens are left, 100 were asked for: the rest is notes (" in done.err
    again = long.foveal("compress", "--max-tokens", "100")
    assert (again.out, "100 were asked for" in again.err) == ("nothing compressed\n", True)


def test_restored_messages_are_reported_in_ranges(long: CommandLine) -> None:
    long.foveal("summarize", "--keep", "4")
    assert long.foveal("restore", "m7").out == "m1–m56 restored\n"
    assert long.foveal("restore", "m7").out == "m7 was not left out\n"


@pytest.mark.parametrize("reply", [Reply(status=401), Reply(text="")])
def test_a_model_that_fails_is_reported_once_and_an_extract_serves(long: CommandLine, reply: Reply) -> None:
    with ModelServer(reply) as server:
        done = long.foveal("compress", "--max-tokens", "2000", **_model(server))
        assert server.received
    assert done.code == 0
    assert "compressed" in done.out
    assert done.err.count("warning") == 1
    assert "127.0.0.1" in done.err
    assert done.err.splitlines()[0].endswith("an extract serves instead")


def test_without_summaries_by_a_model_none_is_asked(long: CommandLine) -> None:
    with ModelServer() as server:
        long.foveal("compress", "--max-tokens", "2000", **_model(server) | {"FOVEAL_SUMMARIES": "extractive"})
        assert server.received == []


def test_a_build_does_not_end_before_the_model_was_asked(long: CommandLine) -> None:
    with ModelServer(Reply(text="All modules were read. Nothing is wrong.")) as server:
        options = ("--preset", "openscroll", "--budget", "1500")
        assert long.foveal("build", *options, **_model(server)).code == 0
        assert server.received
        assert server.received[0].headers["authorization"] == "Bearer sk-secret"


def _model(server: ModelServer) -> dict[str, str]:
    return {
        "FOVEAL_SUMMARIES": "llm",
        "FOVEAL_SUMMARY_URL": server.url,
        "FOVEAL_SUMMARY_MODEL": "small",
        "FOVEAL_SUMMARY_KEY": "SOME_KEY",
        "SOME_KEY": "sk-secret",
    }


@pytest.mark.parametrize("command", ["prune", "compress"])
def test_tokens_to_fit_into_are_at_least_one(shell: CommandLine, command: str) -> None:
    done = shell.foveal(command, "--max-tokens", "0")
    assert done.code == 2
    assert "--max-tokens is '0', not a number of tokens above 0" in done.err


def test_completing_no_task_is_answered_with_the_command_that_starts_one(shell: CommandLine) -> None:
    shell.fill({"role": "user", "content": "hi"})
    assert "`foveal task start NAME` begins one" in shell.foveal("task", "complete").err


@pytest.mark.parametrize("command", ["prune", "compress", "summarize"])
def test_a_dry_run_reports_and_changes_nothing(long: CommandLine, command: str) -> None:
    size = ("--keep", "4") if command == "summarize" else ("--max-tokens", "2000")
    planned = long.foveal(command, *size, "--dry-run", "--json").json
    assert "would be" in long.foveal(command, *size, "--dry-run").out
    assert long.foveal("stats", "--json").json["absent"] == 0
    assert long.foveal(command, *size, "--json").json == planned
