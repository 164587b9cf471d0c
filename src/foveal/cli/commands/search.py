"""Search the stored messages, or print a window of the best for one question."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import Annotated

import typer

from foveal.cli import output
from foveal.cli.inputs import Model, Written, as_format, tokens
from foveal.cli.output import slow_note
from foveal.cli.state import Json, shell_of
from foveal.session.session import Session
from foveal.session.values import Hit

READING = "reading the session; its embeddings are stored, so the next time is faster"


def search(
    context: typer.Context,
    query: Annotated[str, typer.Argument(metavar="QUERY", help="Words, or a question.")],
    *,
    limit: Annotated[int, typer.Option(metavar="N", min=1, help="The most hits.")] = 10,
    everywhere: Annotated[
        bool, typer.Option("--everywhere", "--all", help="In all sessions of the tenant.")
    ] = False,
    json: Json = False,
) -> None:
    """Find stored messages by keywords and by meaning, best first."""
    with _searchable(context, everywhere=everywhere) as session, slow_note(READING):
        hits = session.search(query, limit=limit, everywhere=everywhere) if session else ()
    if json:
        output.print_json_list(map(asdict, hits))
        return
    for line in _listed(hits, query, everywhere=everywhere):
        output.say(line)
    if not hits:
        output.note("nothing found")


def _listed(hits: tuple[Hit, ...], query: str, *, everywhere: bool) -> Iterator[str]:
    from foveal.search.terms import terms

    words = terms(query).all
    for hit in hits:
        at = output.moment(hit.created_at) if hit.created_at else ""
        weak = "  (weak)" if hit.weak else ""
        rest = f"{hit.handle}  {hit.role:<9}  {at}".rstrip() + weak
        room = output.WIDTH - len(rest) - len(hit.id) - 4
        place = f"{output.snippet(hit.session, width=room)}  {hit.id}" if everywhere else hit.id
        yield f"{output.styled(place, bold=True)}  {output.styled(rest, 'cyan')}"
        yield f"    {output.snippet(hit.text, words)}"


@contextmanager
def _searchable(context: typer.Context, *, everywhere: bool) -> Iterator[Session | None]:
    """The session to search from; any of them where all are searched."""
    shell = shell_of(context)
    if not everywhere:
        with shell.session() as session:
            yield session
        return
    with shell.store() as fov:
        names = [record.name for record in fov.sessions()]
        yield fov.session(names[0]) if names else None


def focus(
    context: typer.Context,
    question: Annotated[
        str, typer.Argument(metavar="QUESTION", help="The question that the window should answer.")
    ],
    *,
    budget: Annotated[
        int, typer.Option(metavar="N", parser=tokens, help="Tokens at most, as in 2000 or 2k.")
    ] = 2_000,
    model: Model = "",
    format: Written = "text",
    json: Json = False,
) -> None:
    """Print the messages that best answer one question.

    As many as fit, complete and in order. It looks back and is not the next request: no message is
    guaranteed a place, and no build is stored.
    """
    from foveal.cli.commands.build import show

    with shell_of(context).session() as session, slow_note(READING):
        window = session.focus(question, budget=budget, model=model, format=as_format(format))
    show(window, "json" if json and format == "text" else format)
