"""Start and complete tasks, and list them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Annotated

import typer

from foveal.cli import output
from foveal.cli.state import Json, shell_of
from foveal.session.responses import complete_task

task = typer.Typer(name="task", rich_markup_mode=None, add_completion=False)


@task.callback(invoke_without_command=True)
def tasks(context: typer.Context, *, json: Json = False) -> None:
    """Start or complete a task: its messages become a summary. Without a subcommand, list the tasks."""
    shell = shell_of(context)
    if context.invoked_subcommand is not None:
        context.obj = replace(shell, json=json)
        return
    with shell.session() as session:
        found = session.tasks()
    if json:
        output.print_json_list(map(asdict, found))
        return
    for each in found:
        state = "open" if each.ended_at is None else "complete"
        output.say(f"{each.number}  {state:<8}  {output.snippet(each.name, width=output.WIDTH - 16)}")
    if not found:
        output.note("no tasks yet; `foveal task start NAME` starts one")


@task.command()
def start(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", help="What it is about.")],
    *,
    json: Json = False,
) -> None:
    """Start a task; the open one ends and is summarized."""
    with shell_of(context).session(new=True) as session:
        number = session.start_task(name)
    if json:
        output.print_json({"number": number, "name": name})
    else:
        output.say(f"task {number} started")


@task.command()
def complete(context: typer.Context, *, json: Json = False) -> None:
    """End the open task and print its summary.

    Windows show it in place of the task's messages, unless these are hardly longer.
    """
    with shell_of(context).session() as session:
        found, ended, messages = complete_task(session)
    if json:
        output.print_json(found)
    elif not found.summary:
        why = "its messages stay as they are" if messages else "it was empty"
        output.say(f"nothing to summarize in task {ended.number}: {why}")
    else:
        output.say(output.without_control(found.summary))
        output.note(_shown(found.replaced))


def _shown(replaced: Sequence[str]) -> str:
    """What windows will show."""
    if not replaced:
        return "windows keep showing the messages themselves: they are hardly longer"
    many = output.counted(len(replaced), "message")
    return f"windows show this in place of {many}; `foveal restore {replaced[0]}` undoes it"
