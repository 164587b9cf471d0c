"""A command in → its exit code out; what went wrong is said in a line, what to do about it in another."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import typer

from foveal.cli import output
from foveal.errors import FovealError

COMMANDS = {
    "`search` and `entries`": "`foveal search` and `foveal export --ids`",
    "`start_task`": "`foveal task start NAME`",
    "`profile` lists": "`foveal profile` lists",
    "as `workspace`": "as `--workspace`",
}
"""What remedies name in Python → the commands that do it here."""


def told(command: Callable[[], object]) -> int:
    """Run it: 0 done, 1 the work failed, 2 wrong usage. An interrupt is the caller's to judge."""
    try:
        code = command()
    except FovealError as error:
        output.fail(error.what, _remedy(error))
        return 1
    except typer.Abort as abort:
        raise KeyboardInterrupt from abort
    except typer.TyperException as error:
        output.fail(*_misuse(error))
        return 2
    return code if isinstance(code, int) else 0


def _remedy(error: FovealError) -> str:
    remedy = error.remedy
    for python, command in COMMANDS.items():
        remedy = remedy.replace(python, command)
    return remedy


def _misuse(error: typer.TyperException) -> tuple[str, str]:
    """What was wrong about the usage, and where to read on; for an option out of place, its place."""
    context = getattr(error, "ctx", None)
    if context is None:
        return error.format_message(), "`foveal --help`"
    option = getattr(error, "option_name", "")
    for outer in _above(context):
        early = next((p for p in outer.command.params if option in p.opts), None)
        if early:
            given = option if early.is_flag else f"{option} {early.metavar}"
            inner = context.command_path.removeprefix(outer.command_path).strip()
            return f"{option} goes before the command", f"`{outer.command_path} {given} {inner} …`"
    return error.format_message(), f"`{context.command_path} --help`"


def _above(context: Any) -> Iterator[Any]:
    while context := context.parent:
        yield context
