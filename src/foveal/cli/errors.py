"""Run a command and return its exit code; print an error in one line and its remedy in another."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import typer

from foveal.cli import output
from foveal.errors import FovealError, See

SEE: dict[See, str] = {
    "sessions": "`foveal sessions` lists them",
    "messages": "`foveal search` and `foveal export --ids` give ids and handles",
    "operations": "`foveal op --list` names them all",
    "profile": "`foveal profile` lists them with their ids",
    "tasks": "`foveal task start NAME` begins one with the next message",
}
"""The remedy for errors that refer to another call: the command that makes it."""


def exit_code(command: Callable[[], object]) -> int:
    """Run the command: 0 done, 1 failed, 2 wrong usage. Interrupts are raised to the caller."""
    try:
        code = command()
    except FovealError as error:
        output.fail(error.what, SEE.get(error.see, error.remedy))
        return 1
    except typer.Abort as abort:
        raise KeyboardInterrupt from abort
    except typer.TyperException as error:
        output.fail(*_usage_error(error))
        return 2
    return code if isinstance(code, int) else 0


def _usage_error(error: typer.TyperException) -> tuple[str, str]:
    """What is wrong with the usage, and where to read on; for a misplaced option, where it belongs."""
    context = getattr(error, "ctx", None)
    if context is None:
        return error.format_message(), "`foveal --help`"
    option = getattr(error, "option_name", "")
    for outer in _parents(context):
        param = next((p for p in outer.command.params if option in p.opts), None)
        if param:
            given = option if param.is_flag else f"{option} {param.metavar}"
            inner = context.command_path.removeprefix(outer.command_path).strip()
            return f"{option} goes before the command", f"`{outer.command_path} {given} {inner} …`"
    return error.format_message(), f"`{context.command_path} --help`"


def _parents(context: Any) -> Iterator[Any]:
    while context := context.parent:
        yield context
