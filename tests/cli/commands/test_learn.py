"""What `learn` promises on the command line."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

import foveal
import learned
from commands import CommandLine


@pytest.fixture
def used(shell: CommandLine) -> CommandLine:
    with foveal.Foveal(shell.store) as fov:
        for seed in range(3):
            fov.session(f"s{seed}", model="gpt-5").extend(learned.session(seed, "tool"))
    return shell


ASKED = ("learn", "--preset", "reploid", "--budget", str(learned.BUDGET))


def test_learn_shows_the_gain_on_both_parts_and_the_numbers(used: CommandLine) -> None:
    out = used.foveal(*ASKED).out
    assert "fitted turns" in out
    assert "reserved" in out
    assert "\naccepted: " in out
    assert "[presets.reploid" in out


def test_learn_in_json_has_what_the_text_has(used: CommandLine) -> None:
    found = used.foveal(*ASKED, "--json").json
    assert found["accepted"]
    assert found["reserved"]["after"] > found["reserved"]["before"]
    assert found["steps"][0]["changed"]


def test_learn_writes_numbers_that_config_then_shows(used: CommandLine, tmp_path: Path) -> None:
    file = tmp_path / "learned.toml"
    file.write_text('model = "gpt-5"\n')
    numbers = used.foveal(*ASKED, "--out", str(file), "--json").json["numbers"]
    settings = tomllib.loads(file.read_text())
    assert settings == {"model": "gpt-5", "presets": numbers}


def test_nothing_is_written_where_the_defaults_stay(used: CommandLine, tmp_path: Path) -> None:
    file = tmp_path / "learned.toml"
    asked = ("learn", "--preset", "omar", "--budget", "100000")
    assert used.foveal(*asked, "--out", str(file)).code == 1
    assert not file.exists()


def test_too_little_history_is_one_line_with_a_remedy(used: CommandLine) -> None:
    done = used.foveal("learn", "--session", "s0", "--preset", "reploid")
    assert done.code == 1
    error = done.err
    assert "1 session has " in error
    assert "at least 30 are needed" in error
    assert re.search(r"try: learn from more sessions, or once there are \d+ more such turns", error)
