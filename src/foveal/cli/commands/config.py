"""Print every setting and preset number, and where each came from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer

from foveal import presets
from foveal.cli import output
from foveal.cli.state import Json, shell_of
from foveal.config import Loaded, shown
from foveal.pipeline.tokens.count import tokenizer
from foveal.presets.numbers import DEFAULTS, Number, listed

VALUE = 200
"""Columns for the value of a setting."""
ORIGIN = 24
"""Columns for the end of a file's name, where there is no more room."""

Rows = Sequence[tuple[str, str, str]]


def config(
    context: typer.Context,
    *,
    preset: Annotated[
        str, typer.Option(metavar="NAME", help="Only the numbers of this preset, all of them.")
    ] = "",
    all: Annotated[bool, typer.Option("--all", help="Also every number of every preset.")] = False,
    json: Json = False,
) -> None:
    """Print every setting and where it came from.

    The numbers of the presets follow where a file sets them.
    """
    loaded = shell_of(context).load()
    for name in filter(None, (preset, loaded.settings.preset)):
        presets.find(name)
    if loaded.settings.counter:
        tokenizer(loaded.settings.counter)
    numbers = dict(_numbers(loaded, (preset,) if preset else tuple(DEFAULTS), every=all or bool(preset)))
    if json:
        output.print_json(({} if preset else _settings(loaded)) | _flat(numbers))
        return
    tables = [] if preset else [_table("setting", _setting_rows(loaded))]
    tables += [_fitted(f"presets.{name}", found) for name, found in numbers.items()]
    if tables:
        output.say("\n\n".join("\n".join(lines) for lines in tables))
    else:
        output.note(f"the preset {preset!r} has no numbers to set")


def _numbers(loaded: Loaded, names: Sequence[str], *, every: bool) -> Iterator[tuple[str, list[Number]]]:
    for name in names:
        found = [n for n in listed(name, loaded.layers) if every or n.origin != "default"]
        if found:
            yield name, found


def _settings(loaded: Loaded) -> dict[str, object]:
    values = shown(loaded.settings)
    return {key: {"value": value, "origin": loaded.origins[key]} for key, value in values.items()}


def _flat(numbers: Mapping[str, Sequence[Number]]) -> dict[str, object]:
    return {
        f"presets.{name}.{number.key}": {"value": number.value, "origin": number.origin}
        for name, found in numbers.items()
        for number in found
    }


def _setting_rows(loaded: Loaded) -> Rows:
    return [
        (key, "–" if value in ("", None) else output.snippet(str(value), width=VALUE), loaded.origins[key])
        for key, value in shown(loaded.settings).items()
    ]


def _table(title: str, rows: Rows) -> list[str]:
    return list(output.columns([(title, "value", "origin"), *rows]))


def _fitted(title: str, found: Sequence[Number]) -> list[str]:
    """A table that fits the screen: long texts are cut at their end, long file names at their beginning."""
    keys = max(len(title), *(len(number.key) for number in found))
    room = output.WIDTH - min(keys, output.WIDTH // 2) - 4
    origins = [_short(number.origin) for number in found]
    last = min(max(len("origin"), *map(len, origins)), ORIGIN)
    rows = [
        (
            output.snippet(number.key, width=output.WIDTH // 2),
            output.snippet(_shown(number.value), width=room - last),
            origin if len(origin) <= last else "…" + origin[1 - last :],
        )
        for number, origin in zip(found, origins, strict=True)
    ]
    return _table(title, rows)


def _shown(value: object) -> str:
    """A value as it is written in a settings file."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if value == {}:
        return "–"
    if isinstance(value, int):
        return f"{value:_}"
    return f"{value:g}" if isinstance(value, float) and value == float(f"{value:g}") else str(value)


def _short(origin: str) -> str:
    """The path of a file, relative to the working folder where it is below it."""
    path, here = Path(origin), Path.cwd()
    return str(path.relative_to(here)) if path.is_absolute() and path.is_relative_to(here) else origin
