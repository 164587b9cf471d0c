"""List the sessions and the pools of the store, back it up, verify it."""

from __future__ import annotations

from dataclasses import asdict
from textwrap import wrap
from typing import TYPE_CHECKING, Annotated

import typer

from foveal.cli import output
from foveal.cli.inputs import tokens_or_none
from foveal.cli.state import Json, shell_of
from foveal.errors import NotFoundError, StoreError
from foveal.session.responses import PoolResponse, pool_response, session_response

if TYPE_CHECKING:
    from foveal.session.foveal import Foveal
    from foveal.session.pool.pool import Pool


def sessions(context: typer.Context, *, json: Json = False) -> None:
    """List the sessions, oldest first."""
    shell = shell_of(context)
    with shell.store() as fov:
        records = fov.sessions()
    if json:
        output.print_json_list(asdict(session_response(record, shell.settings.preset)) for record in records)
        return
    if not records:
        output.note("no sessions yet; `foveal add` and `foveal import` create one")
        return
    rows = [("session", "messages", "format", "model", "since")]
    for record in records:
        since = output.moment(record.created_at)
        rows.append(
            (record.name, f"{record.head.length:,}", record.format or "plain", record.model or "–", since)
        )
    for line in output.columns(rows, right=(1,)):
        output.say(line)


def pool(
    context: typer.Context,
    name: Annotated[
        str | None,
        typer.Argument(metavar="NAME", help="Created if there is none; without it, all are listed."),
    ] = None,
    *,
    budget: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            parser=tokens_or_none,
            help="Tokens of all its windows together, as in 24k; `none` removes it.",
        ),
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
    if name is None and (budget is not None or leave or delete):
        raise typer.BadParameter("name the pool that is to be changed")
    changes = leave or delete
    with shell.store(new=name is not None and not changes) as fov:
        if name is None:
            pools = fov.pools()
        else:
            pool = _existing(fov, name) if changes else fov.pool(name)
            if leave:
                pool.leave(leave)
            if budget is not None:
                pool.set_budget(budget or None)
            if delete:
                pool.delete()
            pools = () if delete else (pool,)
        found = [pool_response(each) for each in pools]
    if json:
        output.print_json_list(asdict(each) for each in found)
        return
    if not found:
        output.note("no pool" if name is None else f"deleted pool {name}")
    for each in found:
        _print_pool(each)


def _existing(fov: Foveal, name: str) -> Pool:
    found = next((pool for pool in fov.pools() if pool.name == name), None)
    if found is None:
        raise NotFoundError(f"there is no pool {name!r}", remedy="`pools` lists them", see="pools")
    return found


def _print_pool(pool: PoolResponse) -> None:
    output.say(f"{pool.name}: {f'{pool.budget:,} tokens' if pool.budget else 'no budget'}")
    for agent in pool.agents:
        for line in wrap(f"{agent.session}: {agent.because}", 78, subsequent_indent="  "):
            output.say(f"  {line}")


def backup(
    context: typer.Context,
    file: Annotated[str, typer.Argument(metavar="FILE", help="A file that does not exist yet.")],
    *,
    json: Json = False,
) -> None:
    """Write a consistent copy of the whole store.

    It has all tenants, and may be made while the store is in use.
    """
    with shell_of(context).store() as fov:
        try:
            fov.backup(file)
        except StoreError as error:
            if type(error) is not StoreError:  # busy or damaged means the store itself, not the copy
                raise
            remedy = "name a FILE that does not exist yet, in a folder that can be written and has room"
            raise StoreError(error.what, remedy) from error
    if json:
        output.print_json({"file": file})
    else:
        output.say(f"copied to {file}")


def verify(context: typer.Context, *, json: Json = False) -> None:
    """Check the whole store by recomputing every hash.

    Exit 1 if anything is wrong.
    """
    with shell_of(context).store() as fov:
        found = fov.verify()
    if json:
        output.print_json(asdict(found) | {"clean": found.clean})
    else:
        for error in found.faults:
            output.say(error)
        what = "clean" if found.clean else "damaged"
        content = f"{output.counted(found.messages, 'message')}, {output.counted(found.sessions, 'session')}"
        output.say(f"{what}: {content}")
    if not found.clean:
        output.fail(
            f"{output.counted(len(found.faults), 'error')} in the store",
            remedy="restore a copy made with `foveal backup`",
            kind=StoreError.__name__,
            json=json,
        )
        raise typer.Exit(1)
