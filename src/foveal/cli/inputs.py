"""Read a file or stdin as text, JSON or messages; errors name the place."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from foveal import wire
from foveal.config import EXPECTED_COUNT, token_count
from foveal.errors import InputError
from foveal.model import MESSAGES_KEY, SYSTEM_KEY, Conversation, Format

STDIN = "-"
Source = Annotated[
    Format | None,
    typer.Option("--format", metavar="FORMAT", help="Format of the messages; detected unless given."),
]

Active = Annotated[
    list[str] | None,
    typer.Option(metavar="FILE", help="A file open in the editor, as a path below DIR; repeat for several."),
]


def tokens(text: str | int) -> int:
    """The value of an option that takes a number of tokens."""
    found = token_count(str(text))
    if not found:
        raise ValueError(f"not {EXPECTED_COUNT}")
    return found


def read_text(file: str | None) -> str:
    """The text of a file; of stdin for `-`, or where no file is given and stdin is a pipe."""
    if file is None and sys.stdin.isatty():
        raise typer.BadParameter("name a file, or `-` for stdin")
    name = display_name(file)
    try:
        content = sys.stdin.buffer.read() if file in (None, STDIN) else Path(name).expanduser().read_bytes()
    except OSError as error:
        raise InputError(
            f"{name} cannot be read: {error.strerror or error}", remedy="check the path and its permissions"
        ) from error
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(
            f"{name} is not UTF-8: byte {error.start:,} is {content[error.start]:#04x}",
            remedy="convert it, as in `iconv -f latin1 -t utf-8 FILE`",
        ) from error


def read_json(file: str | None) -> object:
    """The JSON value in a file."""
    text, name = read_text(file), display_name(file)
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise InputError(
            f"{name} is not JSON: {error.msg} at line {error.lineno}, column {error.colno}",
            remedy="correct that place, or check that it is the right file",
        ) from error
    except RecursionError as error:
        raise InputError(f"{name} is nested too deeply", remedy="flatten it") from error


def read_tools(file: str) -> list[dict[str, object]]:
    """The tool definitions in a file."""
    found = read_json(file)
    if not isinstance(found, list):
        raise InputError(f"{display_name(file)} holds {_kind(found)}, not an array of tools", remedy=_TOOLS)
    for at, tool in enumerate(found):
        if not isinstance(tool, dict):
            raise InputError(f"{display_name(file)}, tool {at}: {_kind(tool)}, not an object", remedy=_TOOLS)
    return found


_TOOLS = 'give the definitions as the provider takes them, as in `[{"name": "ls", …}]`'


def _kind(value: object) -> str:
    """The type of a JSON value, with its article."""
    kinds = {dict: "an object", list: "an array", str: "a text", bool: "a boolean", type(None): "null"}
    return kinds.get(type(value), "a number")


def read_messages(file: str | None, format: Format | None = None) -> Conversation:
    """The messages of a file in any known format."""
    from foveal.wire import transcripts

    return transcripts.read_text(read_text(file), name=display_name(file), format=format)


def read_data(file: str | None, format: Format | None) -> object:
    """The JSON of a file; for other transcripts, their messages as a request."""
    text = read_text(file)
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        from foveal.wire import transcripts

        given = transcripts.read_text(text, name=display_name(file), format=format)
    dumped = wire.dump(given.messages, given.format)
    messages = [json.loads(piece) for piece in dumped.pieces]
    if not dumped.system:
        return messages
    return {MESSAGES_KEY[given.format]: messages, SYSTEM_KEY[given.format]: json.loads(dumped.system)}


def display_name(file: str | None) -> str:
    """The name of a file in messages to the user."""
    return "stdin" if file in (None, STDIN) else str(file)


def active_files(active: Sequence[str] | None, workspace: str) -> list[str]:
    """The active files, checked to exist: a typo is an error."""
    for file in active or ():
        if not os.path.lexists(os.path.join(workspace, file)):
            raise InputError(
                f"`--active`: there is no {file} in {workspace}", remedy="give a path below the workspace"
            )
    return list(active or ())
