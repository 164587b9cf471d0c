"""What `foveal op` promises: a JSON request in, a JSON result out."""

from __future__ import annotations

import json

import pytest

from commands import CommandLine
from foveal import operations

HELLO = {"text": "hello world", "model": "gpt-5"}


def test_an_operation_runs_on_stdin_and_answers_in_json(shell: CommandLine) -> None:
    done = shell.foveal("op", "tokens_count", stdin=json.dumps(HELLO))
    assert done.json == operations.run("tokens_count", HELLO)


def test_an_operation_runs_on_a_file(shell: CommandLine) -> None:
    assert shell.foveal("op", "tokens_count", shell.write("hello.json", HELLO)).json["tokens"] == 2


def test_the_list_names_every_operation_and_fits_80_columns(shell: CommandLine) -> None:
    head, *lines = shell.foveal("op", "--list").out.splitlines()
    assert head.split() == ["operation", "code", "about"]
    named = [line.split()[0] for line in lines if not line.startswith(" ")]
    assert named == [each.name for each in operations.REGISTRY.operations]
    assert max(map(len, lines)) <= 80


def test_the_list_comes_as_json_too(shell: CommandLine) -> None:
    listed = {each["name"]: each for each in shell.foveal("op", "--list", "--json").json}
    assert listed["tokens_count"] == {
        "name": "tokens_count", "code": "", "about": "Tokens of a text or of messages.",
    }  # fmt: skip


def test_the_schema_says_what_it_takes_and_gives(shell: CommandLine) -> None:
    found = shell.foveal("op", "history_prune", "--schema").json
    assert found["request"]["required"] == ["messages"]
    assert set(found["result"]["properties"]) == {"pruned", "removed", "stats", "warnings"}


def test_a_bad_request_names_the_field_and_where_to_look(shell: CommandLine) -> None:
    done = shell.foveal("op", "tokens_count", stdin='{"text": "hello", "modle": "gpt-5"}')
    assert (done.code, done.out) == (1, "")
    assert "tokens_count: `modle`" in done.err
    assert "`foveal op tokens_count --schema`" in done.err


def test_a_request_that_is_no_object_is_refused(shell: CommandLine) -> None:
    done = shell.foveal("op", "tokens_count", stdin="[1, 2]")
    assert (done.code, "not an object" in done.err) == (1, True)


def test_an_unknown_operation_fails_before_anything_is_read(shell: CommandLine) -> None:
    done = shell.foveal("op", "tokens_cuont")
    assert done.code == 1
    assert done.err.splitlines() == [
        "foveal: there is no operation 'tokens_cuont'",
        "  try: `foveal op --list` names them all",
    ]


def test_without_a_name_it_is_wrong_usage(shell: CommandLine) -> None:
    done = shell.foveal("op")
    assert (done.code, done.out) == (2, "")
    assert "--list" in done.err


def test_a_number_of_thousands_of_digits_is_refused(shell: CommandLine) -> None:
    file = shell.write("request.json", f"[{'9' * 5_000}]")
    for arguments in (("op", "tokens_count", file), ("fit", shell.write("m.json", "[]"), "--tools", file)):
        done = shell.foveal(*arguments)
        assert (done.code, "too many digits" in done.err) == (1, True)


CHUNKS = [{"id": "a", "content": "hello", "type": "chat_history_user", "tokens": 60}]
OPTIMIZE = {"chunks": CHUNKS, "available_tokens": 2_000, "user_id": "ann", "session_id": "work"}


def test_the_settings_of_files_apply(shell: CommandLine) -> None:
    given = json.dumps(OPTIMIZE)
    assert shell.foveal("op", "context_optimize", stdin=given).json["dropped"] == ["a"]
    shell.write("foveal.toml", "[presets.omar]\nreserve = 100\ndensities = {general = 1.0}")
    assert shell.foveal("op", "context_optimize", stdin=given).json["dropped"] == []
    estimated = shell.foveal("op", "0x3213", stdin='{"text": "hello"}').json
    assert estimated == {"tokens": 5, "density": 1.0}


def test_an_optimization_is_listed(shell: CommandLine) -> None:
    done = shell.foveal("op", "0x3200", stdin=json.dumps(OPTIMIZE)).json
    (record,) = shell.foveal("op", "--log", "--json").json
    assert (record["optimization_id"], record["user_id"]) == (done["optimization_id"], "ann")
    assert (record["session"], record["operation"]) == ("work", "context_optimize")
    listed = shell.foveal("op", "--log")
    assert listed.err == "foveal: tokens are of the chosen chunks; operations count their reserve too\n"
    head, line = listed.out.splitlines()
    assert head.split() == ["time", "operation", "for", "chunks", "tokens"]
    assert line.split()[-8:] == ["optimize", "ann", "0", "of", "1", "2,000", "of", "2,000"]


@pytest.mark.parametrize("option", ["--log", "--list"])
def test_a_list_takes_no_name(shell: CommandLine, option: str) -> None:
    done = shell.foveal("op", option, "context_optimize")
    assert (done.code, done.err.splitlines()[0]) == (
        2, f"foveal: `{option}` takes no name; omit 'context_optimize'",
    )  # fmt: skip


@pytest.mark.parametrize("name", ["tokens_count", "context_estimate_tokens"])
def test_an_operation_without_a_record_needs_no_store(shell: CommandLine, name: str) -> None:
    assert shell.foveal("op", name, stdin='{"text": "hello"}').json["tokens"] > 0
    assert not shell.store.exists()
