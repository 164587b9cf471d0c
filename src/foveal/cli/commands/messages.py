"""Add, recall, pin, forget, restore and export messages."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Annotated, Any

import typer

from foveal import wire
from foveal.cli import output
from foveal.cli.inputs import STDIN, read_text
from foveal.cli.inputs import priority as a_priority
from foveal.cli.state import Json, shell_of
from foveal.errors import InputError
from foveal.model import Entry, Kind, Level, Role
from foveal.session.responses import Mark, MarkResponse, MarksResponse

Id = Annotated[
    str, typer.Argument(metavar="ID", help="A message's id or number, such as m12, or its handle, fv-….")
]


def add(  # noqa: PLR0913 — every option of a message, by name
    context: typer.Context,
    role: Annotated[Role, typer.Argument(metavar="ROLE", help="The role of the speaker.")],
    text: Annotated[
        str | None, typer.Argument(metavar="TEXT", help="The text; `-` or nothing reads stdin.")
    ] = None,
    *,
    pin: Annotated[bool, typer.Option("--pin", help="Keep it in every window.")] = False,
    important: Annotated[
        bool, typer.Option("--important", help="For presets that score; `recent` ignores it.")
    ] = False,
    private: Annotated[
        bool, typer.Option("--private", help="Show it in its own session only, never in another one.")
    ] = False,
    kind: Annotated[
        Kind | None,
        typer.Option(metavar="KIND", help="What it is, such as tool_output; for presets that score."),
    ] = None,
    level: Annotated[Level | None, typer.Option(help="How long it matters; for presets that score.")] = None,
    priority: Annotated[
        float | None,
        typer.Option(
            metavar="NUMBER", parser=a_priority, help="From 0 to 1,000; `omar` and `fifth` select by it."
        ),
    ] = None,
    name: Annotated[str, typer.Option(metavar="NAME", help="The speaker's name.")] = "",
    json: Json = False,
) -> None:
    """Store one message and print its id."""
    content = read_text(text) if text in (None, STDIN) else text or ""
    if not content:
        raise InputError("the text is empty", remedy="give the message a text")
    wire.text_message(role, content, name=name)  # validate before creating a session
    with shell_of(context).session(new=True) as session:
        id = session.add(
            role,
            content,
            pinned=pin,
            important=important,
            private=private,
            kind=kind,
            level=level,
            priority=priority,
            name=name,
        )
    if json:
        output.print_json({"id": id})
    else:
        output.say(id)


def recall(
    context: typer.Context,
    handle: Annotated[
        str, typer.Argument(metavar="HANDLE|ID", help="A handle, fv-…, or a message's id or number.")
    ],
    *,
    everywhere: Annotated[
        bool,
        typer.Option("--everywhere", "--all", help="Also by the handle of a message in another session."),
    ] = False,
    json: Json = False,
) -> None:
    """Print the original of a message.

    Its text verbatim, or with --json the message as it was added.
    """
    with shell_of(context).session() as session:
        original = session.recall(handle, everywhere=everywhere)
    if json:
        output.print_json(original)
        return
    text = text_of(original)
    text = output.without_control(text)
    sys.stdout.write(text if text.endswith("\n") or not sys.stdout.isatty() else f"{text}\n")


def text_of(original: object) -> str:
    """The readable text of a message; its JSON where it has none."""
    match original:
        case str():
            return original
        case dict() if "role" in original or "type" in original:
            text = wire.load([original]).messages[0].text
        case _:  # a system prompt outside the messages
            text = wire.load({"messages": [], "system": original}, format="anthropic").messages[0].text
    return text or wire.to_json(original, "message")


def pin(context: typer.Context, id: Id, *, json: Json = False) -> None:
    """Keep a message in every window, in full."""
    with shell_of(context).session() as session:
        pinned = session.pin(id)
    _marked(pinned, "pinned", json=json)


def unpin(context: typer.Context, id: Id, *, json: Json = False) -> None:
    """Allow a pinned message to be evicted again."""
    with shell_of(context).session() as session:
        unpinned = session.unpin(id)
    _marked(unpinned, "unpinned", json=json)


def forget(
    context: typer.Context,
    id: Id,
    *,
    keep: Annotated[
        bool, typer.Option("--keep", help="Only leave it out of windows, until `foveal restore`.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")] = False,
    json: Json = False,
) -> None:
    """Erase a message permanently; it cannot be restored."""
    with shell_of(context).session() as session:
        if not (keep or yes or _confirmed(id)):
            output.note("nothing was erased")
            raise typer.Exit(1)
        gone = session.forget(id, erase=not keep)
    _all_marked(id, "left out" if keep else "erased", gone, json=json)


def _confirmed(id: str) -> bool:
    """Ask for confirmation on a terminal."""
    if not sys.stdin.isatty():
        raise InputError(
            f"{id} was not erased: erasing is permanent, and without a terminal it cannot be confirmed",
            remedy="`--yes` erases it without asking, `--keep` only leaves it out of windows",
        )
    return typer.confirm(f"Erase {id} for good?", err=True)


def restore(
    context: typer.Context,
    id: Annotated[
        str | None, typer.Argument(metavar="ID", help="A message's id, number or handle; all unless given.")
    ] = None,
    *,
    json: Json = False,
) -> None:
    """Allow left-out messages into windows again, one or all.

    Where a summary replaces it, all messages that the summary covers are restored.
    """
    with shell_of(context).session() as session:
        restored = session.restore(id)
    if restored or json:
        _all_marked(id or "", "restored", restored, json=json)
    else:
        output.say(f"{id} was not left out" if id else "no message was left out")


def _marked(id: str, mark: Mark, *, json: bool) -> None:
    if json:
        output.print_json(MarkResponse(id=id, mark=mark))
    else:
        output.say(f"{id} {mark}")


def _all_marked(id: str, mark: Mark, ids: Sequence[str], *, json: bool) -> None:
    """Report a mark that may be on other messages too."""
    if json:
        output.print_json(MarksResponse(id=id, mark=mark, ids=tuple(ids)))
    else:
        output.say("\n".join(f"{run} {mark}" for run in _runs(ids)))


def _runs(ids: Sequence[str]) -> Iterator[str]:
    """Consecutive ids as ranges.

    >>> list(_runs(["m2", "m3", "m4", "m9"]))
    ['m2–m4', 'm9']
    """
    for _, group in groupby(enumerate(ids), lambda each: int(each[1][1:]) - each[0]):
        run = [id for _, id in group]
        yield run[0] if len(run) == 1 else f"{run[0]}–{run[-1]}"


def export(
    context: typer.Context,
    *,
    jsonl: Annotated[bool, typer.Option("--jsonl", help="One message per line.")] = False,
    ids: Annotated[
        bool, typer.Option("--ids", help="List the messages instead: id, handle, role, tokens, first words.")
    ] = False,
    json: Json = False,
) -> None:
    """Print the whole history as JSON.

    Each message as it was added, oldest first, without erased ones.
    """
    with shell_of(context).session() as session:
        messages = session.export()
        rows = list(_listed(session.entries(), messages)) if ids else messages
    if ids and not json and not jsonl:
        _show_ids(rows)
    elif jsonl:
        output.print_json_lines(rows)
    else:
        output.print_json_list(rows)


def _listed(entries: Sequence[Entry], messages: Sequence[object]) -> Iterator[dict[str, Any]]:
    """Every entry with the first words of its message; an erased one has none."""
    texts = map(text_of, messages)
    for entry in entries:
        yield {
            "id": entry.id,
            "handle": entry.handle,
            "role": entry.role,
            "tokens": entry.tokens,
            "priority": entry.priority,
            "private": entry.private,
            "mark": entry.absence or ("pinned" if entry.pinned else ""),
            "text": "" if entry.absence == "erased" else output.snippet(next(texts)),
        }


def _show_ids(rows: Sequence[Mapping[str, Any]]) -> None:
    heads = output.columns(
        [(row["id"], row["handle"], row["role"], f"{row['tokens']:,}") for row in rows], right=(3,)
    )
    for head, row in zip(heads, rows, strict=True):
        mark = f"({row['mark']}) " if row["mark"] else ""
        words = output.snippet(mark + row["text"], width=max(20, output.WIDTH - len(head) - 2))
        output.say(f"{head}  {words}".rstrip())
