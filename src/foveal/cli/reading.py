"""A file's name or `-` in → its text, its JSON, or the messages in it; faults name the place."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from foveal.errors import InputError
from foveal.model import Conversation, Format

STDIN = "-"
Source = Annotated[
    Format | None, typer.Option("--format", metavar="FORMAT", help="Of the messages; detected unless given.")
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


def read_messages(file: str | None, format: Format | None = None) -> Conversation:
    """The messages of a file, whatever wrote it."""
    from foveal.wire import transcripts

    return transcripts.read_text(read_text(file), name=named(file), format=format)


def named(file: str | None) -> str:
    """How a file is called in what we say."""
    return "stdin" if file in (None, STDIN) else str(file)
