"""What holds for every command: where results and errors go, exit codes, JSON, colour, the way out."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any, get_args

import pytest
import typer.main

from commands import CommandLine
from foveal import __version__
from foveal.cli import app
from foveal.cli.errors import SEE
from foveal.errors import See

COMMANDS = sorted(typer.main.get_command(app).commands)  # type: ignore[attr-defined]
ISSUED = (
    "add import build fit stats search recall pin unpin forget restore sessions export backup verify count "
    "models explain compare config doctor demo op compress summarize prune focus task "
    "context remember profile why diff replay serve pool learn"
)
ENDLESS = {"serve"}
"""What has no result to print."""
MESSAGES = [{"role": "user", "content": f"message {n}"} for n in range(3)]

COUNT = "a number of tokens above 0, such as 8000, 8k or 1.5m"


def test_every_command_is_there() -> None:
    assert sorted(ISSUED.split()) == COMMANDS


def test_every_command_takes_json_and_says_what_it_does() -> None:
    for name, command in typer.main.get_command(app).commands.items():  # type: ignore[attr-defined]
        takes = "--json" in [option for param in command.params for option in param.opts]
        assert takes is (name not in ENDLESS), name
        assert command.help, name


def test_without_a_command_the_help_is_printed(shell: CommandLine) -> None:
    done = shell.foveal()
    assert done.code == 0
    assert all(f"\n  {name} " in done.out for name in COMMANDS)


def test_a_process_ends_as_its_command_does(shell: CommandLine) -> None:
    wrong = shell.process("biuld")
    assert (wrong.code, wrong.out) == (2, "")
    assert wrong == shell.foveal("biuld")


def test_the_version_is_printed(shell: CommandLine) -> None:
    assert shell.foveal("--version").out == f"foveal {__version__}\n"


def test_json_may_stand_before_or_after_the_command(shell: CommandLine) -> None:
    before, after = (
        shell.foveal("--json", "add", "user", "one"),
        shell.foveal("add", "user", "two", "--json"),
    )
    assert (before.json, after.json) == ({"id": "m1"}, {"id": "m2"})


def test_what_fails_says_so_in_one_line_and_what_to_do_in_another(shell: CommandLine) -> None:
    shell.fill({"role": "user", "content": "one"}, session="other")
    done = shell.foveal("stats")
    assert (done.code, done.out) == (1, "")
    assert done.err.splitlines() == [
        "foveal: there is no session 'default'",
        "  try: `--session` takes another, as in other; `foveal add` and `foveal import` create one",
    ]


@pytest.mark.parametrize(
    "arguments",
    [
        ["biuld"],
        ["build", "--bugdet", "9"],
        ["add"],
        ["add", "robot", "hello"],
        ["serve", "--port", "99999999"],
    ],
)
def test_wrong_usage_exits_2_and_names_the_help(shell: CommandLine, arguments: list[str]) -> None:
    done = shell.foveal(*arguments)
    assert (done.code, done.out) == (2, "")
    first, second = done.err.splitlines()
    assert first.startswith("foveal: ")
    assert second.startswith("  try: `foveal")


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (["biuld"], "there is no command `biuld`; did you mean `build`?"),
        (["task", "strat"], "there is no command `strat`; did you mean `start`?"),
        (["qqqq"], "there is no command `qqqq`"),
        (["build", "--bugdet", "9"], "there is no option --bugdet; did you mean --budget?"),
        (["build", "--budget"], "--budget needs a value"),
        (["build", "--budget", "8x"], f"--budget is '8x', not {COUNT}"),
        (["prune", "--max-tokens", "x"], f"--max-tokens is 'x', not {COUNT}"),
        (["build", "a", "b"], "too many arguments: a b"),
        (["add"], "ROLE is missing: one of system, user, assistant, tool"),
        (["why"], "ID is missing"),
        (["add", "robot", "x"], "ROLE is 'robot', not one of 'system', 'user', 'assistant', 'tool'"),
        (["explain", "x"], "BUILD is 'x', not an integer"),
        (["search", "x", "--limit", "0"], "--limit is 0; the least is 1"),
        (["serve", "--port", "99999999"], "--port is 99999999; the most is 65,535"),
    ],
)
def test_wrong_usage_is_told_in_our_own_words(shell: CommandLine, arguments: list[str], what: str) -> None:
    assert shell.foveal(*arguments).err.splitlines()[0] == f"foveal: {what}"


@pytest.mark.parametrize("budget", ["2k", "2_000", "2,000", "0.002m"])
def test_a_number_of_tokens_may_be_written_as_people_write_it(shell: CommandLine, budget: str) -> None:
    shell.fill(*MESSAGES)
    assert shell.foveal("build", "--budget", budget, "--json").json["budget"] == 2_000
    assert shell.foveal("focus", "message", "--budget", budget, "--json").json["budget"] == 2_000
    assert shell.foveal("prune", "--max-tokens", budget).code == 0


NINES = "9" * 5_000


@pytest.mark.parametrize("arguments", [["build", "--budget", NINES], ["diff", NINES, "2"], ["config", NINES]])
def test_an_error_quotes_only_so_much_of_what_was_typed(shell: CommandLine, arguments: list[str]) -> None:
    done = shell.foveal(*arguments)
    assert (done.code, len(done.err) < 700) == (2, True)
    assert len(shell.foveal("--json", *arguments).err) < 800


def test_a_budget_that_is_too_large_is_refused_by_every_command(shell: CommandLine) -> None:
    shell.fill(*MESSAGES)
    large = "9" * 23
    typed = shell.foveal("build", "--budget", large)
    assert typed.err.startswith(f"foveal: --budget is '{large}', which is above 9,007,199,254,740,991")
    for budget in (large, NINES, "10" * 9 + "m"):
        for command in ("config", "build"):
            found = shell.foveal(command, FOVEAL_BUDGET=budget)
            assert (found.code, found.err.splitlines()[0]) == (
                1, "foveal: FOVEAL_BUDGET: `budget` is above 9,007,199,254,740,991",
            )  # fmt: skip


def test_a_long_value_of_a_setting_widens_no_table(shell: CommandLine) -> None:
    assert max(map(len, shell.foveal("config", FOVEAL_MODEL="x" * 5_000).out.splitlines())) < 300


def test_with_json_an_error_is_json_on_stderr(shell: CommandLine) -> None:
    failed = shell.foveal("stats", "--json")
    assert (failed.code, failed.out) == (1, "")
    assert json.loads(failed.err)["what"].startswith("there is no store")
    assert json.loads(failed.err)["error"] == "StoreError"
    misused = shell.foveal("--json", "build", "--budget", "8x")
    assert (misused.code, misused.out) == (2, "")
    assert json.loads(misused.err) == {
        "error": "UsageError",
        "what": f"--budget is '8x', not {COUNT}",
        "remedy": "`foveal build --help`",
        "field": "--budget",
    }


def test_an_option_after_the_command_is_answered_with_its_place(shell: CommandLine) -> None:
    done = shell.foveal("build", "--session", "review")
    assert done.code == 2
    assert done.err.splitlines() == [
        "foveal: --session goes before the command",
        "  try: `foveal --session NAME build …`",
    ]


READING = (
    "verify, search x --everywhere, stats, export, sessions, recall m1, backup copy.db, build, focus x, "
    "compress, prune, summarize, task, task complete, profile, profile delete memory-1"
)


@pytest.mark.parametrize("command", READING.split(", "))
def test_what_only_reads_makes_no_store(shell: CommandLine, command: str) -> None:
    done = shell.foveal(*command.split())
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith(f"foveal: there is no store at {shell.store}\n  try: ")
    assert not list(shell.folder.glob("*.db"))


def test_an_option_after_a_subcommand_is_answered_with_its_place(shell: CommandLine) -> None:
    done = shell.foveal("task", "start", "login", "--session", "review")
    assert done.err.splitlines()[1] == "  try: `foveal --session NAME task start …`"


def test_a_variable_that_sets_nothing_is_warned_of(shell: CommandLine) -> None:
    done = shell.foveal("add", "user", "hello", FOVEAL_BUGDET="8000")
    assert (done.code, done.out) == (0, "m1\n")
    assert done.err == (
        "foveal: warning: the variable FOVEAL_BUGDET sets nothing; did you mean `FOVEAL_BUDGET`?\n"
    )


def test_on_a_terminal_long_errors_are_wrapped_at_its_width(shell: CommandLine) -> None:
    pty = pytest.importorskip("pty")
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "foveal.cli", "forget", "m1"]
    subprocess.run(command, env=shell.environment(COLUMNS="60"), stderr=theirs, check=False)
    os.close(theirs)
    lines = os.read(ours, 100_000).decode().splitlines()
    os.close(ours)
    assert len(lines) > 2
    # A path is not broken: it would be of no use.
    assert all(len(line) < 60 or str(shell.store) in line for line in lines)


def test_a_warning_is_one_line_on_stderr(shell: CommandLine) -> None:
    done = shell.foveal("fit", "--model", "nobodys-model", stdin=json.dumps(MESSAGES))
    assert done.json == MESSAGES
    assert done.err.startswith("foveal: warning: model `nobodys-model` is not in the catalogue")
    assert done.err.count("\n") == 1


def test_a_reader_that_has_seen_enough_is_no_failure_worth_a_word(shell: CommandLine) -> None:
    shell.fill(*[{"role": "user", "content": "x" * 9_000}] * 200)
    export = f"{sys.executable} -m foveal.cli export --jsonl | head -c 10"
    done = subprocess.run(["bash", "-c", export], env=shell.environment(), check=False, capture_output=True)
    assert (len(done.stdout), done.stderr) == (10, b"")


@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_an_interrupt_ends_it_with_130_and_no_traceback(shell: CommandLine) -> None:
    command = [sys.executable, "-m", "foveal.cli", "count"]
    options: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    options["preexec_fn"] = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)  # a job may ignore it
    with subprocess.Popen(command, env=shell.environment(), **options) as process:
        _wait_until_reading(process.pid)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=20)
    assert process.returncode == 130
    assert b"Traceback" not in err


def _wait_until_reading(pid: int) -> None:
    """Until the process waits for its stdin; where that cannot be seen, a while."""
    place = Path(f"/proc/{pid}/wchan")
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        if place.exists() and "pipe" in place.read_text():
            return
        time.sleep(0.05)


@pytest.mark.parametrize("plain", [{"NO_COLOR": "1"}, {"CI": "true"}, {}])
def test_only_a_terminal_gets_colour(shell: CommandLine, plain: dict[str, str]) -> None:
    pytest.importorskip("pty")
    shell.fill(*MESSAGES)
    environment = {"NO_COLOR": "", "CI": "", "TERM": "xterm-256color", **plain}
    assert ("\x1b[" in _on_a_terminal(shell, environment)) is (not plain)


def _on_a_terminal(shell: CommandLine, environment: dict[str, str]) -> str:
    import pty

    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "foveal.cli", "search", "message"]
    subprocess.run(command, env=shell.environment(**environment), stdout=theirs, check=True)
    os.close(theirs)
    shown = os.read(ours, 100_000).decode()
    os.close(ours)
    return shown


@pytest.mark.parametrize("command", ["--version", "add user hello"])
def test_what_needs_no_colour_and_no_prices_does_not_load_them(shell: CommandLine, command: str) -> None:
    code = (
        "import sys; from foveal.cli.app import run; "
        f"run({command.split()}); print('rich' in sys.modules, 'genai_prices' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env=shell.environment(), check=True, capture_output=True, text=True
    )
    assert done.stdout.splitlines()[-1] == "False False"


def test_the_version_loads_neither_the_library_nor_a_command(shell: CommandLine) -> None:
    heavy = ("foveal.session", "foveal.cli.commands", "pydantic")
    code = (
        "import sys; from foveal.cli.app import run; run(['--version']); "
        f"print([name for name in {heavy} if name in sys.modules])"
    )
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, env=shell.environment(), check=True, capture_output=True, text=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_a_command_that_builds_no_window_imports_no_preset(shell: CommandLine) -> None:
    shell.foveal("add", "user", "hello")
    shell.foveal("build", "--budget", "1000")
    code = (
        "import sys; from foveal.cli.app import run; "
        "codes = [run(line.split()) for line in ('search hello', 'sessions', 'recall m1', 'explain')]; "
        "print('', codes, [name for name in sys.modules if name.startswith('foveal.presets.foveal')])"
    )
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, env=shell.environment(), check=True, capture_output=True, text=True)
    assert done.stdout.endswith("[0, 0, 0, 0] []\n")


def test_every_listing_that_a_remedy_refers_to_has_a_command() -> None:
    assert {"", *SEE} == set(get_args(See))


def test_completion_is_there(shell: CommandLine) -> None:
    done = shell.foveal(_FOVEAL_COMPLETE="complete_bash", COMP_WORDS="foveal bui", COMP_CWORD="1")
    assert done.out.split() == ["build"]


def test_a_service_without_its_store_says_so_before_it_listens(shell: CommandLine) -> None:
    (shell.folder / "file").write_text("no folder", encoding="utf-8")
    done = shell.foveal("--store", str(shell.folder / "file" / "no.db"), "serve", "--port", "0")
    assert (done.code, "listening" in done.err, "Traceback" in done.err) == (1, False, False)
    assert "  try: " in done.err
