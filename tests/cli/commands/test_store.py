"""What the commands about the whole store promise."""

from __future__ import annotations

import os
import stat

import pytest

from commands import CommandLine

ONE = {"role": "user", "content": "one"}


def test_sessions_are_listed(shell: CommandLine) -> None:
    shell.foveal("--session", "fix-auth", "add", "user", "one", FOVEAL_MODEL="gpt-5")
    shell.fill(ONE, session="review")
    first, second = shell.foveal("sessions", "--json").json
    assert (first["name"], first["messages"], first["model"]) == ("fix-auth", 1, "gpt-5")
    assert second["name"] in shell.foveal("sessions").out


def test_what_a_session_remembers_wins_over_the_settings(shell: CommandLine) -> None:
    shell.foveal("add", "user", "one", FOVEAL_MODEL="gpt-5")
    shell.foveal("add", "user", "two", FOVEAL_MODEL="gpt-4")
    assert shell.foveal("sessions", "--json").json[0]["model"] == "gpt-5"


def test_tenants_do_not_see_each_other(shell: CommandLine) -> None:
    shell.foveal("--tenant", "ours", "add", "user", "one")
    assert shell.foveal("--tenant", "theirs", "sessions", "--json").json == []


def test_a_backup_is_a_store(shell: CommandLine) -> None:
    shell.fill(ONE)
    assert shell.foveal("backup", "copy.db", "--json").json == {"file": "copy.db"}
    assert shell.foveal("--store", "copy.db", "export").json == [ONE]


@pytest.mark.parametrize("file", ["nowhere/copy.db", "store.db"])
def test_a_backup_that_cannot_be_written_is_about_the_file(shell: CommandLine, file: str) -> None:
    shell.fill(ONE)
    done = shell.foveal("backup", file)
    assert done.code == 1
    assert "\n  try: name a FILE that does not exist yet, in a folder that can be written" in done.err
    assert shell.history() == [ONE]


def test_verify_says_clean(shell: CommandLine) -> None:
    shell.fill(ONE)
    assert shell.foveal("verify").out == "clean: 1 message, 1 session\n"
    assert shell.foveal("verify", "--json").json["clean"] is True


def test_the_store_is_where_the_environment_says_and_else_in_the_data_folder(shell: CommandLine) -> None:
    shell.foveal("add", "user", "one", FOVEAL_STORE="")
    assert not shell.store.exists()
    assert list((shell.folder / "home").rglob("foveal.db"))


@pytest.mark.skipif(os.name == "nt", reason="permissions")
def test_the_store_is_the_owners_alone(shell: CommandLine) -> None:
    shell.foveal("add", "user", "one")
    assert stat.S_IMODE(shell.store.stat().st_mode) == 0o600
