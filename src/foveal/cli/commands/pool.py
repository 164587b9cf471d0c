"""List pools, show one with the shares of its sessions, set its budget, and take sessions out."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from foveal.cli import output
from foveal.cli.inputs import tokens
from foveal.cli.state import Json, shell_of
from foveal.session.responses import pool_response


def pool(
    context: typer.Context,
    name: Annotated[
        str | None,
        typer.Argument(metavar="NAME", help="Created if there is none; without it, all are listed."),
    ] = None,
    *,
    budget: Annotated[
        int | None,
        typer.Option(metavar="N", parser=tokens, help="Tokens of all its windows together, as in 24k."),
    ] = None,
    leave: Annotated[
        str | None, typer.Option(metavar="SESSION", help="Take a session out of the pool.")
    ] = None,
    delete: Annotated[bool, typer.Option("--delete", help="Delete the pool; its sessions stay.")] = False,
    json: Json = False,
) -> None:
    """List the pools, or show, change or delete one.

    `foveal --pool NAME COMMAND` lets the session of the command join it.
    """
    shell = shell_of(context)
    with shell.store(new=name is not None) as fov:
        if name is None:
            pools = fov.pools()
        else:
            pools = (fov.pool(name, budget=budget),)
            if leave:
                pools[0].leave(leave)
            if delete:
                pools[0].delete()
                pools = ()
        found = [pool_response(each) for each in pools]
    if json:
        output.print_json_list(asdict(each) for each in found)
        return
    if not found:
        output.note("no pool" if name is None else f"deleted pool {name}")
    for each in found:
        output.say(f"{each.name}: {f'{each.budget:,} tokens' if each.budget else 'no budget'}")
        for agent in each.agents:
            output.say(f"  {agent.session}: {agent.because}")
