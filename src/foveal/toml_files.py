"""Read TOML files, in a time that grows with their length."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from foveal.errors import ConfigError

_PARTS = 200
"""The most in one dotted key; `tomllib` takes a time that grows with their square."""
_BITS = 64
_QUOTED = r"""(?:"[^"\n]*"|'[^'\n]*')"""
_DOTTED = re.compile(rf"(?:[\w-]+|{_QUOTED})(?:[ \t]*\.[ \t]*(?:[\w-]+|{_QUOTED}))*")


def read_toml(file: Path) -> dict[str, Any]:
    return parse_toml(read_text(file), str(file))


def read_text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:  # not UTF-8, or a path that no system has
        raise ConfigError(
            f"{file} cannot be read: {error}", remedy="correct the path, the file or its permissions"
        ) from error


def parse_toml(text: str, name: str) -> dict[str, Any]:
    """What the text says; an error has the name of its file and the line."""
    for key in _DOTTED.finditer(text):
        parts = re.sub(_QUOTED, "", key[0]).count(".") + 1
        if parts > _PARTS:
            raise ConfigError(
                f"{name} has a key of {parts:,} parts, more than {_PARTS}",
                remedy="write a key with fewer dots",
                field=key[0][:40],
            )
    import tomllib  # most commands find no file, or one that says nothing to us

    try:
        found = tomllib.loads(text.removeprefix("\ufeff"))  # some editors begin a file with this mark
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{name} is not TOML: {error}", remedy="correct the file at that place") from error
    except ValueError as error:  # Python reads only so many digits
        raise _too_long(name) from error
    except RecursionError as error:
        raise ConfigError(f"{name} nests values too deep", remedy="write values with fewer levels") from error
    if not _holds(found):
        raise _too_long(name)
    return found


def _holds(table: dict[str, Any]) -> bool:
    """Whether every integer has at most the 64 bits that TOML asks for."""
    left: list[Any] = [table]
    while left:
        match left.pop():
            case dict() as value:
                left += value.values()
            case list() as value:
                left += value
            case int() as value if value.bit_length() > _BITS:
                return False
    return True


def _too_long(name: str) -> ConfigError:
    return ConfigError(f"{name} has an integer of more than {_BITS} bits", remedy="write a smaller one")
