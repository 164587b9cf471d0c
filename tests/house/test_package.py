"""What is shipped and what it stands on: the wheel, the pins, the words in the tree."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
import zipfile
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import foveal
from house.tree import ROOT, SOURCE, tracked

PIN = re.compile(r"([\w.-]+)==[\w.]+")
# Written so that the pattern is not its own first finding.
FORBIDDEN = re.compile(r"pypi\.org|python.?hosted|--(extra-)?index[-]url|--find[-]links|file:[/]/")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    with zipfile.ZipFile(next(folder.glob("*.whl"))) as archive:
        return archive.namelist()


def test_the_wheel_carries_every_file_of_the_package(wheel: list[str]) -> None:
    ours = {f"foveal/{path.relative_to(SOURCE).as_posix()}" for path in tracked() if SOURCE in path.parents}
    assert "foveal/py.typed" in ours
    assert ours <= set(wheel)


def test_the_wheel_carries_nothing_else(wheel: list[str]) -> None:
    assert {name.partition("/")[0] for name in wheel if ".dist-info/" not in name} == {"foveal"}
    assert not any(name.endswith(".pth") for name in wheel)


def test_the_wheel_carries_the_licence_and_the_command(wheel: list[str]) -> None:
    assert any(name.endswith("/licenses/LICENSE") for name in wheel)
    assert any(name.endswith("/entry_points.txt") for name in wheel)


def test_the_version_is_the_same_wherever_it_stands() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert foveal.__version__ == project["version"]


def test_constraints_are_pins_and_nothing_but_pins() -> None:
    lines = [line for line in _constraints() if not line.startswith("#")]
    assert [line for line in lines if not PIN.fullmatch(line)] == []


def test_everything_the_package_its_tests_and_benchmarks_need_is_pinned() -> None:
    pinned = {canonicalize_name(found[1]) for line in _constraints() if (found := PIN.fullmatch(line))}
    assert _needed("foveal", frozenset({"test", "bench", "all"})) - {"foveal"} - pinned == set()


def test_no_file_names_a_package_registry_or_an_address_of_one() -> None:
    texts = {path: path.read_text(encoding="utf-8", errors="replace") for path in tracked()}
    assert [f"{path}: {hit[0]}" for path, text in texts.items() if (hit := FORBIDDEN.search(text))] == []


def test_imports_point_inward() -> None:
    linter = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run([linter, "--no-cache"], cwd=ROOT, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def _constraints() -> list[str]:
    return (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()


def _needed(root: str, extras: frozenset[str]) -> set[str]:
    """The names of a distribution and of all it requires, on this machine, all the way down."""
    seen: set[tuple[str, str]] = set()
    waiting = [(root, extra) for extra in extras | {""}]
    while waiting:
        name, extra = waiting.pop()
        if (name, extra) in seen:
            continue
        seen.add((name, extra))
        for text in _requirements(name):
            need = Requirement(text)
            if need.marker is None or need.marker.evaluate({"extra": extra}):
                waiting += [(canonicalize_name(need.name), inner) for inner in {"", *need.extras}]
    return {name for name, _ in seen}


def _requirements(name: str) -> list[str]:
    """What a distribution asks for; one that is not installed here, asks nothing."""
    try:
        return requires(name) or []
    except PackageNotFoundError:
        return []
