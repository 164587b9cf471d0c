"""What the memory commands promise."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from commands import CommandLine

CHAT = [
    {"role": "system", "content": "You fix bugs."},
    {"role": "user", "content": "We use RS256, not HS256."},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "ls", "arguments": "{}"}}],
    },
    {"role": "tool", "tool_call_id": "c1", "content": "auth.js\nindex.js"},
]


def said(text: str) -> dict[str, str]:
    return {"role": "user", "content": text}


def test_add_prints_the_id(shell: CommandLine) -> None:
    shell.fill(said("Fix the bug"))
    assert shell.foveal("add", "assistant", "--name", "coder", "Done").out == "m2\n"
    assert shell.history()[1] == {"role": "assistant", "content": "Done", "name": "coder"}


def test_add_reads_stdin_as_it_is(shell: CommandLine) -> None:
    shell.foveal("add", "user", "-", stdin="größe\n")
    shell.foveal("add", "user", stdin="two")
    assert shell.history() == [said("größe\n"), said("two")]


def test_a_pinned_message_is_in_every_window(shell: CommandLine) -> None:
    shell.foveal("add", "--pin", "user", "the rule")
    shell.fill(*[said("filler " * 50)] * 3)
    kept = shell.foveal("build", "--budget", "120", "--format", "openai").json["messages"]
    assert (kept[0]["content"], kept[-1]["content"][:8]) == ("the rule", "filler f")


def test_search_finds_and_its_handle_brings_the_original_back(shell: CommandLine) -> None:
    shell.fill(*CHAT)
    (hit,) = shell.foveal("search", "RS256", "--json").json
    assert (hit["id"], hit["role"], hit["text"]) == ("m2", "user", "We use RS256, not HS256.")
    assert shell.foveal("recall", hit["handle"]).out == "We use RS256, not HS256."
    assert shell.foveal("recall", "m3", "--json").json == CHAT[2]
    assert shell.foveal("recall", "m3").out == "ls({})"


def test_recall_reaches_another_session_only_on_request(shell: CommandLine) -> None:
    shell.fill(*CHAT)
    (hit,) = shell.foveal("search", "RS256", "--json").json
    shell.foveal("--session", "two", "add", "user", "hello")
    refused = shell.foveal("--session", "two", "recall", hit["handle"])
    assert (refused.code, "has no message" in refused.err) == (1, True)
    found = shell.foveal("--session", "two", "recall", "--everywhere", hit["handle"])
    assert found.out == "We use RS256, not HS256."


@pytest.mark.parametrize("command", [("add", "user", "hello"), ("import", "plain.json")])
def test_no_session_gets_a_name_that_a_url_cannot_carry(shell: CommandLine, command: tuple[str, ...]) -> None:
    shell.write("plain.json", CHAT[:2])
    refused = shell.foveal("--session", "..", *command)
    assert (refused.code, "cannot be part of a URL" in refused.err) == (1, True)


def test_a_system_prompt_from_beside_the_messages_can_be_recalled(shell: CommandLine) -> None:
    body = {
        "system": [{"type": "text", "text": "Be brief."}],
        "messages": [{"role": "user", "content": "Hi"}],
    }
    shell.foveal("import", shell.write("body.json", body))
    assert shell.foveal("recall", "m1").out == "Be brief."


def test_pin_unpin_leave_out_and_restore(shell: CommandLine) -> None:
    shell.fill(said("one"), said("two"))
    marks = (("pin", "m1"), ("unpin", "m1"), ("forget", "m1", "--keep"), ("restore", "m1"))
    assert [shell.foveal(*mark).out for mark in marks] == [
        "m1 pinned\n", "m1 unpinned\n", "m1 left out\n", "m1 restored\n",
    ]  # fmt: skip
    assert shell.history() == [said("one"), said("two")]


def test_what_is_forgotten_is_gone(shell: CommandLine) -> None:
    shell.fill(said("a secret"), said("two"))
    assert shell.foveal("forget", "m1", "--yes", "--json").json == {
        "id": "m1",
        "mark": "erased",
        "ids": ["m1"],
    }
    assert shell.history() == [said("two")]
    assert b"a secret" not in shell.store.read_bytes()


def test_the_ids_of_all_messages_are_listed(shell: CommandLine) -> None:
    shell.fill(said("one"), said("two " * 100), said("three"))
    shell.foveal("forget", "m1", "--yes")
    shell.foveal("pin", "m3")
    rows = shell.foveal("export", "--ids", "--json").json
    assert [(row["id"], row["mark"], row["text"][:5]) for row in rows] == [
        ("m1", "erased", ""), ("m2", "", "two t"), ("m3", "pinned", "three"),
    ]  # fmt: skip
    assert shell.foveal("recall", rows[2]["handle"]).out == "three"
    lines = shell.foveal("export", "--ids").out.splitlines()
    assert [line.split()[0] for line in lines] == ["m1", "m2", "m3"]
    assert lines[2].endswith("(pinned) three")
    assert max(map(len, lines)) <= 80


@pytest.mark.parametrize("answer", ["", "n\n", "y\n"])
def test_without_a_terminal_nothing_is_erased_without_yes(shell: CommandLine, answer: str) -> None:
    shell.fill(said("one"))
    done = shell.foveal("forget", "m1", stdin=answer)
    assert (done.code, done.out) == (1, "")
    assert "`--yes`" in done.err
    assert "`--keep`" in done.err
    assert shell.history() == [said("one")]


@pytest.mark.parametrize(("answer", "code", "left"), [(b"n\n", 1, 2), (b"y\n", 0, 1)])
def test_on_a_terminal_forget_asks_first(shell: CommandLine, answer: bytes, code: int, left: int) -> None:
    pty = pytest.importorskip("pty")
    shell.fill(said("one"), said("two"))
    ours, theirs = pty.openpty()
    os.write(ours, answer)
    command = [sys.executable, "-m", "foveal.cli", "forget", "m1"]
    done = subprocess.run(command, env=shell.environment(), stdin=theirs, check=False, capture_output=True)
    os.close(theirs)
    os.close(ours)
    assert done.stderr.startswith(b"Erase m1 for good?")
    assert (done.returncode, len(shell.history())) == (code, left)


@pytest.mark.parametrize("command", ["recall", "pin", "restore"])
def test_an_unknown_message_is_answered_with_the_commands_that_list_ids(
    shell: CommandLine, command: str
) -> None:
    shell.fill({"role": "user", "content": "hi"})
    done = shell.foveal(command, "m999")
    assert done.code == 1
    assert "`foveal search` and `foveal export --ids` give ids and handles" in done.err


def test_a_message_is_named_by_its_number_as_explain_prints_it(shell: CommandLine) -> None:
    shell.fill(*({"role": "user", "content": f"message {n}"} for n in (1, 2, 3)))
    assert shell.foveal("recall", "2").out == "message 2"
    assert shell.foveal("pin", "#2").out == "m2 pinned\n"
    assert shell.foveal("forget", "3", "--keep").out == "m3 left out\n"


def test_restore_without_an_id_restores_all(shell: CommandLine) -> None:
    shell.fill(*({"role": "user", "content": f"message {n}"} for n in (1, 2, 3)))
    assert shell.foveal("restore").out == "no message was left out\n"
    for id in ("m1", "m2"):
        shell.foveal("forget", id, "--keep")
    assert shell.foveal("restore").out == "m1–m2 restored\n"


def test_a_priority_is_stored_exported_and_listed(shell: CommandLine) -> None:
    assert shell.foveal("add", "user", "hello", "--priority", "170").out == "m1\n"
    assert shell.foveal("export").json == [said("hello") | {"priority": 170.0}]
    assert [row["priority"] for row in shell.foveal("export", "--ids", "--json").json] == [170.0]


def test_an_invalid_priority_creates_no_session(shell: CommandLine) -> None:
    for wrong in ("-1", "1001", "nan", "2k", "high", "9" * 400):
        done = shell.foveal("add", "user", "hello", "--priority", wrong)
        assert done.err.startswith("foveal: --priority is '")
        assert "', not a number from 0 to 1,000\n" in done.err
        assert (done.code, shell.store.exists()) == (2, False)


@pytest.mark.parametrize("text", ["1000", "1,000", "1_000", "1k", "1e3", "1000.0"])
def test_a_priority_may_be_written_as_people_write_numbers(shell: CommandLine, text: str) -> None:
    shell.foveal("add", "user", "hello", "--priority", text)
    assert shell.foveal("export").json == [said("hello") | {"priority": 1000.0}]
