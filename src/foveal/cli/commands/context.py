"""Print what a workspace contributes to a task, and report on stderr what is in it and why."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import partial
from textwrap import wrap
from typing import TYPE_CHECKING, Annotated

import typer

import foveal
from foveal.cli import output
from foveal.cli.commands.build import Budget
from foveal.cli.inputs import Active, Contributors, Model, active_files
from foveal.cli.output import READING, progress_bar
from foveal.cli.state import Json, Shell, shell_of
from foveal.errors import BudgetError
from foveal.pipeline.material.categories import PenguinNumbers
from foveal.presets.numbers import overridden
from foveal.session.budget import budget_for
from foveal.session.responses import context_response
from foveal.session.target import target_for, warn

if TYPE_CHECKING:
    from foveal.sources.assemble import SmartContext

SHOWN = 10
"""Refused files that are named on a terminal."""


def context(  # noqa: PLR0913 — every option it has, by name
    context: typer.Context,
    *,
    workspace: Annotated[str, typer.Option(metavar="DIR", help="The folder to read.")],
    task: Annotated[
        str, typer.Option(metavar="TEXT", help="What the window is for; by default the newest user message.")
    ] = "",
    budget: Budget = None,
    active: Active = None,
    contributor: Contributors = None,
    model: Model = "",
    json: Json = False,
) -> None:
    """Print what a workspace contributes to a task.

    Docs, files, a map of the code, git, test results. The budget is that of a whole window, of which this
    takes a part. On stderr is every piece that was offered, whether it is in, and why. With --session before
    the command, its conversation counts too; else no store is opened.
    """
    from foveal.sources.workspace.workspace import Workspace

    shell, folder = shell_of(context), Workspace(workspace)
    files = active_files(active, workspace)
    size = shell.settings.budget if budget is None else budget
    if _session_is_set(shell):
        with shell.session() as session, progress_bar(READING) as progress:
            found = session.context(
                workspace=folder,
                task=task,
                budget=size,
                active_files=files,
                contributors=contributor or (),
                model=model,
                progress=progress,
            )
    elif task.strip():
        assemble = partial(foveal.assemble_smart_context, folder, task=task, active_files=files)
        assemble = partial(assemble, contributors=contributor or ())
        found = _assembled(shell, assemble, budget=size, model=model)
    else:
        raise typer.BadParameter("name the task with --task TEXT, or a --session before the command")
    if not found.text and folder.scan():
        raise BudgetError(
            f"nothing of {workspace} fits: of {found.budget:,} tokens a workspace gets a part",
            remedy="raise `--budget` to 1,000 or more",
        )
    if json:
        output.print_json(context_response(found))
        return
    if not found.contributed:
        output.note(f"there is nothing in {workspace} to show")
        return
    _print(found)


def _print(found: SmartContext) -> None:
    output.say(output.without_control(found.text))
    sys.stdout.flush()
    apart = "\n" if sys.stdout.isatty() else ""
    output.report(apart + "\n".join(_report(found)))


def _session_is_set(shell: Shell) -> bool:
    return shell.load().origins["session"] != "default"


def _assembled(
    shell: Shell, assemble: Callable[..., SmartContext], *, budget: int | None, model: str
) -> SmartContext:
    """The context without a conversation; no store is opened."""
    loaded = shell.load()
    settings = loaded.settings
    target = target_for(
        model or settings.model, "plain", counter=settings.counter or None, catalogue=settings.catalogue_path
    )
    warn(target.warnings)
    with progress_bar(READING) as progress:
        return assemble(
            budget=budget_for(target.card, budget),
            count=target.meter.text,
            numbers=overridden(PenguinNumbers(), loaded.numbers.get("penguin", {}), "preset penguin"),
            progress=progress,
        )


def _report(found: SmartContext) -> Iterator[str]:
    from foveal.sources.assemble import report_text
    from foveal.sources.workspace.workspace import BINARY

    yield report_text(found)
    binary = sum(each.why == BINARY for each in found.refused)
    refused = [each for each in found.refused if each.why != BINARY]
    if found.refused:
        yield ""
    if binary:
        yield f"not read: {output.counted(binary, 'binary file')}"
    for each in refused[:SHOWN]:
        yield from wrap(f"not read: {each.path} {each.why}", output.WIDTH, subsequent_indent="    ")
    if len(refused) > SHOWN:
        yield f"not read: {len(refused) - SHOWN:,} more; `--json` names them"
