"""Import the messages of files, agents' transcripts and exports of chats."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from difflib import get_close_matches
from hashlib import sha256
from itertools import chain
from typing import TYPE_CHECKING, Annotated

import typer

from foveal.cli import output
from foveal.cli.inputs import STDIN, Source, display_name, note_skipped, read_transcripts
from foveal.cli.output import progress_bar, slow_note
from foveal.cli.state import Json, Shell, shell_of
from foveal.errors import InputError
from foveal.model import Conversation, Format

if TYPE_CHECKING:
    from foveal.session.foveal import Foveal
    from foveal.session.session import Session
    from foveal.wire.transcripts.values import Transcript

CONVERSATIONS_NAMED = 5
"""Conversations of an export that an error names."""
TITLE_MOST = 60
"""Characters of a conversation's title in the name of its session."""
_UUID = re.compile(r"[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}")


def import_(
    context: typer.Context,
    files: Annotated[list[str] | None, typer.Argument(metavar="FILE", help="`-` reads stdin.")] = None,
    *,
    format: Source = None,
    sync: Annotated[
        bool, typer.Option("--sync", help="Each file is the whole history: store only its new messages.")
    ] = False,
    conversation: Annotated[
        str, typer.Option(metavar="TITLE|ID", help="Only this conversation of an export of chats.")
    ] = "",
    json: Json = False,
) -> None:
    """Store the messages of files, in any provider's format.

    JSON and JSONL of OpenAI chat and Responses, Anthropic and Gemini; transcripts of Claude Code and Codex;
    exports of ChatGPT and Claude.ai, as JSON or zip. The format is detected. A file that was imported before
    adds only what is new; stdin is always appended. Each conversation of an export becomes a session named
    after it. What cannot be read in a transcript or JSONL is skipped and reported.
    """
    shell, options = shell_of(context), _Import(format=format, sync=sync, conversation=conversation)
    paths: Sequence[str | None] = files or [None]
    given = ((file, _read(file, options)) for file in paths)
    first = next(given)  # validate before creating a session
    stored: list[dict[str, object]] = []
    try:
        with shell.store(new=True) as fov:
            imported = _names_by_id(fov)
            for file, transcripts in chain([first], given):
                note_skipped(display_name(file), [each for one in transcripts for each in one.skipped])
                for one in transcripts:
                    name = _session_name(shell, imported, one, of=len(transcripts))
                    session = shell.session_in(fov, name, new=True)
                    ids = _keep(session, one.conversation, file, options)
                    stored.append(_stored(file, one, session, len(ids), json=json))
    finally:
        if json:
            output.print_json_list(stored)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Import:
    """The options of an import."""

    format: Format | None
    sync: bool
    conversation: str


def _read(file: str | None, options: _Import) -> Sequence[Transcript]:
    with slow_note(f"reading {display_name(file)}"):
        found = read_transcripts(file, options.format)
    return _chosen(found, options.conversation, file)


def _keep(session: Session, given: Conversation, file: str | None, options: _Import) -> tuple[str, ...]:
    if options.sync:
        return session.sync(given, format=options.format)
    if file in (None, STDIN):
        return session.extend(given, format=options.format)
    with progress_bar(f"importing {display_name(file)}") as watch:
        return session.resume(given, format=options.format, progress=watch)


def _chosen(found: Sequence[Transcript], named: str, file: str | None) -> Sequence[Transcript]:
    """The conversation of that title or id, or all of them."""
    if not named:
        return found
    chosen = [one for one in found if named.casefold() in (one.title.casefold(), one.id.casefold())]
    if len(chosen) == 1:
        return chosen
    name = display_name(file)
    if chosen:
        ids = ", ".join(f"`{one.id}`" for one in chosen[:CONVERSATIONS_NAMED])
        raise InputError(
            f"{name} has {len(chosen):,} conversations titled {named!r}",
            remedy=f"`--conversation` also takes an id: {ids}",
            field="conversation",
        )
    titles = [one.title for one in found if one.title]
    near = get_close_matches(named, titles, n=1) or titles[:CONVERSATIONS_NAMED]
    raise InputError(
        f"{name} has no conversation {named!r} among its {len(found):,}",
        remedy="`--conversation` takes a title or an id" + "".join(f", as in {each!r}" for each in near[:1]),
        field="conversation",
    )


def _names_by_id(fov: Foveal) -> dict[str, str]:
    """The sessions by the last word of their names, which for an imported conversation is its id."""
    return {each.name.rpartition(" ")[2]: each.name for each in reversed(fov.sessions())}


def _session_name(shell: Shell, imported: dict[str, str], one: Transcript, *, of: int) -> str:
    """The session of a conversation: in an export the one named after it; else the one of the settings.

    The whole id in the name keeps it unique, and finds the session again when the title has changed. A text
    that could also be a word of the user's own names is no such id: its hash replaces it.
    """
    if not one.id or (of == 1 and shell.options.get("session")):
        return ""
    key = (
        one.id
        if _UUID.fullmatch(one.id)
        else sha256(one.id.encode("utf-8", "surrogatepass")).hexdigest()[:32]
    )
    title = re.sub(r"[^\w .,!?()'&+#-]", " ", one.title[:TITLE_MOST])
    return imported.setdefault(key, " ".join(f"{title} {key}".split()))


def _stored(
    file: str | None, one: Transcript, session: Session, stored: int, *, json: bool
) -> dict[str, object]:
    """Report how much of a file was stored, now or with `--json` at the end."""
    name, given = display_name(file), one.conversation
    messages = len(given.messages)
    form = session.format if given.guessed else given.format
    if not json:
        place = f" in session {session.name!r}" if one.id else ""
        output.say(f"{name}: {output.counted(messages, 'message')} ({form}), {stored:,} stored{place}")
    return {
        "file": name,
        "session": session.name,
        "model": session.model,
        "format": form,
        "messages": messages,
        "stored": stored,
        "skipped": [asdict(each) for each in one.skipped],
    }
