"""What the interactive mode promises, on a real terminal."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from commands import CommandLine
from foveal import Foveal
from foveal.cli.interactive import HELP
from terminal import Terminal, plain, terminal


def said(text: str) -> dict[str, str]:
    return {"role": "user", "content": text}


@pytest.fixture
def typing(shell: CommandLine) -> Iterator[Terminal]:
    with terminal(shell) as opened:
        yield opened


def test_a_line_is_a_message_and_the_window_bar_follows(typing: Terminal, shell: CommandLine) -> None:
    shown = typing.type("Fix the bug in auth.js")
    name, bar, legend = shown.splitlines()
    assert name == "m1"
    assert bar.endswith(" 13 of 100,000 tokens, 0%")
    assert legend == "U user 10  + other 3"
    assert shell.history() == [said("Fix the bug in auth.js")]


def test_another_role_can_speak(typing: Terminal, shell: CommandLine) -> None:
    typing.type("Fix it")
    assert "M model" in typing.type("/add assistant  It is   fixed.")
    assert shell.history()[1] == {"role": "assistant", "content": "It is   fixed."}


def test_a_message_is_stored_as_it_is_typed(typing: Terminal, shell: CommandLine) -> None:
    lines = ["-", "--help", 'it\'s "quoted" \\', "größe"]
    for line in lines:
        typing.type(line)
    assert shell.history() == [said(line) for line in lines]


def test_the_bar_is_in_sight_after_every_command(typing: Terminal) -> None:
    typing.type("We use RS256, not HS256.")
    lines = ("/stats", "/search RS256", "/explain", "/help", "/preset", "/nonesuch", "/build", "/task")
    assert all(" tokens, 0%\nU user " in typing.type(line) for line in lines)


def test_commands_do_what_those_of_the_command_line_do(typing: Terminal) -> None:
    typing.type("We don't use HS256, we use RS256.")
    found = typing.type("/search don't use HS256 --limit 1")
    assert any(line.startswith("m1  fv-") for line in found.splitlines())  # on a slow machine after a note
    assert typing.type("/recall m1").startswith("We don't use HS256")
    assert "── user\nWe don't use HS256" in typing.type("/focus what do we use? --budget 100")
    assert " 18 of 50 tokens, 36%\n" in typing.type("/build --budget 50")
    assert "open turn" in typing.type("/explain 1")


def test_another_preset_holds_from_then_on(typing: Terminal, shell: CommandLine) -> None:
    assert "reploid" in typing.type("/preset")
    typing.type("hello")
    typing.type("/preset reploid")
    typing.type("hello again")
    with Foveal(shell.store) as fov:
        assert fov.session().manifest().preset == "reploid"


def test_an_unknown_preset_changes_nothing(typing: Terminal, shell: CommandLine) -> None:
    typing.type("hello")
    assert "did you mean `reploid`?" in typing.type("/preset reploit")
    with Foveal(shell.store) as fov:
        assert fov.sessions()[0].preset == ""


def test_a_wrong_command_says_what_there_is(typing: Terminal) -> None:
    shown = typing.type("/nonesuch")
    assert shown.startswith("foveal: there is no /nonesuch\n")
    assert all(f"`/{name}`" in shown for name in HELP)


def test_a_command_used_wrongly_says_so_and_the_talk_goes_on(typing: Terminal) -> None:
    assert "  try: `/focus --help`\n" in typing.type("/focus")
    assert "  try: `/build --help`\n" in typing.type("/build --bugdet 9")
    assert typing.type("still here").startswith("m1\n")


def test_help_lists_every_command(typing: Terminal) -> None:
    shown = typing.type("/help")
    assert all(f"/{name} " in shown for name in HELP)
    assert max(map(len, shown.splitlines())) <= 80


def test_to_look_around_makes_no_store(typing: Terminal, shell: CommandLine) -> None:
    assert "there is no store" in typing.type("/stats")
    typing.press(b"/quit\n")
    assert typing.left()[0] == 0
    assert not shell.store.exists()


def test_a_session_that_is_there_shows_where_it_stands(shell: CommandLine) -> None:
    shell.fill(*map(said, ("one", "two")))
    with terminal(shell, FOVEAL_BUDGET="100") as opened:
        assert " of 100 tokens, " in opened.opening


def test_control_d_leaves(typing: Terminal) -> None:
    typing.press(b"\x04")
    code, shown = typing.left()
    assert (code, "Traceback" in shown) == (0, False)


def test_a_second_interrupt_at_the_prompt_leaves(typing: Terminal) -> None:
    typing.type("hello")
    typing.interrupt()
    assert "press Ctrl-C again, or type /quit, to leave" in typing.answer()
    typing.interrupt()
    code, shown = typing.left()
    assert (code, "Traceback" in shown) == (0, False)


def test_an_interrupt_clears_a_line_that_is_half_typed(typing: Terminal, shell: CommandLine) -> None:
    for _ in range(2):
        typing.press(b"half a thought")
        typing.interrupt()
        assert "again" not in typing.answer()
    typing.type("A whole one.")
    assert shell.history() == [said("A whole one.")]


def test_lines_that_are_pasted_together_are_one_message(shell: CommandLine) -> None:
    with terminal(shell, TERM="xterm") as opened:
        opened.press(b"\x1b[200~Traceback:\r  line 1\n  line 2\x1b[201~\n")
        opened.answer()
    assert shell.history() == [said("Traceback:\n  line 1\n  line 2")]


def test_a_window_that_cannot_be_built_is_reported_and_the_message_stays(shell: CommandLine) -> None:
    with terminal(shell, FOVEAL_BUDGET="20") as opened:
        assert "tokens" in opened.type("word " * 100)
        found = opened.type("/search word").splitlines()
        assert any(line.startswith("m1  ") for line in found)  # on a slow machine after a note


def test_the_bar_is_in_colour_where_colour_belongs(shell: CommandLine) -> None:
    with terminal(shell, NO_COLOR="", CI="", TERM="xterm-256color") as opened:
        shown = opened.type("hello")
    assert "\x1b[32m█" in shown
    assert "█ user 5" in plain(shown)


def test_a_message_can_be_asked_about_and_erased_and_builds_compared(
    typing: Terminal, shell: CommandLine
) -> None:
    typing.type("We use RS256.")
    typing.type("And Postgres.")
    assert "kept" in typing.type("/why 1")
    assert "build" in typing.type("/diff 1 2")
    assert "m1 erased" in typing.type("/forget 1 --yes")
    assert shell.history() == [said("And Postgres.")]


def test_a_mistyped_command_is_answered_with_the_nearest(typing: Terminal) -> None:
    assert "did you mean `/explain`?" in typing.type("/explian")
