"""A session in → less of it in its windows from now on: compressed, summarised, or left out.

Nothing is lost: what left is in the store, and `restore` brings it back into windows.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from foveal.cli import output
from foveal.cli.output import noted
from foveal.cli.state import Json, shell_of
from foveal.session.values import Removal


def compress(
    context: typer.Context,
    *,
    max_tokens: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Tokens to fit into; by default what the model takes."),
    ] = None,
    json: Json = False,
) -> None:
    """Let summaries stand for what is old, now instead of when needed.

    Pins, system prompts and what the model is to answer stay. Where a model writes summaries, it is
    waited for.
    """
    with shell_of(context).session() as session, noted("summarizing what is old"):
        _show(session.compress(max_tokens), "compressed", json=json)


def prune(
    context: typer.Context,
    *,
    max_tokens: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Tokens to fit into; by default 80% of the model's window."),
    ] = None,
    json: Json = False,
) -> None:
    """Leave out the least important turns until the rest fits."""
    with shell_of(context).session() as session:
        _show(session.prune(max_tokens), "left out", json=json)


def summarize(
    context: typer.Context,
    *,
    keep: Annotated[
        int | None, typer.Option(metavar="N", min=0, help="The newest messages that stay; by default 10.")
    ] = None,
    json: Json = False,
) -> None:
    """Show one note in place of all but the newest messages."""
    with shell_of(context).session() as session:
        removal = session.summarize(keep)
        _show(removal, "summarized", text=removal.summary, json=json)


def _show(removal: Removal, done: str, *, text: str = "", json: bool) -> None:
    if json:
        output.tell(asdict(removal))
        return
    if not removal.ids:
        output.say(f"nothing {done}")
        if removal.unreached:
            output.note(removal.unreached)
        return
    many = output.counted(len(removal.ids), "message")
    output.say(f"{many} {done}: {removal.original:,} tokens became {removal.final:,}")
    if text:
        output.say(f"\n{output.harmless(text)}")
    if removal.unreached:
        output.note(removal.unreached)
    output.note("`foveal restore ID` brings a message back into windows")
