"""The memory: add and import messages, find them again, pin, forget and restore them, take them all out."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain
from typing import Annotated

import typer

from foveal import wire
from foveal.cli import output
from foveal.cli.progress import progress
from foveal.cli.reading import STDIN, Source, named, read_messages, read_text
from foveal.cli.shell import Json, shell_of
from foveal.errors import InputError
from foveal.model import Conversation, Kind, Level, Role
from foveal.session import Hit, Session

Id = Annotated[str, typer.Argument(metavar="ID", help="A message's id, such as m12, or its handle, fv-….")]


def add(  # noqa: PLR0913 — what may be said of a message, by name
    context: typer.Context,
    role: Annotated[Role, typer.Argument(metavar="ROLE", help="Who speaks.")],
    text: Annotated[
        str | None, typer.Argument(metavar="TEXT", help="The text; `-` or nothing reads stdin.")
    ] = None,
    *,
    pin: Annotated[bool, typer.Option("--pin", help="Keep it in every window.")] = False,
    important: Annotated[bool, typer.Option("--important", help="Mark it important.")] = False,
    kind: Annotated[
        Kind | None,
        typer.Option(metavar="KIND", help="What it is, such as tool_output or rag_document_chunk."),
    ] = None,
    level: Annotated[Level | None, typer.Option(help="How long it matters.")] = None,
    name: Annotated[str, typer.Option(metavar="NAME", help="The speaker's name.")] = "",
    json: Json = False,
) -> None:
    """Store one message and print its id."""
    said = read_text(text) if text in (None, STDIN) else text or ""
    if not said:
        raise InputError("the text is empty", remedy="give the message a text")
    wire.text_message(role, said, name=name)  # refused before a session is made for it
    with shell_of(context).session(new=True) as session:
        new = session.add(role, said, pinned=pin, important=important, kind=kind, level=level, name=name)
    if json:
        output.tell({"id": new})
    else:
        output.say(new)


def import_(
    context: typer.Context,
    files: Annotated[list[str] | None, typer.Argument(metavar="FILE", help="`-` reads stdin.")] = None,
    *,
    format: Source = None,
    sync: Annotated[
        bool, typer.Option("--sync", help="Each file is the whole history: store only what is new in it.")
    ] = False,
    json: Json = False,
) -> None:
    """Store the messages of files, in any provider's format.

    JSON and JSONL of OpenAI chat and Responses, Anthropic and Gemini, and the transcripts of Claude Code and
    Codex; the format is detected. Of a file that cannot be read whole, nothing is stored.
    """
    with progress(files or [None]) as watched:
        given = ((named(file), read_messages(file, format)) for file in watched)
        first = next(given)  # before a session is made for it
        stored: list[dict[str, object]] = []
        try:
            with shell_of(context).session(new=True) as session:
                for name, messages in chain([first], given):
                    ids = session.sync(messages) if sync else session.extend(messages)
                    stored.append(_stored(name, messages, len(ids), json=json))
        finally:
            if json:
                output.tell_list(stored)


def _stored(file: str, given: Conversation, stored: int, *, json: bool) -> dict[str, object]:
    """Say what became of a file, now or in the end."""
    messages = len(given.messages)
    if not json:
        output.say(f"{file}: {messages:,} messages ({given.format}), {stored:,} stored")
    return {"file": file, "format": given.format, "messages": messages, "stored": stored}


def search(
    context: typer.Context,
    query: Annotated[str, typer.Argument(metavar="QUERY", help="Words to look for.")],
    *,
    limit: Annotated[int, typer.Option(metavar="N", min=1, help="How many hits at most.")] = 10,
    everywhere: Annotated[bool, typer.Option("--all", help="In all sessions of the tenant.")] = False,
    json: Json = False,
) -> None:
    """Find stored messages by their words, best first."""
    with _searchable(context, everywhere=everywhere) as session:
        hits = session.search(query, limit=limit, everywhere=everywhere) if session else ()
    if json:
        output.tell_list({name: getattr(hit, name) for name in Hit.__slots__} for hit in hits)
        return
    for hit in hits:
        place = f"{hit.session}  {hit.id}" if everywhere else hit.id
        output.say(f"{output.styled(place, bold=True)}  {output.styled(hit.handle, 'cyan')}  {hit.role}")
        output.say(f"    {output.snippet(hit.text, query.split())}")
    if not hits:
        output.note("nothing found")


@contextmanager
def _searchable(context: typer.Context, *, everywhere: bool) -> Iterator[Session | None]:
    """The session to search from; to search them all, any will do."""
    shell = shell_of(context)
    if not everywhere:
        with shell.session() as session:
            yield session
        return
    with shell.store() as fov:
        names = [record.name for record in fov.sessions()]
        yield fov.session(names[0]) if names else None


def recall(
    context: typer.Context,
    handle: Annotated[str, typer.Argument(metavar="HANDLE|ID", help="A handle, fv-…, or a message's id.")],
    *,
    json: Json = False,
) -> None:
    """Print the original of a message.

    Its text verbatim, or with --json the message as it came in.
    """
    with shell_of(context).session() as session:
        original = session.recall(handle)
    if json:
        output.tell(original)
        return
    text = _text(original)
    sys.stdout.write(text if text.endswith("\n") or not sys.stdout.isatty() else f"{text}\n")


def _text(original: object) -> str:
    """What a person would read of a message; the JSON of what has no words."""
    match original:
        case str():
            return original
        case dict() if "role" in original or "type" in original:
            text = wire.load([original]).messages[0].text
        case _:  # a system prompt that stood outside the messages
            text = wire.load({"messages": [], "system": original}, format="anthropic").messages[0].text
    return text or wire.to_json(original, "message")


def pin(context: typer.Context, id: Id, *, json: Json = False) -> None:
    """Keep a message in every window, at full."""
    with shell_of(context).session() as session:
        session.pin(id)
    _marked(id, "pinned", json=json)


def unpin(context: typer.Context, id: Id, *, json: Json = False) -> None:
    """Let a pinned message leave windows again."""
    with shell_of(context).session() as session:
        session.unpin(id)
    _marked(id, "unpinned", json=json)


def forget(
    context: typer.Context,
    id: Id,
    *,
    keep: Annotated[
        bool, typer.Option("--keep", help="Only leave it out of windows, until `foveal restore`.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    json: Json = False,
) -> None:
    """Erase a message for good; nothing brings it back."""
    with shell_of(context).session() as session:
        if not (keep or yes or _sure(id)):
            output.note("nothing was erased")
            raise typer.Exit(1)
        session.forget(id, erase=not keep)
    _marked(id, "left out" if keep else "erased", json=json)


def _sure(id: str) -> bool:
    """Ask, where somebody can answer."""
    return not sys.stdin.isatty() or typer.confirm(f"Erase {id} for good?", err=True)


def restore(context: typer.Context, id: Id, *, json: Json = False) -> None:
    """Let a message that was left out be in windows again."""
    with shell_of(context).session() as session:
        session.restore(id)
    _marked(id, "restored", json=json)


def _marked(id: str, mark: str, *, json: bool) -> None:
    if json:
        output.tell({"id": id, "mark": mark})
    else:
        output.say(f"{id} {mark}")


def export(
    context: typer.Context,
    *,
    jsonl: Annotated[bool, typer.Option("--jsonl", help="One message a line.")] = False,
    json: Json = False,  # noqa: ARG001 — it is JSON already
) -> None:
    """Print the whole history as JSON.

    Each message as it came in, the oldest first; erased ones are not in it.
    """
    with shell_of(context).session() as session:
        messages = session.export()
    if jsonl:
        output.tell_lines(messages)
    else:
        output.tell_list(messages)
