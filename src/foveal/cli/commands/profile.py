"""Remember sentences about the user; show and change what is known of the user."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from textwrap import wrap
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from foveal.cli import output
from foveal.cli.inputs import STDIN, read_text
from foveal.cli.output import slow_note
from foveal.cli.state import Json, shell_of
from foveal.errors import NotFoundError

if TYPE_CHECKING:
    from foveal.knowledge.values import Memory, Profile, Thing

MOST = 20
"""Topics, and entities, that are listed without `--all`."""
READING = "reading new messages; each is read once, so the next time is faster"
profile = typer.Typer(name="profile", rich_markup_mode=None, add_completion=False)
Id = Annotated[str, typer.Argument(metavar="ID", help="As `foveal profile` shows it: memory-3, thing-12.")]
Text = Annotated[str | None, typer.Argument(metavar="TEXT", help="A sentence; `-` or nothing reads stdin.")]


def remember(
    context: typer.Context,
    text: Text = None,
    *,
    kind: Annotated[
        Literal["identity", "preference", "fact"] | None,
        typer.Option(metavar="KIND", help="identity, preference or fact; detected unless given."),
    ] = None,
    json: Json = False,
) -> None:
    """Remember a sentence about the user and print its id.

    Who they are, how they want things done, or another fact. It replaces a memory that says the same or that
    it contradicts.
    """
    with shell_of(context).store(new=True) as fov:
        memory = fov.remember(_text(text), kind=kind)
    if json:
        output.print_json(memory)
    else:
        output.say(memory.id)


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

    Memories, topics and entities, each with its id and its evidence.
    """
    shell = shell_of(context)
    if context.invoked_subcommand is not None:
        context.obj = replace(shell, json=json)
        return
    with shell.store() as fov, slow_note(READING):
        found = fov.profile()
    if json:
        output.print_json(found)
        return
    for line in _listed(found, None if all else MOST):
        output.say(line)
    if not (found.memories or found.topics or found.entities):
        output.note("nothing is known yet; `foveal remember TEXT` adds a memory")


@profile.command()
def edit(context: typer.Context, id: Id, text: Text = None, *, json: Json = False) -> None:
    """Replace the text of a memory."""
    with shell_of(context).store() as fov:
        memory = fov.edit_memory(id, _text(text))
    _report(id, "edited", memory, json=json)


@profile.command()
def confirm(context: typer.Context, id: Id, *, json: Json = False) -> None:
    """Confirm a memory that a model wrote.

    From then on windows may show it.
    """
    with shell_of(context).store() as fov:
        memory = fov.confirm(id)
    _report(id, "confirmed", memory, json=json)


@profile.command()
def delete(context: typer.Context, id: Id, *, json: Json = False) -> None:
    """Delete a memory, a topic or an entity permanently.

    The messages that mention it stay, and do not create it again.
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
    _report(id, "deleted", None, json=json)


@profile.command()
def rename(
    context: typer.Context,
    id: Id,
    name: Annotated[str, typer.Argument(metavar="NAME", help="Its new name.")],
    *,
    json: Json = False,
) -> None:
    """Rename a topic or an entity.

    Messages read later do not rename it.
    """
    with shell_of(context).store() as fov:
        fov.rename_thing(id, name)
    _report(id, "renamed", None, json=json)


def _text(text: str | None) -> str:
    return read_text(text) if text is None or text == STDIN else text


def _report(id: str, change: str, memory: Memory | None, *, json: bool) -> None:
    if json:
        output.print_json((asdict(memory) if memory else {"id": id}) | {"change": change})
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
    """The memory, and who said it, where and when."""
    who = "you" if memory.origin == "user" else "a model"
    where = f" in {output.snippet(memory.session, width=30)}" if memory.session else ""
    yield f"  {memory.id}  {memory.kind}, said by {who}{where} on {_day(memory.updated_at)}"
    text = output.snippet(memory.text, width=len(memory.text) or 1)
    yield from wrap(text, output.WIDTH, initial_indent="      ", subsequent_indent="      ")
    if not memory.confirmed:
        yield f"      in no window before `foveal profile confirm {memory.id}`"


def _things(things: Sequence[Thing]) -> Iterator[str]:
    """One line each; the type is omitted before the name is cut, and the evidence is always complete."""
    evidence = [_evidence(thing) for thing in things]
    ids = max((len(thing.id) for thing in things), default=0)
    room = output.WIDTH - 6 - ids - max(map(len, evidence), default=0)
    for thing, based in zip(things, evidence, strict=True):
        whole = f"{thing.name} ({thing.type})" if thing.type else thing.name
        name = output.snippet(whole if len(whole) <= room else thing.name, width=room)
        yield f"  {thing.id:<{ids}}  {name:<{room}}  {based}"


def _evidence(thing: Thing) -> str:
    often = f"{thing.mentions:,}× in {output.counted(thing.sessions, 'session')}"
    return f"{thing.importance:.2f}  {often}, last {_day(thing.last_mentioned)}"


def _day(moment: float) -> str:
    return output.moment(moment, "%Y-%m-%d")
