"""Fitted numbers get into a settings file, and nothing else in it changes."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from foveal import ConfigError
from foveal.session.learn.settings_file import SIGN, write_numbers

NUMBERS = {"reploid": {"recency": 20.0, "long_above": 2_000, "roles": {"tool": 30.0, "user": 0.5}}}


def written(place: Path, before: str | None, *, comment: str = SIGN, name: str = "foveal.toml") -> str:
    file = place / name
    if before is not None:
        file.write_bytes(before.encode())
    write_numbers(file, "reploid", NUMBERS, comment)
    return file.read_bytes().decode()


def test_a_new_file_is_readable(tmp_path: Path) -> None:
    assert written(tmp_path, None) == (
        f"{SIGN}\n[presets.reploid]\nrecency = 20\nlong_above = 2_000\n\n"
        "[presets.reploid.roles]\ntool = 30\nuser = 0.5\n"
    )


def test_everything_else_stays_with_its_comments(tmp_path: Path) -> None:
    before = (
        "# ours\nmodel = 'gpt-5'   # the large one\n\n[presets.omar]\ndecay = 0.2\n\n"
        "[presets.reploid]\nkeep = 4\nrecency = 40  # was 30\n\n[serve]\nport = 1\n"
    )
    after = written(tmp_path, before)
    assert set(before.splitlines()) - set(after.splitlines()) == {"recency = 40  # was 30"}
    assert "recency = 20  # was 30" in after
    assert tomllib.loads(after)["presets"]["reploid"]["keep"] == 4


@pytest.mark.parametrize(
    "before",
    [
        "[presets.reploid]\nroles = { tool = 5, assistant = 7 }\n",
        "[presets.reploid.roles]\nassistant = 7\n",
        "[ presets . reploid . roles ]\n  tool = 5\nassistant = 7",
        "[presets.reploid]\n[presets.reploid.roles]\nassistant = 7\n[presets.omar]\n",
    ],
)
def test_tables_of_the_preset_are_merged(tmp_path: Path, before: str) -> None:
    found = tomllib.loads(written(tmp_path, before))["presets"]["reploid"]
    assert found["roles"] == {"tool": 30, "user": 0.5, "assistant": 7}
    assert (found["recency"], found["long_above"]) == (20, 2_000)


def test_a_second_fit_replaces_the_comment_of_the_first(tmp_path: Path) -> None:
    first = written(tmp_path, "# mine\n[presets.omar]\ndecay = 0.2\n", comment=f"{SIGN} once")
    second = written(tmp_path, first, comment=f"{SIGN} twice")
    assert second == first.replace("once", "twice")


def test_in_a_pyproject_the_tables_are_below_tool(tmp_path: Path) -> None:
    after = written(tmp_path, '[project]\nname = "x"\n', name="pyproject.toml")
    assert tomllib.loads(after)["tool"]["foveal"]["presets"]["reploid"]["roles"]["tool"] == 30
    assert after.startswith('[project]\nname = "x"\n')


def test_line_ends_stay_as_they_are(tmp_path: Path) -> None:
    after = written(tmp_path, 'model = "gpt-5"\r\n')
    assert after.count("\r\n") == after.count("\n")


@pytest.mark.parametrize(
    "before", ["presets = { reploid = { keep = 4 } }\n", "[presets]\nreploid.keep = 4\n"]
)
def test_a_form_that_cannot_be_edited_is_refused_and_left(tmp_path: Path, before: str) -> None:
    with pytest.raises(ConfigError, match="left as it is") as failure:
        written(tmp_path, before)
    assert "recency = 20" in failure.value.remedy
    assert (tmp_path / "foveal.toml").read_text() == before


@pytest.mark.parametrize("before", ["[presets.reploid\n", 'x = """\n[presets.reploid]\nrecency = 1\n"""\n'])
def test_a_file_that_cannot_be_understood_stays(tmp_path: Path, before: str) -> None:
    with pytest.raises(ConfigError):
        written(tmp_path, before)
    assert (tmp_path / "foveal.toml").read_text() == before


def test_a_comment_after_an_inline_table_stays(tmp_path: Path) -> None:
    before = "[presets.reploid]\n  roles = { tool = 10, user = 20 }   # keep me\n"
    assert "\n  roles = { tool = 30, user = 0.5 }   # keep me\n" in written(tmp_path, before)


def test_a_new_number_goes_above_the_comment_that_introduces_the_next_section(tmp_path: Path) -> None:
    before = "[presets.reploid]\nkeep = 4\n\n# about omar\n# and more\n[presets.omar]\ndecay = 0.2\n"
    assert written(tmp_path, before).startswith(
        f"{SIGN}\n[presets.reploid]\nkeep = 4\nrecency = 20\nlong_above = 2_000\n\n"
        "# about omar\n# and more\n[presets.omar]\n"
    )


@pytest.mark.parametrize(
    "before",
    ["[presets.reploid.roles]\nuser = 1\n", "[presets.reploid.roles]\nuser = 1\n\n[serve]\nport = 1\n"],
)
def test_the_comment_is_above_the_section_and_stays_there(tmp_path: Path, before: str) -> None:
    first = written(tmp_path, before, comment=f"{SIGN} once")
    assert "[presets.reploid.roles]\nuser = 0.5\ntool = 30\n" in first
    assert f"\n{SIGN} once\n[presets.reploid]\n" in first
    assert written(tmp_path, first, comment=f"{SIGN} twice") == first.replace("once", "twice")


@pytest.mark.parametrize("value", ['"a#b"', "'a#b'", '"a\\"#b"', '"""a"#b"""'])
def test_a_number_sign_in_a_value_begins_no_comment(tmp_path: Path, value: str) -> None:
    after = written(tmp_path, f"[presets.reploid]\nrecency = {value}\nlong_above = {value} # c\n")
    assert "\nrecency = 20\nlong_above = 2_000 # c\n" in after


def test_every_line_keeps_its_own_end(tmp_path: Path) -> None:
    before = "# a\r\nmodel = 'gpt-5'\n\r\n[presets.reploid]\r\nrecency = 3 # c\r\nkeep = 4\n"
    assert written(tmp_path, before).startswith(
        f"# a\r\nmodel = 'gpt-5'\n\r\n{SIGN}\r\n[presets.reploid]\r\n"
        "recency = 20 # c\r\nkeep = 4\nlong_above = 2_000\n"
    )


@pytest.mark.parametrize("mark", ["\u2028", "\u2029", "\x85"])
def test_only_line_feeds_end_lines(tmp_path: Path, mark: str) -> None:
    before = f"# note{mark}more\nmodel = 'gpt-5'\n"
    assert written(tmp_path, before).startswith(before)


def test_a_byte_order_mark_stays(tmp_path: Path) -> None:
    assert written(tmp_path, "\ufeffmodel = 'gpt-5'\n").startswith("\ufeffmodel = 'gpt-5'\n\n# Fitted")


def test_what_to_add_by_hand_is_no_comment(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as failure:
        written(tmp_path, "presets = { reploid = { keep = 4 } }\n")
    assert failure.value.remedy.endswith(
        "add by hand: [presets.reploid]; recency = 20; long_above = 2_000; "
        "[presets.reploid.roles]; tool = 30; user = 0.5"
    )
