"""Run a command and return its exit code; print an error in one line and its remedy in another.

With `--json` an error is one JSON object, the last line on stderr: `{"error", "what", "remedy", "field"}`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import typer

from foveal.cli import output
from foveal.errors import FovealError, See

SEE: dict[See, str] = {
    "sessions": "`foveal sessions` lists them",
    "pools": "`foveal pool` lists them",
    "messages": "`foveal search` and `foveal export --ids` give ids and handles",
    "operations": "`foveal op --list` names them all",
    "schemas": "",
    "profile": "`foveal profile` lists them with their ids",
    "tasks": "`foveal task start NAME` begins one with the next message",
}
"""The remedy for errors that refer to another call: the command that makes it; empty: the error names it."""

USAGE = "UsageError"
"""The kind of an error in the options or arguments; the other kinds are the classes of `foveal.errors`."""


def exit_code(command: Callable[[], object], *, json: bool = False) -> int:
    """Run the command: 0 done, 1 failed, 2 wrong usage. Interrupts are raised to the caller.

    `json`: write errors as JSON.
    """
    try:
        code = command()
    except FovealError as error:
        remedy, kind = SEE.get(error.see) or error.remedy, type(error).__name__
        output.fail(error.what, remedy, kind=kind, field=error.field, json=json)
        return 1
    except typer.Abort as abort:
        raise KeyboardInterrupt from abort
    except typer.TyperException as error:
        output.fail(*_usage_error(error), kind=USAGE, field=_field(error), json=json)
        return 2
    return code if isinstance(code, int) else 0


def _field(error: typer.TyperException) -> str:
    """The option or argument that a usage error is about."""
    param = getattr(error, "param", None)
    return _name(param) if param else str(getattr(error, "option_name", ""))


def _name(param: Any) -> str:
    """An option as it is typed, or an argument as the help shows it."""
    return param.opts[0] if param.opts[0].startswith("-") else str(param.metavar or param.name)


def _usage_error(error: typer.TyperException) -> tuple[str, str]:
    """What is wrong with the usage, and where to read on; for a misplaced option, where it belongs."""
    context = getattr(error, "ctx", None)
    if context is None:
        return _wording(error), "`foveal --help`"
    option = getattr(error, "option_name", "")
    for outer in _parents(context):
        param = next((p for p in outer.command.params if option in p.opts), None)
        if param:
            given = option if param.is_flag else f"{option} {param.metavar}"
            inner = context.command_path.removeprefix(outer.command_path).strip()
            return f"{option} goes before the command", f"`{outer.command_path} {given} {inner} …`"
    return _wording(error), f"`{context.command_path} --help`"


_PHRASES = tuple(
    (re.compile(pattern, re.DOTALL), words, quote)
    for pattern, words, quote in (
        (r"No such command '(.*?)'\.(?: Did you mean '(.*?)'.*)?", r"there is no command `\1`", "`"),
        (r"No such option: (\S+)(?: \(Possible options: ([^,)]+).*\))?", r"there is no option \1", ""),
        (r"Option '(.*)' requires an? .*", r"\1 needs a value", ""),
        (r"Got unexpected extra arguments?(?:\(s\))? \((.*)\)", r"too many arguments: \1", ""),
    )
)
"""Messages of the argument parser, our words for them, and what is around a suggested name."""


def _wording(error: typer.TyperException) -> str:
    """A usage error in our own words."""
    param = getattr(error, "param", None)
    if param and isinstance(error, typer.BadParameter):
        return _wrong_value(_name(param), error)
    if isinstance(error, typer.BadParameter):
        return error.message
    text = error.format_message()
    for pattern, words, quote in _PHRASES:
        if found := pattern.fullmatch(text):
            near = found[2] if found.re.groups > 1 else None
            return found.expand(words) + (f"; did you mean {quote}{near}{quote}?" if near else "")
    return text


def _wrong_value(name: str, error: typer.BadParameter) -> str:
    details = getattr(error.__cause__, "errors", None)
    if details is None:  # raised by a command, or for a value that is missing
        choices = re.search(r"Choose from:\s+(.*)", error.format_message(), re.DOTALL)
        among = f": one of {' '.join(choices[1].split())}" if choices else ""
        return f"{name}: {error.message}" if error.message else f"{name} is missing{among}"
    first = details()[0]
    given, limits = first["input"], first.get("ctx", {})
    match first["type"]:
        case "int_parsing" | "int_from_float" | "int_type":
            return f"{name} is {given!r}, not an integer"
        case "greater_than_equal":
            return f"{name} is {given}; the least is {limits['ge']:,}"
        case "less_than_equal":
            return f"{name} is {given}; the most is {limits['le']:,}"
        case _:
            known = str(limits.get("error", first["msg"])).rstrip(".").removeprefix(f"{given!r} is ")
            return f"{name} is {given!r}, {known}"


def _parents(context: Any) -> Iterator[Any]:
    while context := context.parent:
        yield context
