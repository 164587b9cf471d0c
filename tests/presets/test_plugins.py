"""What a preset of another package promises: installed for real, used by its name."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from commands import CommandLine
from foveal import fit, presets
from foveal.errors import ConfigError
from foveal.presets import base

SAMPLE = Path(__file__).parents[1] / "plugin_sample"
TALK = [{"role": "user", "content": f"line {n}"} for n in range(20)]


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample package, installed by pip into a folder of its own."""
    folder = tmp_path_factory.mktemp("plugin")
    source = shutil.copytree(SAMPLE, folder / "source", ignore=shutil.ignore_patterns("__pycache__"))
    target = folder / "site"
    subprocess.run(
        [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-index",
         "--no-deps", "--no-build-isolation", "--target", str(target), str(source)],
        check=True, capture_output=True,
    )  # fmt: skip
    return target


@pytest.fixture
def plugged(installed: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.syspath_prepend(str(installed))
    yield
    sys.modules.pop("foveal_oldest", None)


def test_the_command_line_builds_with_the_preset_of_an_installed_package(
    installed: Path, tmp_path: Path
) -> None:
    shell = CommandLine(folder=tmp_path)
    shell.fill(*TALK)
    path = os.pathsep.join(filter(None, [str(installed), os.environ.get("PYTHONPATH")]))
    done = shell.process("build", "--preset", "oldest", "--budget", "150", "--json", PYTHONPATH=path)
    said = [message["content"] for message in done.json["messages"]]
    assert (said[0], said[1], said[-1]) == ("line 0", "line 1", "line 19")
    assert done.json["manifest"]["preset"] == "oldest"


@pytest.mark.usefixtures("plugged")
def test_a_build_in_python_finds_it_too() -> None:
    assert fit(TALK, budget=150, preset="oldest").messages[0] == TALK[0]


@pytest.mark.usefixtures("plugged")
def test_an_entry_point_may_be_a_function_that_makes_the_preset() -> None:
    assert presets.find("oldest_made").name == "oldest_made"


@pytest.mark.usefixtures("plugged")
@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("oldest_missing", "AttributeError: "),
        ("oldest_nothing", "is a NoneType, not a `Preset`"),
        ("oldest_misnamed", "is a preset called 'oldest'"),
    ],
)
def test_a_broken_package_is_named_and_says_what_is_wrong(name: str, why: str) -> None:
    with pytest.raises(ConfigError) as failure:
        presets.find(name)
    assert "`foveal-oldest`" in failure.value.what
    assert why in failure.value.what


@pytest.mark.usefixtures("plugged")
def test_the_error_for_an_unknown_name_lists_the_presets_of_packages_too() -> None:
    with pytest.raises(ConfigError, match="there is no preset 'youngest'") as failure:
        presets.find("youngest")
    assert "oldest_made" in failure.value.remedy
    assert "recent" in failure.value.remedy


@pytest.mark.usefixtures("plugged")
def test_the_names_are_known_without_importing_any_package() -> None:
    assert "oldest" in base.names()
    assert "foveal_oldest" not in sys.modules


def test_a_preset_of_ours_asks_no_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(base, "find", None)
    assert presets.find("recent").name == "recent"


def test_what_a_preset_does_to_histories_is_nothing_once_its_package_is_gone() -> None:
    found = [presets.managing(name) for name in ("", "foveal", "fifth", "reploid", "uninstalled")]
    assert found == ["", "", "compress", "prune", ""]
