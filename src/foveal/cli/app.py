"""The `foveal` command. Exit codes: 0 done, 1 failed, 2 wrong usage, 130 interrupted.

Results go to stdout, everything else to stderr. An error is one line, followed by a line with its remedy;
with `--json` it is one line of JSON.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperArgument, TyperGroup
from typer.main import get_command

from foveal import __version__
from foveal.cli import errors, output
from foveal.cli.state import Shell
from foveal.config import unknown_variables

COMMANDS = {
    "add": "commands.messages", "import": "commands.transcripts", "search": "commands.search",
    "focus": "commands.search", "recall": "commands.messages", "pin": "commands.messages",
    "unpin": "commands.messages", "forget": "commands.messages", "restore": "commands.messages",
    "export": "commands.messages", "build": "commands.build", "fit": "commands.build",
    "context": "commands.context", "explain": "commands.inspect", "why": "commands.inspect",
    "diff": "commands.inspect", "compare": "commands.inspect", "replay": "commands.inspect",
    "learn": "commands.learn",
    "stats": "commands.build", "compress": "commands.shrink", "prune": "commands.shrink",
    "summarize": "commands.shrink", "count": "commands.build", "remember": "commands.profile",
    "sessions": "commands.store", "backup": "commands.store", "verify": "commands.store", "op": "commands.op",
    "models": "commands.doctor", "config": "commands.config", "doctor": "commands.doctor", "demo": "demo",
    "serve": "commands.serve", "task": "commands.tasks", "profile": "commands.profile",
    "pool": "commands.store",
}  # fmt: skip
"""Every command in the order of `--help`, and the module that has its function or its group."""


class _Commands(Mapping[str, Any]):
    """The commands by name; each module is imported on first use, so that the others start faster."""

    def __init__(self) -> None:
        self._loaded: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._loaded:
            module = import_module(f"foveal.cli.{COMMANDS[name]}")
            found = getattr(module, "import_" if name == "import" else name)
            if not isinstance(found, typer.Typer):
                function, found = found, typer.Typer(rich_markup_mode=None, add_completion=False)
                found.command(name=name)(function)
            self._loaded[name] = _without_types(get_command(found))
        return self._loaded[name]

    def __iter__(self) -> Iterator[str]:
        return iter(COMMANDS)

    def __len__(self) -> int:
        return len(COMMANDS)


def _without_types(command: Any) -> Any:
    """Leave Python's types out of the help of arguments, as in `FILE <list[str]>`: their names say enough."""
    for child in getattr(command, "commands", {}).values():
        _without_types(child)
    for param in command.params:
        if isinstance(param, TyperArgument) and "|" not in str(param.display_type_rich(None)):  # type: ignore[arg-type]
            param.display_type_rich = lambda *_, **__: None  # type: ignore[method-assign]
    return command


class _Group(TyperGroup):
    def __init__(self, **options: Any) -> None:
        super().__init__(**(options | {"commands": _Commands()}))


app = typer.Typer(name="foveal", cls=_Group, rich_markup_mode=None, pretty_exceptions_enable=False)


def _version(value: bool) -> None:  # noqa: FBT001 — the signature that typer calls
    if value:
        output.say(f"foveal {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def root(  # noqa: PLR0913 — the options of every command, by name
    context: typer.Context,
    *,
    store: Annotated[str | None, typer.Option(metavar="URL", help="A path, or :memory:.")] = None,
    session: Annotated[str | None, typer.Option(metavar="NAME", help="`default` unless set.")] = None,
    tenant: Annotated[
        str | None, typer.Option(metavar="NAME", help="Whose data; `default` unless set.")
    ] = None,
    pool: Annotated[
        str | None, typer.Option(metavar="NAME", help="The pool of agents that the session joins.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    version: Annotated[  # noqa: ARG001 — its callback acts
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """A context window manager for LLM agents: store everything, send the best window that fits.

    Without a command, on a terminal: type to add messages, and see the window after each.
    """
    for warning in unknown_variables():
        output.note(f"warning: {warning}")
    context.obj = Shell(
        options={"store": store, "session": session, "tenant": tenant, "pool": pool}, json=json
    )
    if context.invoked_subcommand is not None:
        return
    if not json and sys.stdin.isatty() and sys.stdout.isatty():
        from foveal.cli import interactive

        interactive.talk(context.obj, context.command.commands)  # type: ignore[attr-defined]  # a group's
    else:
        output.say(context.get_help())


def main() -> None:
    """The entry point of the `foveal` script."""
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """Run one command and return its exit code."""
    output.prepare(sys.stdout, sys.stderr)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always", UserWarning)
            warnings.showwarning = _show_warning  # type: ignore[assignment]  # the rest is not shown
            code = errors.exit_code(
                lambda: app(arguments, prog_name="foveal", standalone_mode=False), json=_json(arguments)
            )
        sys.stdout.flush()
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # The reader closed the pipe early; Python would report it again when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return code


def _json(arguments: list[str]) -> bool:
    """Whether JSON was requested, also where the arguments cannot be parsed."""
    options = arguments[: arguments.index("--")] if "--" in arguments else arguments
    return "--json" in options


def _show_warning(message: Warning | str, *_: object) -> None:
    output.note(f"warning: {' '.join(str(message).split())}")
