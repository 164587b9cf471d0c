"""Arguments in → an exit code out: 0 done, 1 the work failed, 2 wrong usage, 130 interrupted.

Results go to stdout, everything else to stderr. What fails says so in a line, with a line on what to do.
"""

from __future__ import annotations

import os
import sys
import warnings
from typing import Annotated

import typer

from foveal import __version__
from foveal.cli import demo, errors, interactive, output
from foveal.cli.commands import (
    build,
    config,
    context,
    doctor,
    inspect,
    messages,
    op,
    profile,
    search,
    serve,
    shrink,
    store,
    tasks,
)
from foveal.cli.state import Shell
from foveal.config import strangers

app = typer.Typer(name="foveal", rich_markup_mode=None, pretty_exceptions_enable=False)

for command in (
    messages.add, messages.import_, search.search, search.focus, messages.recall, messages.pin, messages.unpin,
    messages.forget, messages.restore, messages.export, build.build, build.fit, context.context,
    inspect.explain, inspect.why, inspect.diff, inspect.compare, inspect.replay,
    build.stats, shrink.compress, shrink.prune, shrink.summarize, build.count, profile.remember,
    store.sessions, store.backup, store.verify, op.op, doctor.models, config.config,
    doctor.doctor, demo.demo, serve.serve,
):  # fmt: skip
    app.command(name=command.__name__.rstrip("_"))(command)
app.add_typer(tasks.task)
app.add_typer(profile.profile)


def _version(value: bool) -> None:  # noqa: FBT001 — the signature typer calls
    if value:
        output.say(f"foveal {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def root(
    context: typer.Context,
    *,
    store: Annotated[str | None, typer.Option(metavar="URL", help="A path, or :memory:.")] = None,
    session: Annotated[str | None, typer.Option(metavar="NAME", help="`default` unless set.")] = None,
    tenant: Annotated[
        str | None, typer.Option(metavar="NAME", help="Whose data; `default` unless set.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    version: Annotated[  # noqa: ARG001 — its callback acts
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """A context window manager for LLM agents: store everything, send the best window that fits.

    Without a command, on a terminal: type to add messages, and see the window after each.
    """
    for stranger in strangers():
        output.note(f"warning: {stranger}")
    context.obj = Shell(options={"store": store, "session": session, "tenant": tenant}, json=json)
    if context.invoked_subcommand is not None:
        return
    if not json and sys.stdin.isatty() and sys.stdout.isatty():
        interactive.talk(context.obj, context.command.commands)  # type: ignore[attr-defined]  # a group's
    else:
        output.say(context.get_help())


def main() -> None:
    """The `foveal` command."""
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """Run one command and return its exit code."""
    output.prepare(sys.stdout, sys.stderr)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always", UserWarning)
            warnings.showwarning = _show_warning  # type: ignore[assignment]  # the rest is not shown
            code = errors.told(lambda: app(arguments, prog_name="foveal", standalone_mode=False))
        sys.stdout.flush()
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # The reader has seen enough. Python would complain once more when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return code


def _show_warning(message: Warning | str, *_: object) -> None:
    output.note(f"warning: {' '.join(str(message).split())}")
