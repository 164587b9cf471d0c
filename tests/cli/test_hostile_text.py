"""A terminal receives no control character of a message, a name or a file, whichever command prints it."""

from __future__ import annotations

import re

import pytest

from commands import CommandLine
from foveal import Foveal
from foveal.cli.app import run
from terminal import on_a_terminal

HOSTILE = "\x1b]0;owned\x07\x1b[2J\x1b[31m\x9b31m\x08\x7f\u202e\u2066\rred"
OURS = re.compile(rb"\x1b\[(?:0|1|2|3[0-7])m")
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
COMMANDS = (
    ("sessions",),
    ("--json", "sessions"),
    ("--session", "work", "build", "--budget", "5000"),
    ("--session", "work", "build", "--budget", "5000", "--format", "prompt"),
    ("--session", "work", "search", "red"),
    ("--session", "work", "recall", "m1"),
    ("--session", "work", "export"),
    ("--session", "work", "explain"),
    ("--session", "work", "why", "m2"),
    ("--session", "work", "stats"),
    ("--session", "work", "focus", "red"),
    ("--session", HOSTILE, "stats"),
    ("--session", "work", "why", HOSTILE),
    ("--session", "work", "build", "--model", HOSTILE),
    ("--session", "work", "build", "--preset", HOSTILE),
    ("--json", "--session", "work", "build", "--preset", HOSTILE),
    ("context", "--workspace", HOSTILE, "--task", "x"),
    ("context", "--workspace", "folder", "--task", "red"),
    ("import", HOSTILE),
    ("profile",),
    ("task", "list"),
    ("config",),
    (HOSTILE,),
    ("--" + HOSTILE,),
)


@pytest.fixture
def filled(shell: CommandLine) -> CommandLine:
    with Foveal(shell.store) as fov:
        session = fov.session("work", model="red-model")
        session.add("user", f"the {HOSTILE} button of file{HOSTILE}.py", name=HOSTILE)
        call = {"id": "c", "type": "function", "function": {"name": HOSTILE, "arguments": HOSTILE}}
        session.extend([{"role": "assistant", "content": HOSTILE, "tool_calls": [call]}])
        session.extend([{"role": "tool", "tool_call_id": "c", "content": HOSTILE * 30}])
        session.start_task("task")
        with pytest.warns(UserWarning, match="`red-model`"):
            session.build(budget=5_000)
        fov.session("~[31mred".replace("~", "\N{SYMBOL FOR ESCAPE}"))
    (shell.folder / "folder").mkdir()
    (shell.folder / "folder" / "red\x1b[2J.md").write_text("red")
    (shell.folder / "folder" / "red.md").write_text(f"red {HOSTILE}\n")
    return shell


@pytest.mark.parametrize("command", COMMANDS, ids=repr)
def test_no_command_prints_a_control_character(filled: CommandLine, command: tuple[str, ...]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(filled.folder)
        for name, value in filled.environment(TERM="xterm").items():
            patch.setenv(name, value)
        with on_a_terminal(patch) as printed:
            run(list(command))
    shown = OURS.sub(b"", b"".join(printed)).decode().replace("\r\n", "\n")
    assert shown
    assert CONTROL.findall(shown) == []
    assert b"\x1b[31m\xef\xbf\xbd" not in b"".join(printed)
