"""What looking through a workspace promises on the command line."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping

import pytest

from commands import CommandLine
from workspaces import installed

SHOP = {
    "AGENTS.md": "# Shop\n\nUse tabs.\n",
    "cart.py": "def total(items):\n    return sum(items)\n",
    ".env": "KEY=0451\n",
}
LOOK = ("context", "--workspace", "shop", "--task", "fix the total of the cart", "--budget", "4000")


def shop(shell: CommandLine, files: Mapping[str, str] = SHOP) -> CommandLine:
    (shell.folder / "shop").mkdir()
    for name, text in files.items():
        shell.write(f"shop/{name}", text)
    return shell


def test_the_text_goes_to_stdout_and_the_report_to_stderr_and_no_store_is_made(shell: CommandLine) -> None:
    done = shop(shell).foveal(*LOOK)
    assert "## [PROJECT_DOCS] AGENTS.md\n# Shop\n\nUse tabs." in done.out
    assert "def total(items)" in done.out
    assert "in  PROJECT_DOCS AGENTS.md\n    weight 0.15 x salience 0." in done.err
    assert "not read: .env" in done.err
    assert max(map(len, done.err.splitlines())) <= 80
    assert not shell.store.exists()


def test_json_lists_every_piece_with_its_weight_its_salience_and_the_reason(shell: CommandLine) -> None:
    found = shop(shell).foveal(*LOOK, "--active", "cart.py", "--json").json
    pieces = {(each["type"], each["source"]): each for each in found["contributors"]}
    cart = pieces["WORKING_FILES", "cart.py"]
    assert (cart["weight"], cart["chosen"]) == (0.4, True)
    assert cart["salience"] >= 0.9
    assert cart["because"].startswith("weight 0.40 x salience 0.9")
    assert found["tokens"] <= found["budget"] == 4000
    assert [each["name"] for each in found["categories"]] == ["SYSTEM", "CONTEXT", "DIALOG", "SYSTEM_OUTPUT"]
    assert [each["path"] for each in found["refused"]] == [".env"]
    assert "0451" not in found["text"]


def test_the_conversation_of_a_named_session_says_what_it_is_for(shell: CommandLine) -> None:
    shop(shell).fill({"role": "user", "content": "Why is the total in cart.py wrong?"}, session="bug")
    found = shell.foveal("--session", "bug", "context", "--workspace", "shop", "--json").json
    (cart,) = [each for each in found["contributors"] if each["source"] == "cart.py"]
    assert cart["salience"] >= 0.9
    assert found["categories"][2]["current"] > 0


def test_what_other_sessions_have_to_say_is_offered_too(shell: CommandLine) -> None:
    shop(shell).fill({"role": "user", "content": "The total of the cart is in whole cents."}, session="past")
    shell.fill({"role": "user", "content": "Why is the total of the cart wrong?"}, session="bug")
    found = shell.foveal("--session", "bug", "context", "--workspace", "shop", "--json").json
    assert "past/m1" in [each["source"] for each in found["contributors"]]


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (
            ["--workspace", "nonesuch", "--task", "x"],
            1,
            "'nonesuch' is not a folder\n  try: pass the path of a folder that exists",
        ),
        (["--workspace", "shop"], 2, "name the task with --task TEXT, or a --session before the command"),
        (["--task", "x"], 2, "--workspace is missing"),
        (["--workspace", "shop", "--task", "x", "--budget", "20"], 1, "of 20 tokens a workspace gets a part"),
        (["--workspace", "shop", "--task", "x", "--active", "crat.py"], 1, "there is no crat.py in shop"),
    ],
)
def test_what_cannot_be_done_is_said_with_a_remedy(
    shell: CommandLine, arguments: list[str], code: int, said: str
) -> None:
    done = shop(shell).foveal("context", *arguments)
    assert (done.code, done.out) == (code, "")
    assert said in done.err
    assert done.err.splitlines()[1].startswith("  try: ")


def test_of_an_empty_folder_there_is_nothing_to_show(shell: CommandLine) -> None:
    done = shop(shell, {}).foveal(*LOOK)
    assert (done.code, done.out, done.err) == (0, "", "foveal: there is nothing in shop to show\n")


def test_a_window_may_hold_a_workspace_beside_the_conversation(shell: CommandLine) -> None:
    shop(shell).fill({"role": "user", "content": "Fix the total."})
    out = shell.foveal("build", "--workspace", "shop", "--active", "cart.py", "--budget", "4000").out
    assert "## [WORKING_FILES] cart.py" in out
    assert out.endswith("── user\nFix the total.\n")
    assert "attached context:" in shell.foveal("explain").out


def test_open_files_are_those_of_a_workspace(shell: CommandLine) -> None:
    shop(shell).fill({"role": "user", "content": "Fix the total."})
    done = shell.foveal("build", "--active", "cart.py")
    assert (done.code, "--active needs --workspace DIR" in done.err) == (2, True)


def test_the_text_of_openscroll_is_its_prompt(shell: CommandLine) -> None:
    shell.fill({"role": "user", "content": "Hello."}, {"role": "assistant", "content": "Hi."})
    shell.fill({"role": "user", "content": "Fix the total."})
    out = shell.foveal("build", "--preset", "openscroll").out
    assert out.startswith("## Recent messages\n\n[user]\nHello.")
    assert out.endswith("## User message\n\nFix the total.\n")


def test_so_it_is_where_the_session_has_that_preset_and_a_workspace_takes_part(shell: CommandLine) -> None:
    shop(shell).fill({"role": "user", "content": "Fix the total."})
    shell.write("tools.json", '[{"name": "ls", "parameters": {"type": "object"}}]')
    more = ("--workspace", "shop", "--active", "cart.py", "--system", "Be brief.", "--tools", "tools.json")
    out = shell.foveal("build", *more, FOVEAL_PRESET="openscroll").out
    assert out.startswith("Be brief.\n")
    assert "## [WORKING_FILES] cart.py\n" in out
    assert out.endswith("## User message\n\nFix the total.\n")


@pytest.mark.parametrize("command", [LOOK, ("build", "--workspace", "shop")])
def test_on_a_terminal_a_bar_shows_how_far_the_first_look_is(
    shell: CommandLine, command: tuple[str, ...]
) -> None:
    pty = pytest.importorskip("pty")
    shop(shell, {f"{number}.txt": "text" for number in range(200)})
    shell.fill({"role": "user", "content": "Fix the total."})
    ours, theirs = pty.openpty()
    environment = shell.environment(TERM="xterm-256color")
    whole = [sys.executable, "-m", "foveal.cli", *command]
    subprocess.run(
        whole, cwd=shell.folder, env=environment, check=True, stdout=subprocess.DEVNULL, stderr=theirs
    )
    os.close(theirs)
    assert "reading files" in os.read(ours, 100_000).decode()
    os.close(ours)


def test_what_needs_no_workspace_does_not_load_what_reads_them(shell: CommandLine) -> None:
    heavy = ("foveal.sources.workspace.workspace", "foveal.knowledge.sightings", "pathspec", "tree_sitter")
    code = (
        "import sys; from foveal.cli.app import run; run(['add', 'user', 'hello']); "
        f"print([name for name in {heavy} if name in sys.modules])"
    )
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, env=shell.environment(), check=True, capture_output=True, text=True)
    assert done.stdout.splitlines() == ["m1", "[]"]


def test_files_that_are_no_text_are_counted_and_only_json_names_them(shell: CommandLine) -> None:
    folder = shell.folder / "work"
    folder.mkdir()
    (folder / "app.py").write_text("def main(): pass\n")
    for number in range(41):
        (folder / f"data{number}.py").write_bytes(b"x = 1\0")
    done = shell.foveal("context", "--workspace", "work", "--task", "main")
    assert "not read: 41 binary files\n" in done.err
    assert "data7.py" not in done.err
    found = shell.foveal("context", "--workspace", "work", "--task", "main", "--json").json
    assert len([each for each in found["refused"] if each["path"].startswith("data")]) == 41


@pytest.mark.parametrize("session", [(), ("--session", "bug")])
def test_a_contributor_of_an_installed_package_is_named(shell: CommandLine, session: tuple[str, ...]) -> None:
    shop(shell).fill({"role": "user", "content": "Why?"}, session="bug")
    done = shell.process(
        *session, *LOOK, "--contributor", "weather", "--json", PYTHONPATH=installed(shell.folder / "site")
    )
    assert "## [CUSTOM] weather\nRain" in done.json["text"]


def test_a_build_names_one_too(shell: CommandLine) -> None:
    shop(shell).fill({"role": "user", "content": "Why?"})
    build = ("build", "--workspace", "shop", "--contributor", "weather", "--budget", "4000")
    done = shell.process(*build, PYTHONPATH=installed(shell.folder / "site"))
    assert "## [CUSTOM] weather\nRain" in done.out
    layered = shell.process(*build, "--preset", "openscroll", PYTHONPATH=installed(shell.folder / "site"))
    assert "Rain" in layered.out


@pytest.mark.parametrize("command", ["build", "context"])
def test_a_name_that_no_contributor_has_is_an_error_that_lists_the_names(
    shell: CommandLine, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop(shell).fill({"role": "user", "content": "Why?"}, session="bug")
    named = ("--session", "bug", command, "--workspace", "shop", "--contributor", "wether")
    none = shell.foveal(*named)
    assert (none.code, "there is no contributor 'wether'" in none.err) == (1, True)
    assert "install a package that has it" in none.err
    monkeypatch.syspath_prepend(installed(shell.folder / "site"))
    assert "use one of: `weather`" in shell.foveal(*named).err


def test_a_contributor_without_a_folder_is_a_usage_error(shell: CommandLine) -> None:
    done = shell.foveal("build", "--contributor", "weather")
    assert (done.code, "--contributor needs --workspace DIR" in done.err) == (2, True)
