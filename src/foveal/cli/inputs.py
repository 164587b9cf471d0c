"""Read a file or stdin as text, JSON or messages; errors name the place."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Literal

import typer

from foveal import wire
from foveal.cli.output import counted, note
from foveal.config import EXPECTED_COUNT, TOKENS_MOST, token_count
from foveal.errors import InputError
from foveal.model import MESSAGES_KEY, PRIORITY_MOST, SYSTEM_KEY, Conversation, Format, is_priority

if TYPE_CHECKING:
    from foveal.wire.transcripts.values import Skipped, Transcript

STDIN = "-"
BYTES_MOST = 1 << 29
"""The longest file that is read, also out of a zip: its messages take about ten times as much memory."""
EXPORTED = "conversations.json"
"""The file of the conversations in an export of chats."""
SKIPPED_NAMED = 3
"""Skipped parts of a file that are named; `--json` names all."""
Source = Annotated[
    Format | None,
    typer.Option("--format", metavar="FORMAT", help="Format of the messages; detected unless given."),
]

Active = Annotated[
    list[str] | None,
    typer.Option(metavar="FILE", help="A file open in the editor, as a path below DIR; repeat for several."),
]
Contributors = Annotated[
    list[str] | None,
    typer.Option(
        "--contributor",
        metavar="NAME",
        help="An installed package's contributor to ask as well; repeat for several.",
    ),
]
Model = Annotated[str, typer.Option(metavar="NAME", help="The model that will read it.")]
Written = Annotated[
    Literal["text", "openai", "responses", "anthropic", "gemini", "json"],
    typer.Option(metavar="FORMAT", help="text, openai, responses, anthropic, gemini or json."),
]


def as_format(written: Written) -> Format | None:
    """The provider's format, if one was requested."""
    return None if written == "text" or written == "json" else written  # noqa: PLR1714 — mypy narrows


def tokens(text: str | int) -> int:
    """The value of an option that takes a number of tokens."""
    found = token_count(str(text))
    if not found:
        raise ValueError(f"not {EXPECTED_COUNT}")
    if found > TOKENS_MOST:
        raise ValueError(f"which is above {TOKENS_MOST:,}")
    return found


def tokens_or_none(text: str | int) -> int:
    """The value of an option that takes a number of tokens, or `none`, which is 0 here."""
    return 0 if str(text).strip().lower() == "none" else tokens(text)


def priority(text: str | float) -> float:
    """The value of an option that takes a priority, written like a number of tokens or as any number."""
    try:
        found = token_count(str(text))
        value = float(text if found is None else found)
    except ValueError:
        value = -1.0
    if not is_priority(value):
        raise ValueError(f"not a number from 0 to {PRIORITY_MOST:,}")
    return value


def read_text(file: str | None) -> str:
    """The text of a file; of stdin for `-`, or where no file is given and stdin is a pipe."""
    if file is None and sys.stdin.isatty():
        raise typer.BadParameter("name a file, or `-` for stdin")
    name = display_name(file)
    try:
        if file in (None, STDIN):
            content = _limited(sys.stdin.buffer, name)
        else:
            with Path(name).expanduser().open("rb") as stream:
                content = _exported(stream, name) if _is_archive(stream) else _limited(stream, name)
    except OSError as error:
        raise InputError(
            f"{name} cannot be read: {error.strerror or error}", remedy="check the path and its permissions"
        ) from error
    return _decoded(content, name)


def _decoded(content: bytes, name: str) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        if content.rfind(b"\n") < error.start and error.end == len(content):  # cut within a character
            return content[: error.start].decode("utf-8-sig")
        raise InputError(
            f"{name} is not UTF-8: byte {error.start:,} is {content[error.start]:#04x}",
            remedy="convert it, as in `iconv -f latin1 -t utf-8 FILE`",
        ) from error


def _limited(stream: IO[bytes], name: str) -> bytes:
    """Everything in a stream that is not longer than `BYTES_MOST`."""
    content = stream.read(BYTES_MOST + 1)
    if len(content) <= BYTES_MOST:
        return content
    raise InputError(
        f"{name} has more than {BYTES_MOST:,} bytes",
        remedy="split it into smaller files; an export of chats can be split by conversation",
    )


def _is_archive(stream: IO[bytes]) -> bool:
    """Whether a file is a zip."""
    if not stream.seekable():  # a pipe
        return False
    start = stream.read(4)
    stream.seek(0)
    return start == b"PK\x03\x04"


def _exported(stream: IO[bytes], name: str) -> bytes:
    """The conversations in the zip of an export of chats."""
    import zipfile
    import zlib

    try:
        with zipfile.ZipFile(stream) as archive:
            members = [each for each in archive.infolist() if Path(each.filename).name == EXPORTED]
            if not members:
                raise InputError(f"{name} has no {EXPORTED}", remedy="use the zip as it was downloaded")
            # The size that the archive states may be wrong: what is read counts.
            with archive.open(members[0]) as member:
                return _limited(member, f"{name}, {members[0].filename}")
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        raise InputError(f"{name} is a damaged zip: {error}", remedy="download the export again") from error


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
    except ValueError as error:
        raise InputError(f"{name} has a number with too many digits", remedy="write it as text") from error
    except RecursionError as error:
        raise InputError(f"{name} is nested too deeply", remedy="flatten it") from error


def read_tools(file: str) -> list[dict[str, object]]:
    """The tool definitions in a file."""
    found = read_json(file)
    if not isinstance(found, list):
        raise InputError(
            f"{display_name(file)} holds {wire.json_kind(found)}, not an array of tools", remedy=_TOOLS
        )
    for at, tool in enumerate(found):
        if not isinstance(tool, dict):
            raise InputError(
                f"{display_name(file)}, tool {at}: {wire.json_kind(tool)}, not an object", remedy=_TOOLS
            )
    return found


_TOOLS = 'give the definitions as the provider takes them, as in `[{"name": "ls", …}]`'


def read_transcripts(file: str | None, format: Format | None = None) -> tuple[Transcript, ...]:
    """The conversations of a file in any known format: one, or all of an export."""
    from foveal.wire import transcripts

    return transcripts.read_text(read_text(file), name=display_name(file), format=format)


def note_skipped(name: str, skipped: Sequence[Skipped]) -> None:
    """Report on stderr which parts of a file were not read."""
    if not skipped:
        return
    shown = "; ".join(f"{each.where}: {each.why}" for each in skipped[:SKIPPED_NAMED])
    more = f"; and {len(skipped) - SKIPPED_NAMED:,} more" if len(skipped) > SKIPPED_NAMED else ""
    note(f"{name}: skipped {counted(len(skipped), 'part')} that cannot be read: {shown}{more}")


def read_data(file: str | None, format: Format | None) -> object:
    """The JSON of a file; for other transcripts, their messages as a request."""
    from foveal.wire import transcripts

    text, name = read_text(file), display_name(file)
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        pass
    else:
        if not transcripts.is_export(data):
            return data
    given = only_one(transcripts.read_text(text, name=name, format=format), name)
    dumped = wire.dump(given.messages, given.format, whole=True)
    messages = [json.loads(piece) for piece in dumped.pieces]
    if not dumped.system:
        return messages
    return {MESSAGES_KEY[given.format]: messages, SYSTEM_KEY[given.format]: json.loads(dumped.system)}


def only_one(found: Sequence[Transcript], name: str) -> Conversation:
    """The conversation of a file that has one."""
    if len(found) > 1:
        raise InputError(
            f"{name} is an export of {len(found):,} conversations",
            remedy=f"`foveal import {name} --conversation TITLE` stores one of them as a session",
        )
    note_skipped(name, found[0].skipped)
    return found[0].conversation


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
