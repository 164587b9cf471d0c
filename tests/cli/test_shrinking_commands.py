"""What `compress`, `prune`, `summarize` and `task` promise, and who writes the summaries."""

from __future__ import annotations

import pytest

from commands import Desk
from foveal.testing.model_server import ModelServer, Reply

LONG = [
    {
        "role": ("user", "assistant")[n % 2],
        "content": f"Step {n}: module {n} was read, and nothing is wrong. " * 6,
    }
    for n in range(60)
]


@pytest.fixture
def long(desk: Desk) -> Desk:
    desk.fill(*LONG)
    return desk


def test_prune_says_what_left_and_how_to_get_it_back(long: Desk) -> None:
    done = long.foveal("prune", "--max-tokens", "900")
    assert done.out == "51 messages left out: 5,703 tokens became 858\n"
    assert done.err == "foveal: `foveal restore ID` brings a message back into windows\n"
    assert long.history() == LONG


def test_prune_as_json_names_the_messages(long: Desk) -> None:
    found = long.foveal("prune", "--max-tokens", "900", "--json").json
    assert found["final"] <= 900 < found["original"]
    assert long.foveal("prune", "--max-tokens", "900", "--json").json["ids"] == []


def test_summarize_keeps_the_newest_and_shows_the_note(long: Desk) -> None:
    done = long.foveal("summarize", "--keep", "4")
    assert done.out.startswith("56 messages summarized: ")
    note = done.out.partition("\n\n")[2].strip()
    assert note in long.foveal("build", "--budget", "100000").out


def test_where_nothing_leaves_that_is_said(desk: Desk) -> None:
    desk.fill(*LONG[:3])
    for command, done in (("prune", "left out"), ("summarize", "summarized"), ("compress", "compressed")):
        assert desk.foveal(command).out == f"nothing {done}\n"


def test_compress_makes_windows_smaller_and_restore_brings_all_back(long: Desk) -> None:
    found = long.foveal("compress", "--max-tokens", "2000", "--json").json
    assert found["final"] < found["original"] / 2
    assert long.foveal("compress", "--max-tokens", "2000").out == "nothing compressed\n"
    back = long.foveal("restore", found["ids"][0], "--json").json
    assert found["ids"][0] in back["ids"]
    assert set(back["ids"]) <= set(found["ids"])


def test_a_task_begins_ends_and_leaves_its_summary(desk: Desk) -> None:
    assert desk.foveal("task", "start", "fix the login").out == "task 1 started\n"
    desk.fill(*LONG)
    assert desk.foveal("task", "--json").json[0]["name"] == "fix the login"
    summary = desk.foveal("task", "complete", "--json").json["summary"]
    assert summary
    assert desk.foveal("task").out == "1  complete  fix the login\n"


def test_the_next_task_ends_the_one_before(desk: Desk) -> None:
    desk.foveal("task", "start", "one")
    assert desk.foveal("task", "--json", "start", "two").json == {"number": 2, "name": "two"}
    assert desk.foveal("task").out == "1  complete  one\n2  open      two\n"


def test_no_task_is_no_failure_and_none_to_complete_is_one(desk: Desk) -> None:
    desk.fill(*LONG[:2])
    assert desk.foveal("task").err == "foveal: no tasks yet; `foveal task start NAME` begins one\n"
    assert desk.foveal("task", "complete").code == 1


@pytest.mark.parametrize("reply", [Reply(status=401), Reply(text="")])
def test_a_model_that_fails_is_told_of_once_and_an_extract_serves(long: Desk, reply: Reply) -> None:
    with ModelServer(reply) as server:
        done = long.foveal("compress", "--max-tokens", "2000", **_model(server))
        assert server.received
    assert done.code == 0
    assert "compressed" in done.out
    assert done.err.count("warning") == 1
    assert "127.0.0.1" in done.err
    assert done.err.splitlines()[0].endswith("an extract serves instead")


def test_without_summaries_by_a_model_none_is_asked(long: Desk) -> None:
    with ModelServer() as server:
        long.foveal("compress", "--max-tokens", "2000", **_model(server) | {"FOVEAL_SUMMARIES": "extractive"})
        assert server.received == []


def test_a_build_does_not_end_before_the_model_was_asked(long: Desk) -> None:
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
