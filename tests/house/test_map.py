"""The reference pages keep up with the code: the map, the errors, the settings, the calls."""

from __future__ import annotations

import inspect
import re
import runpy
import tomllib
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from foveal import Foveal, Session, config, errors, presets
from foveal.operations import REGISTRY
from foveal.presets.numbers import DEFAULTS
from house.tree import DOCS, ROOT, modules


def test_the_map_names_every_module_and_no_other() -> None:
    page = (DOCS / "architecture.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^\| `([\w/]+\.py)` \|", page, re.MULTILINE)) == set(modules())


def test_every_error_has_its_heading_and_every_heading_its_error() -> None:
    page = (DOCS / "reference" / "errors.md").read_text(encoding="utf-8")
    classes = {name for name, value in vars(errors).items() if inspect.isclass(value)}
    assert set(re.findall(r"^#+ (\w+Error)$", page, re.MULTILINE)) == classes


def test_every_setting_has_its_line_with_its_default_and_its_variable() -> None:
    page = (DOCS / "reference" / "settings.md").read_text(encoding="utf-8")
    lines = re.findall(r"^\| `(\w+)` \| [^|]+ \| ([^|]+) \| `(\w+)` \|", page, re.MULTILINE)
    assert [(key, variable) for key, _, variable in lines] == [
        (key, f"FOVEAL_{key.upper()}") for key in config.KEYS
    ]
    said = {key: default.strip("`") for key, default, _ in lines}
    known = {key: getattr(config.Settings(), key) for key in config.KEYS}
    assert {key: said[key] for key, value in known.items() if value} == {k: v for k, v in known.items() if v}


def test_the_example_of_a_settings_file_has_every_setting_and_loads(tmp_path: Path) -> None:
    page = (DOCS / "reference" / "settings.md").read_text(encoding="utf-8")
    example = re.findall(r"^```toml\n(.*?)^```", page, re.MULTILINE | re.DOTALL)[0]
    (tmp_path / "foveal.toml").write_text(example, encoding="utf-8")
    loaded = config.load({}, {}, tmp_path)
    assert set(tomllib.loads(example)) == set(config.KEYS)
    assert set(loaded.origins.values()) == {str(tmp_path / "foveal.toml")}


def test_the_how_to_lists_the_async_calls_that_there_are() -> None:
    page = (DOCS / "how-to" / "index.md").read_text(encoding="utf-8")
    section = page.partition("## Work from async code\n")[2].partition("```")[0]
    bullets = re.findall(r"^- of a (?:session|`Foveal`): (.*?)(?=^- |^$)", section, re.MULTILINE | re.DOTALL)
    for kind, bullet in zip((Session, Foveal), bullets, strict=True):
        public = [found for name, found in vars(kind).items() if inspect.isfunction(found) and name[0] != "_"]
        forms = {inspect.unwrap(found).__name__ for found in public if inspect.unwrap(found) is not found}
        assert set(re.findall(r"`(\w+)`", bullet)) - {"async", "async_"} == forms


@pytest.mark.parametrize("script", ["modules", "reference", "python_reference", "measured", "picture"])
def test_a_page_made_from_the_code_says_what_the_code_says(
    script: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))  # they import each other
    made = runpy.run_path(str(ROOT / "scripts" / f"{script}.py"))
    assert made["PAGE"].read_text(encoding="utf-8") == made["page"](), "run `make docs`"


@pytest.fixture(scope="module")
def presets_made() -> Iterator[dict[str, Any]]:
    """What `scripts/preset_pages.py` defines."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT / "scripts"))
        yield runpy.run_path(str(ROOT / "scripts" / "preset_pages.py"))


def test_the_pages_and_pictures_of_the_presets_are_those_that_the_code_makes(
    presets_made: dict[str, Any],
) -> None:
    made = presets_made["pages"]()
    assert [path.name for path, text in made.items() if path.read_text(encoding="utf-8") != text] == []
    assert {path.stem for path in made if path.parent.name == "presets"} == set(presets.PRESETS)


def test_every_operation_is_on_one_page_of_a_preset_or_on_that_about_all(
    presets_made: dict[str, Any],
) -> None:
    listed = [
        each.name for own in (*presets_made["OF_PRESET"].values(), presets_made["OF_ALL"]) for each in own
    ]
    assert sorted(listed) == sorted(each.name for each in REGISTRY.operations)


@pytest.mark.parametrize("preset", presets.PRESETS)
def test_every_setting_of_a_preset_has_a_sentence_that_says_what_it_is(
    preset: str, presets_made: dict[str, Any]
) -> None:
    rows = list(presets_made["settings_rows"](DEFAULTS[preset]))
    assert [name for name, default, meaning in rows if not default or not meaning.endswith(".")] == []


def test_the_settings_page_names_the_defaults_of_the_code() -> None:
    page = (DOCS / "reference" / "settings.md").read_text(encoding="utf-8")
    table = dict(re.findall(r"^\| `(\w+)` \| [^|]+ \| `?([^|`]+?)`? \| `FOVEAL_", page, re.MULTILINE))
    example = tomllib.loads(re.findall(r"^```toml\n(.*?)^```", page, re.MULTILINE | re.DOTALL)[0])
    assert set(table) >= set(config.KEYS) - {"store"}
    for name, value in asdict(config.Settings()).items():
        if value and name != "store":
            assert table[name] == value
    assert table["preset"] == example["preset"] == presets.DEFAULT
