"""A text that is ten times as long costs at most about ten times as much, wherever a text is taken."""

from __future__ import annotations

import inspect
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import get_args

import pytest
import typer.main

import foveal
from entry_points import command_lines, routes
from entry_points.command_lines import COMMAND_LINES
from entry_points.formats import FORMATS
from entry_points.library import LIBRARY
from entry_points.operation_fields import OPERATIONS
from entry_points.routes import ROUTES
from entry_points.stories import SIZES, Story, covered, too_slow, varied
from foveal import Foveal, Session, operations
from foveal.cli import app
from foveal.cli.interactive import HELP
from foveal.model import Format
from long_texts import SHAPES

STORIES: tuple[Story, ...] = (*LIBRARY, *FORMATS, *OPERATIONS, *COMMAND_LINES, *ROUTES)
COVERED = covered(STORIES)
WITHOUT_TEXT = {
    "Foveal.close": "no arguments",
    "Foveal.from_settings": "its settings are read from the files and variables of `settings`",
    "Foveal.subscribe": "a function",
    "Session.billed": "numbers",
}


@pytest.mark.filterwarnings("ignore")  # of models that are not known
@pytest.mark.parametrize("story", STORIES, ids=str)
def test_a_long_text_takes_linear_time(story: Story, tmp_path: Path) -> None:
    assert too_slow(story, varied(0), tmp_path) == {}


@pytest.mark.soak
@pytest.mark.filterwarnings("ignore")
@pytest.mark.skipif(os.environ.get("FOVEAL_SOAK") != "1", reason="`make soak` tries every shape")
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("story", STORIES, ids=str)
def test_every_long_text_takes_linear_time(story: Story, shape: str, tmp_path: Path) -> None:
    assert too_slow(replace(story, sizes=SIZES), lambda _: shape, tmp_path) == {}


def _callables() -> Iterator[str]:
    """The functions of the package, and the methods of the two classes; `aadd` is `add` in a thread."""
    for name in foveal.__all__:
        if inspect.isfunction(getattr(foveal, name)) and not _in_thread(name, foveal.__all__):
            yield name
    for owner in (Foveal, Session):
        names = [name for name, _ in inspect.getmembers(owner, inspect.isroutine) if name[0] != "_"]
        yield from (f"{owner.__name__}.{name}" for name in names if not _in_thread(name, names))


def _in_thread(name: str, names: list[str]) -> bool:
    return name == "async_" or (name[0] == "a" and name[1:] in names)


def test_every_function_and_method_is_covered() -> None:
    assert set(_callables()) - COVERED - WITHOUT_TEXT.keys() == set()


def test_every_operation_is_covered() -> None:
    assert {operation.name for operation in operations.REGISTRY.operations} - COVERED == set()


def test_every_format_is_covered() -> None:
    assert set(get_args(Format)) - COVERED == set()


def test_every_route_with_parameters_is_covered() -> None:
    paths = routes.document()["paths"]
    known = {
        f"{method.upper()} {path}"
        for path, methods in paths.items()
        for method, route in methods.items()
        if route.get("parameters") or route.get("requestBody")
    }
    assert known - COVERED - routes.WITHOUT_TEXT.keys() == set()


def test_every_command_with_arguments_is_covered() -> None:
    commands = typer.main.get_command(app).commands.items()  # type: ignore[attr-defined]
    names = {
        f"foveal {' '.join(words)}"
        for name, command in commands
        for words, each in command_lines.commands(name, command)
        if any(not getattr(param, "is_flag", False) for param in each.params)
    }
    allowed = {f"foveal {name}" for name in command_lines.WITHOUT_TEXT}
    assert names - COVERED - allowed == set()


def test_every_command_of_the_interactive_mode_is_covered() -> None:
    assert {f"interactive: /{name}" for name in HELP} - set(command_lines.TYPED) == {"interactive: /quit"}
