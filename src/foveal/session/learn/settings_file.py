"""Write numbers of a preset into a settings file, and leave everything else in it as it is.

The file is edited line by line, so comments, order, spaces and the end of each line stay. The result is
parsed before it is written: if it does not say exactly what the file said before and the new numbers, nothing
is written.
"""

from __future__ import annotations

import os
import re
import shutil
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from foveal.config import Tables, merged
from foveal.errors import ConfigError
from foveal.toml_files import parse_toml

SIGN = "# Fitted by `foveal learn`"
"""Begins the comment above fitted numbers; the next fit replaces it."""
_MARK = "\ufeff"
"""Some editors begin a UTF-8 file with this byte order mark."""
_QUOTED_OR_COMMENT = re.compile(
    r'''"""(?:[^\\]|\\.)*?"""|"(?:[^"\\]|\\.)*"|'[^']*'|(?P<comment>[ \t]*#.*)''', re.DOTALL
)

Keys = tuple[str, ...]


def commented(preset: str, numbers: Tables, comment: str) -> str:
    """The numbers of a preset as a settings file has them.

    >>> print(commented("reploid", {"reploid": {"recency": 20.0, "roles": {"tool": 30.0}}}, SIGN), end="")
    # Fitted by `foveal learn`
    [presets.reploid]
    recency = 20
    <BLANKLINE>
    [presets.reploid.roles]
    tool = 30
    """
    lines = _edited([], (), preset, numbers[preset], comment)
    return "\n".join(lines) + "\n"


def write_numbers(path: Path, preset: str, numbers: Tables, comment: str) -> None:
    """Add the numbers to a file, in place of those it has; a file that does not exist is created."""
    above = ("tool", "foveal") if path.name == "pyproject.toml" else ()
    text = _text(path)
    old = parse_toml(text, str(path))
    expected = merged(old, _within((*above, "presets"), dict(numbers)))
    mark = _MARK if text.startswith(_MARK) else ""
    lines = _edited(_lines(text.removeprefix(mark)), above, preset, numbers[preset], comment)
    new = "\n".join([*lines, ""])
    if not _says(new, expected):
        shown = "; ".join(filter(None, commented(preset, numbers, "").split("\n")))
        raise ConfigError(
            f"{path} has numbers of `{preset}` in a form that cannot be edited; it was left as it is",
            remedy=f"write `{preset}` as a table `[presets.{preset}]`, or add by hand: {shown}",
            field="path",
        )
    _write(path, mark + new)


def _lines(text: str) -> list[str]:
    """The lines of a text; those that end with CR and LF keep the CR."""
    lines = text.split("\n")
    last = lines.pop()
    if last:
        lines.append(last + _cr(lines[-1] if lines else ""))
    return lines


def _cr(line: str) -> str:
    return "\r" if line.endswith("\r") else ""


def _insert(lines: list[str], at: int, line: str) -> None:
    """Add a line, which ends as its neighbour does."""
    neighbour = lines[at - 1 if at else 0] if lines else ""
    lines.insert(at, line + _cr(neighbour))


def _edited(
    lines: Sequence[str], above: Keys, preset: str, table: Mapping[str, object], comment: str
) -> list[str]:
    """The lines with the table's values; each table within it has a section of its own."""
    found = _without_sign(lines, (*above, "presets", preset))
    place = (*above, "presets", preset)
    values = {key: value for key, value in table.items() if not isinstance(value, Mapping)}
    sections: list[tuple[Keys, Mapping[str, object]]] = [(place, values)] if values else []
    sections += [((*place, key), inner) for key, inner in table.items() if isinstance(inner, Mapping)]
    for number, (section, entries) in enumerate(sections):
        for key, value in entries.items():
            _set(found, section, key, value)
        if comment and not number:
            _sign(found, section, comment)
    return found


def _set(lines: list[str], section: Keys, key: str, value: object) -> None:
    """Set one value: in its line, in the inline table that its section is, or at the section's end."""
    span = _section(lines, section)
    if span is None and _set_inline(lines, section, key, value):
        return
    if span is None:
        blank = [""] if lines and lines[-1].strip() else []
        for line in (*blank, f"[{'.'.join(section)}]", f"{key} = {_written(value)}"):
            _insert(lines, len(lines), line)
        return
    at = _line_of(lines, span, key)
    if at is None:
        _insert(lines, _end(lines, span), f"{key} = {_written(value)}")
    else:
        lines[at] = _with_value(lines[at], key, _written(value))


def _end(lines: Sequence[str], span: tuple[int, int]) -> int:
    """Where a section ends: above blank lines and the comment that introduces the next section."""
    start, end = span
    if end < len(lines):
        while end > start and lines[end - 1].lstrip().startswith("#"):
            end -= 1
    while end > start and not lines[end - 1].strip():
        end -= 1
    return end


def _with_value(line: str, key: str, value: str) -> str:
    """The line with another value; its indent, its comment and its end stay.

    >>> _with_value('  recency="a#b"  # was 30', "recency", "20")
    '  recency = 20  # was 30'
    """
    text, cr = line.removesuffix("\r"), _cr(line)
    indent = text[: len(text) - len(text.lstrip())]
    found = (each["comment"] for each in _QUOTED_OR_COMMENT.finditer(text))
    return f"{indent}{key} = {value}{next(filter(None, found), '')}{cr}"


def _set_inline(lines: list[str], section: Keys, key: str, value: object) -> bool:
    """Set a value in a table that is written as `name = { … }` on one line; False if there is none."""
    span = _section(lines, section[:-1])
    at = _line_of(lines, span, section[-1]) if span else None
    if at is None:
        return False
    try:
        table = tomllib.loads(lines[at].removesuffix("\r"))[section[-1]]
    except (tomllib.TOMLDecodeError, KeyError):
        return False
    if not isinstance(table, dict):
        return False
    entries = ", ".join(f"{name} = {_written(each)}" for name, each in {**table, key: value}.items())
    lines[at] = _with_value(lines[at], section[-1], f"{{ {entries} }}")
    return True


def _section(lines: Sequence[str], section: Keys) -> tuple[int, int] | None:
    """The lines between a section's header and the next one; None if there is no such section."""
    start = next((at for at, line in enumerate(lines) if _header(line) == section), None)
    if start is None:
        return None
    stop = next((at for at in range(start + 1, len(lines)) if _header(lines[at])), len(lines))
    return start + 1, stop


def _line_of(lines: Sequence[str], span: tuple[int, int], key: str) -> int | None:
    return next((at for at in range(*span) if lines[at].partition("=")[0].strip() == key), None)


def _header(line: str) -> Keys:
    """The keys of a section's header; empty for any other line."""
    opened, _, _ = line.partition("]")
    return tuple(map(str.strip, opened.strip()[1:].split("."))) if opened.lstrip().startswith("[") else ()


def _sign(lines: list[str], section: Keys, comment: str) -> None:
    """Place the comment above the header of the section, or above its inline table."""
    span = _section(lines, section)
    outer = _section(lines, section[:-1])
    at = span[0] - 1 if span else _line_of(lines, outer, section[-1]) if outer else None
    if at is not None:
        _insert(lines, at, comment)


def _without_sign(lines: Sequence[str], place: Keys) -> list[str]:
    """The lines without the comment of an earlier fit of this preset: it is above or in its section."""
    return list(_kept_lines(lines, place))


def _kept_lines(lines: Sequence[str], place: Keys) -> Iterator[str]:
    for at, line in enumerate(lines):
        if line.startswith(SIGN):
            following = _header(lines[at + 1]) if at + 1 < len(lines) else ()
            section = following or next(filter(None, map(_header, reversed(lines[:at]))), ())
            if section[: len(place)] == place:
                continue
        yield line


def _written(value: object) -> str:
    """A value as TOML: `true`, `4_000`, `0.15`, `"greedy"`."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return f"{value:_}"
    if isinstance(value, float):
        return f"{value:g}" if float(f"{value:g}") == value else repr(value)
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return str(value)


def _within(path: Keys, table: Mapping[str, object]) -> Mapping[str, object]:
    for name in reversed(path):
        table = {name: table}
    return table


def _says(text: str, expected: Mapping[str, object]) -> bool:
    try:
        return tomllib.loads(text) == expected
    except tomllib.TOMLDecodeError:
        return False


def _text(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8") if path.exists() else ""
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(
            f"{path} cannot be read: {error}", remedy="name another file", field="path"
        ) from error


def _write(path: Path, text: str) -> None:
    """Replace the file in one step, so that a crash leaves the old one or the new one."""
    place = path.resolve()
    new = place.with_name(f".{place.name}.new")
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        new.write_bytes(text.encode("utf-8"))
        if place.exists():
            shutil.copymode(place, new)
        os.replace(new, place)
    except OSError as error:
        new.unlink(missing_ok=True)
        raise ConfigError(
            f"{path} cannot be written: {error}", remedy="name another file", field="path"
        ) from error
