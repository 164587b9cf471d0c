"""A file's name or `-` in → its text, its JSON, or the messages in it; faults name the place."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from foveal import wire
from foveal.errors import InputError
from foveal.model import MESSAGES_KEY, SYSTEM_KEY, Conversation, Format

STDIN = "-"
Source = Annotated[
    Format | None, typer.Option("--format", metavar="FORMAT", help="Of the messages; detected unless given.")
]

Active = Annotated[
    list[str] | None,
    typer.Option(metavar="FILE", help="Open in the editor, a path below DIR; for several, say it again."),
]


def read_text(file: str | None) -> str:
    """The text of a file; of stdin for `-`, or when nothing is named and something is piped in."""
    if file is None and sys.stdin.isatty():
        raise typer.BadParameter("name a file, or `-` for stdin")
    name = named(file)
    try:
        content = sys.stdin.buffer.read() if file in (None, STDIN) else Path(name).expanduser().read_bytes()
    except OSError as fault:
        raise InputError(
            f"{name} cannot be read: {fault.strerror or fault}", remedy="check the path and its permissions"
        ) from fault
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as fault:
        raise InputError(
            f"{name} is not UTF-8: byte {fault.start:,} is {content[fault.start]:#04x}",
            remedy="convert it, as in `iconv -f latin1 -t utf-8 FILE`",
        ) from fault


def read_json(file: str | None) -> object:
    """The JSON value in a file."""
    text, name = read_text(file), named(file)
    try:
        return json.loads(text)
    except json.JSONDecodeError as fault:
        raise InputError(
            f"{name} is not JSON: {fault.msg} at line {fault.lineno}, column {fault.colno}",
            remedy="correct that place, or check that it is the right file",
        ) from fault
    except RecursionError as fault:
        raise InputError(f"{name} is nested too deeply", remedy="flatten it") from fault


def read_tools(file: str) -> list[dict[str, object]]:
    """The tool definitions in a file."""
    found = read_json(file)
    if not isinstance(found, list):
        raise InputError(f"{named(file)} holds {_kind(found)}, not an array of tools", remedy=_TOOLS)
    for at, tool in enumerate(found):
        if not isinstance(tool, dict):
            raise InputError(f"{named(file)}, tool {at}: {_kind(tool)}, not an object", remedy=_TOOLS)
    return found


_TOOLS = 'give the definitions as the provider takes them, as in `[{"name": "ls", …}]`'


def _kind(value: object) -> str:
    """What a JSON value is."""
    kinds = {dict: "an object", list: "an array", str: "a text", bool: "a boolean", type(None): "null"}
    return kinds.get(type(value), "a number")


def read_messages(file: str | None, format: Format | None = None) -> Conversation:
    """The messages of a file, whatever wrote it."""
    from foveal.wire import transcripts

    return transcripts.read_text(read_text(file), name=named(file), format=format)


def read_data(file: str | None, format: Format | None) -> object:
    """The JSON of a file as it is; of anything else that holds messages, the messages."""
    text = read_text(file)
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        from foveal.wire import transcripts

        given = transcripts.read_text(text, name=named(file), format=format)
    dumped = wire.dump(given.messages, given.format)
    messages = [json.loads(piece) for piece in dumped.pieces]
    if not dumped.system:
        return messages
    return {MESSAGES_KEY[given.format]: messages, SYSTEM_KEY[given.format]: json.loads(dumped.system)}


def named(file: str | None) -> str:
    """How a file is called in what we say."""
    return "stdin" if file in (None, STDIN) else str(file)


def active_files(active: Sequence[str] | None, workspace: str) -> list[str]:
    """The files that are open; a slip of the keyboard is no file."""
    for file in active or ():
        if not os.path.lexists(os.path.join(workspace, file)):
            raise InputError(
                f"`--active`: there is no {file} in {workspace}", remedy="give a path below the workspace"
            )
    return list(active or ())
