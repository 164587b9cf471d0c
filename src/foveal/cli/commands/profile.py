"""A sentence about the user in → a memory; alone, all that is known of the user, to be seen and changed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from datetime import datetime
from textwrap import wrap
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from foveal.cli import output
from foveal.cli.inputs import STDIN, read_text
from foveal.cli.output import noted
from foveal.cli.state import Json, shell_of
from foveal.errors import NotFoundError

if TYPE_CHECKING:
    from foveal.knowledge.values import Memory, Profile, Thing

MOST = 20
"""Topics, and entities, that are listed unless all are asked for."""
READING = "reading what was said since; it is read once, so the next time takes less"
profile = typer.Typer(name="profile", rich_markup_mode=None, add_completion=False)
Id = Annotated[str, typer.Argument(metavar="ID", help="As `foveal profile` shows it: memory-3, thing-12.")]
Text = Annotated[str | None, typer.Argument(metavar="TEXT", help="A sentence; `-` or nothing reads stdin.")]


def remember(
    context: typer.Context,
    text: Text = None,
    *,
    kind: Annotated[
        Literal["identity", "preference", "fact"] | None,
        typer.Option(metavar="KIND", help="identity, preference or fact; else its words tell."),
    ] = None,
    json: Json = False,
) -> None:
    """Keep a sentence about the user and print its id.

    Who they are, how they want things done, or another fact. It replaces what says the same already, or
    gives another value for the same.
    """
    with shell_of(context).store(new=True) as fov:
        kept = fov.remember(_said(text), kind=kind)
    if json:
        output.tell(kept)
    else:
        output.say(kept.id)


@profile.callback(invoke_without_command=True)
def shown(
    context: typer.Context,
    *,
    all: Annotated[
        bool, typer.Option("--all", help=f"Every topic and entity, not only the first {MOST}.")
    ] = False,
    json: Json = False,
) -> None:
    """Show what is known of the user, or change it.

    Memories, topics and entities, each with its id and what it is based on.
    """
    shell = shell_of(context)
    if context.invoked_subcommand is not None:
        context.obj = replace(shell, json=json)
        return
    with shell.store() as fov, noted(READING):
        found = fov.profile()
    if json:
        output.tell(found)
        return
    for line in _listed(found, None if all else MOST):
        output.say(line)
    if not (found.memories or found.topics or found.entities):
        output.note("nothing is known yet; `foveal remember TEXT` tells something")


@profile.command()
def edit(context: typer.Context, id: Id, text: Text = None, *, json: Json = False) -> None:
    """Put other words in place of a memory's."""
    with shell_of(context).store() as fov:
        kept = fov.edit_memory(id, _said(text))
    _done(id, "edited", kept, json=json)


@profile.command()
def confirm(context: typer.Context, id: Id, *, json: Json = False) -> None:
    """Say that what a model noted is so; windows may show it from then on."""
    with shell_of(context).store() as fov:
        kept = fov.confirm(id)
    _done(id, "confirmed", kept, json=json)


@profile.command()
def delete(context: typer.Context, id: Id, *, json: Json = False) -> None:
    """Delete a memory, a topic or an entity for good.

    The messages that say it stay where they are, and do not bring it back.
    """
    with shell_of(context).store() as fov:
        if id.startswith("thing-"):
            fov.forget_thing(id)
        elif id.startswith("memory-"):
            fov.forget_memory(id)
        else:
            raise NotFoundError(
                f"there is no memory, topic or entity {id!r}",
                remedy="`profile` lists them with their ids",
                see="profile",
            )
    _done(id, "deleted", None, json=json)


@profile.command()
def rename(
    context: typer.Context,
    id: Id,
    name: Annotated[str, typer.Argument(metavar="NAME", help="What it is called from now on.")],
    *,
    json: Json = False,
) -> None:
    """Name a topic or an entity; what is read later does not rename it."""
    with shell_of(context).store() as fov:
        fov.rename_thing(id, name)
    _done(id, "renamed", None, json=json)


def _said(text: str | None) -> str:
    return read_text(text) if text is None or text == STDIN else text


def _done(id: str, change: str, kept: Memory | None, *, json: bool) -> None:
    if json:
        output.tell({"id": id, "change": change} if kept is None else asdict(kept) | {"change": change})
    else:
        output.say(f"{id} {change}")


def _listed(found: Profile, most: int | None) -> Iterator[str]:
    if found.memories:
        yield output.styled("memories", bold=True)
    for memory in found.memories:
        yield from _memory(memory)
    for title, things in (("topics", found.topics), ("entities", found.entities)):
        if things:
            yield output.styled(title, bold=True)
        yield from _things(things[:most])
        if most is not None and len(things) > most:
            yield f"  {len(things) - most:,} more; `--all` lists them"


def _memory(memory: Memory) -> Iterator[str]:
    """What it says, and who said it where and when."""
    who = "you" if memory.origin == "user" else "a model"
    where = f" in {output.snippet(memory.session, width=30)}" if memory.session else ""
    yield f"  {memory.id}  {memory.kind}, said by {who}{where} on {_day(memory.updated_at)}"
    text = output.snippet(memory.text, width=len(memory.text) or 1)
    yield from wrap(text, output.WIDTH, initial_indent="      ", subsequent_indent="      ")
    if not memory.confirmed:
        yield f"      in no window before `foveal profile confirm {memory.id}`"


def _things(things: Sequence[Thing]) -> Iterator[str]:
    """One line each; what a thing is gives way to its name, and that to the numbers it is based on."""
    told = [_based_on(thing) for thing in things]
    ids = max((len(thing.id) for thing in things), default=0)
    room = output.WIDTH - 6 - ids - max(map(len, told), default=0)
    for thing, based in zip(things, told, strict=True):
        whole = f"{thing.name} ({thing.type})" if thing.type else thing.name
        name = output.snippet(whole if len(whole) <= room else thing.name, width=room)
        yield f"  {thing.id:<{ids}}  {name:<{room}}  {based}"


def _based_on(thing: Thing) -> str:
    often = f"{thing.mentions:,}× in {output.counted(thing.sessions, 'session')}"
    return f"{thing.importance:.2f}  {often}, last {_day(thing.last_mentioned)}"


def _day(moment: float) -> str:
    return f"{datetime.fromtimestamp(moment):%Y-%m-%d}"
