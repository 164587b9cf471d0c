"""Compress, prune or summarize a session's history in its windows.

The store keeps every message, and `restore` allows it into windows again.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from foveal.cli import output
from foveal.cli.inputs import tokens
from foveal.cli.output import slow_note
from foveal.cli.state import Json, shell_of
from foveal.session.values import Removal

DryRun = Annotated[bool, typer.Option("--dry-run", help="Report what would be done, and change nothing.")]


def compress(
    context: typer.Context,
    *,
    max_tokens: Annotated[
        int | None,
        typer.Option(
            metavar="N", parser=tokens, help="Tokens to fit into; by default as many as the model takes."
        ),
    ] = None,
    dry_run: DryRun = False,
    json: Json = False,
) -> None:
    """Replace old messages by summaries now instead of when needed.

    Pins, system prompts and the open turn stay. Where a model writes the summaries, the command waits
    for it. With the preset fifth a build does so by itself above 80% of its budget.
    """
    with shell_of(context).session() as session, slow_note("summarizing old messages"):
        removal = session.compress(max_tokens, dry_run=dry_run)
        _show(removal, "compressed", dry_run=dry_run, json=json)


def prune(
    context: typer.Context,
    *,
    max_tokens: Annotated[
        int | None,
        typer.Option(
            metavar="N", parser=tokens, help="Tokens to fit into; by default 80% of the model's window."
        ),
    ] = None,
    dry_run: DryRun = False,
    json: Json = False,
) -> None:
    """Leave out the least important turns until the rest fits.

    With the preset reploid a build does so by itself to a history above 80% of the limit.
    """
    with shell_of(context).session() as session:
        removal = session.prune(max_tokens, dry_run=dry_run)
        _show(removal, "left out", dry_run=dry_run, json=json)


def summarize(
    context: typer.Context,
    *,
    keep: Annotated[
        int | None,
        typer.Option(metavar="N", min=0, help="How many of the newest messages stay; by default 10."),
    ] = None,
    dry_run: DryRun = False,
    json: Json = False,
) -> None:
    """Show one note in place of all but the newest messages."""
    with shell_of(context).session() as session:
        removal = session.summarize(keep, dry_run=dry_run)
        _show(removal, "summarized", text=removal.summary, dry_run=dry_run, json=json)


def _show(removal: Removal, done: str, *, text: str = "", dry_run: bool, json: bool) -> None:
    if json:
        output.print_json(asdict(removal))
        return
    if not removal.ids:
        output.say(f"nothing {done}")
        if removal.unreached:
            output.note(removal.unreached)
        return
    many = output.counted(len(removal.ids), "message")
    if dry_run:
        output.say(f"{many} would be {done}: {removal.original:,} tokens would become {removal.final:,}")
    else:
        output.say(f"{many} {done}: {removal.original:,} tokens became {removal.final:,}")
    if text:
        output.say(f"\n{output.without_control(text)}")
    if removal.unreached:
        output.note(removal.unreached)
    if not dry_run:
        output.note("`foveal restore ID` allows a message into windows again; without an ID, all of them")
