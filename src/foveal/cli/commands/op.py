"""Run an operation by name or code, list them all, print the schema of one, or list past optimizations."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from textwrap import wrap
from typing import Annotated

import typer

from foveal.cli import output
from foveal.cli.inputs import display_name, read_json
from foveal.cli.state import Json, absent, shell_of
from foveal.errors import InputError
from foveal.wire import json_kind


def op(  # noqa: PLR0913 — the ways to look at operations, by name
    context: typer.Context,
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="The name of an operation, or its code such as 0x3200.")
    ] = "",
    file: Annotated[
        str | None, typer.Argument(metavar="FILE", help="The request; `-` or nothing reads stdin.")
    ] = None,
    *,
    every: Annotated[bool, typer.Option("--list", help="List every operation.")] = False,
    schema: Annotated[
        bool, typer.Option("--schema", help="Print the schemas of its request and result.")
    ] = False,
    example: Annotated[bool, typer.Option("--example", help="Print a request that it takes.")] = False,
    log: Annotated[
        bool, typer.Option("--log", help="List past optimizations by `omar`, latest first.")
    ] = False,
    json: Json = False,
) -> None:
    """Run an operation: a JSON request in, a JSON result out.

    The same request has the same result if `now` is given where time matters. An optimization by `omar`
    leaves a record in the store, which is created for it. Other events that the design of a preset documents
    are for those who follow the store's events, which keep the newest 1,000.
    """
    if (log or every) and name:
        raise typer.BadParameter(f"`{'--log' if log else '--list'}` takes no name; omit {name!r}")
    if log:
        _show_log(context, json=json)
        return
    from foveal import operations  # its request types are slow to load, and no other command needs them

    if every:
        _show_all(json=json)
    elif not name:
        raise typer.BadParameter("name an operation; `--list` names them all")
    elif schema:
        output.print_json(operations.schema(name))
    elif example:
        output.print_json(operations.example(name))
    else:
        found = operations.find(name)  # before stdin is read: an unknown name fails at once
        request, shell = _request(file), shell_of(context)
        if not found.events or (not found.record and absent(shell.settings.store)):
            output.print_json(operations.run(name, request, numbers=shell.load().numbers))
            return
        with shell.store(new=True) as fov:
            output.print_json(operations.run_in(fov, name, request))


def _show_log(context: typer.Context, *, json: bool) -> None:
    with shell_of(context).store() as fov:
        found = fov.optimizations().optimizations
    if json:
        output.print_json_list(map(asdict, found))
        return
    if not found:
        output.note(
            "no optimizations yet; `foveal op context_optimize` and windows by `omar` are optimizations"
        )
        return
    rows = [
        (
            output.moment(each.created_at),
            each.operation.removeprefix("context_"),
            output.snippet(each.user_id or each.session, width=20),
            f"{each.chunks_optimized:,} of {each.chunks_count:,}",
            f"{each.tokens_used:,} of {each.tokens_available:,}",
        )
        for each in found
    ]
    for line in output.columns([("time", "operation", "for", "chunks", "tokens"), *rows]):
        output.say(line)
    output.note("tokens are of the chosen chunks; operations count their reserve too")


def _request(file: str | None) -> dict[str, object]:
    found = read_json(file)
    if not isinstance(found, dict):
        raise InputError(
            f"{display_name(file)} is {json_kind(found)}, not an object",
            remedy='give the request as an object, as in \'{"text": "hello"}\'',
        )
    return found


def _show_all(*, json: bool) -> None:
    from foveal.operations import REGISTRY

    known = [(each.name, each.code, each.about) for each in REGISTRY.operations]
    if json:
        output.print_json_list(dict(zip(("name", "code", "about"), each, strict=True)) for each in known)
        return
    names = [("operation", "code"), *(each[:2] for each in known)]
    room = output.WIDTH - max(len(line) for line in output.columns(names)) - 2
    rows = [("operation", "code", "about"), *(row for each in known for row in _wrapped(each, room))]
    for at, line in enumerate(output.columns(rows)):
        output.say(line if at else output.styled(line, bold=True))


def _wrapped(row: tuple[str, str, str], room: int) -> Iterator[tuple[str, str, str]]:
    """The row, with its description wrapped over several lines."""
    name, code, about = row
    first, *rest = wrap(about, room)
    yield name, code, first
    for line in rest:
        yield "", "", line
