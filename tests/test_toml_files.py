"""Reading TOML files."""

from __future__ import annotations

from pathlib import Path

import pytest

from foveal.errors import ConfigError
from foveal.toml_files import parse_toml, read_toml


@pytest.mark.parametrize(
    "line",
    ["a" + ".a" * 200 + " = 1", "x = {" + "a . " * 200 + "a = 1}", "[" + "'a'." + "a." * 200 + "a]"],
    ids=["a key", "in an inline table", "a table"],
)
def test_a_key_of_many_parts_is_refused_because_reading_it_takes_quadratic_time(line: str) -> None:
    with pytest.raises(ConfigError, match=r"^settings has a key of 20\d parts, more than 200"):
        parse_toml(line, "settings")


@pytest.mark.parametrize(
    "text",
    [
        "a" + ".a" * 199 + " = 1",
        "about = '" + "One. " * 300 + "'",
        "a = 1 # " + "." * 300,
        "about = '" + "a." * 300 + "'",
        "\n".join(["x.y = 1.5", *(f"x.z{n} = 2.5" for n in range(300))]),
    ],
    ids=["a long key", "prose", "dots", "a text", "many keys"],
)
def test_other_texts_with_many_dots_are_read(text: str) -> None:
    assert parse_toml(text, "settings")


def test_values_that_are_nested_too_deep_are_refused() -> None:
    with pytest.raises(ConfigError, match="settings nests values too deep"):
        parse_toml("a = " + "[" * 50_000, "settings")


def test_a_file_that_is_no_text_is_refused_by_its_name(tmp_path: Path) -> None:
    file = tmp_path / "foveal.toml"
    file.write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigError, match=r"foveal\.toml cannot be read"):
        read_toml(file)


@pytest.mark.parametrize(
    "number", ["9" * 4_301, "9" * 40, "0x" + "f" * 9_000, "[1, {a = -1" + "0" * 30 + "}]"]
)
def test_integers_that_are_too_long_are_refused_by_the_name_of_the_file(number: str) -> None:
    with pytest.raises(ConfigError, match="settings has an integer of more than 64 bits"):
        parse_toml(f"a = {number}", "settings")


def test_a_byte_order_mark_at_the_start_is_skipped(tmp_path: Path) -> None:
    file = tmp_path / "foveal.toml"
    file.write_text("model = 'gpt-5'\n", encoding="utf-8-sig")
    assert read_toml(file) == {"model": "gpt-5"}
