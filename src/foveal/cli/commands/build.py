"""Build the window of a session, fit the messages of a file, and count tokens."""

from __future__ import annotations

import json as json_text
import re
import time
from collections.abc import Iterator
from functools import partial
from typing import Annotated

import typer

import foveal
from foveal import catalog, wire
from foveal.cli import output
from foveal.cli.inputs import (
    Active,
    Contributors,
    Model,
    Source,
    Written,
    active_files,
    as_format,
    display_name,
    only_one,
    read_data,
    read_text,
    read_tools,
    tokens,
)
from foveal.cli.output import READING, progress_bar
from foveal.cli.state import Json, shell_of
from foveal.config import Settings
from foveal.model import Conversation, Message
from foveal.pipeline.explain import spent
from foveal.pipeline.summarize.notes import message_range
from foveal.session.responses import count_response, fit_response, stats_response, window_response
from foveal.session.values import Stats
from foveal.window import Window

File = Annotated[str | None, typer.Argument(metavar="FILE", help="`-` or nothing reads stdin.")]
Budget = Annotated[
    int | None,
    typer.Option(
        metavar="N", parser=tokens, help="Tokens, as in 8000 or 8k; by default as many as the model takes."
    ),
]
Preset = Annotated[str, typer.Option(metavar="NAME", help="The preset that chooses; `foveal` unless set.")]
Task = Annotated[str, typer.Option(metavar="TEXT", help="What the window is for.")]
System = Annotated[str | None, typer.Option(metavar="TEXT", help="A system prompt for this window only.")]
Tools = Annotated[str | None, typer.Option(metavar="FILE", help="Tool definitions, a JSON array.")]

Workspace = Annotated[
    str | None, typer.Option(metavar="DIR", help="A folder whose files may be attached as context.")
]
_UNSEEN = dict.fromkeys((0xAD, *range(0x200B, 0x2010), *range(0x2060, 0x2070), 0xFEFF, 0xFFFD))
_LIKE_HEADLINE = re.compile(
    r"\s*[\u2010-\u2015\u2500\u2501\u2504\u2505\u2508\u2509\u254c\u254d\u2e3a\u2e3b]{2,}\s*\w"
)
"""Two strokes and a word, as headlines of the transcript begin; characters without width aside."""
LAYERED = "openscroll"
"""The preset whose window can be written as one text."""


def build(  # noqa: PLR0913 — every option a build has, by name
    context: typer.Context,
    *,
    budget: Budget = None,
    model: Model = "",
    preset: Preset = "",
    task: Task = "",
    system: System = None,
    tools: Tools = None,
    workspace: Workspace = None,
    active: Active = None,
    contributor: Contributors = None,
    format: Written = "text",
    json: Json = False,
) -> None:
    """Print the best window of the session that fits.

    As text for reading; as a provider's request body; or as JSON with tokens and the manifest. With
    the preset openscroll the text is its prompt of eight layers.
    """
    shell = shell_of(context)
    settings = shell.settings
    if active and workspace is None:
        raise typer.BadParameter("--active needs --workspace DIR")
    if contributor and workspace is None:
        raise typer.BadParameter("--contributor needs --workspace DIR")
    size = settings.budget if budget is None else budget
    given, files = read_tools(tools) if tools else None, active_files(active, workspace or "")
    with shell.session(patient=True) as session:
        if (preset or session.preset) == LAYERED and format == "text" and not json:
            with progress_bar(READING) as progress:
                prompt = partial(session.prompt, workspace=workspace, active_files=files, progress=progress)
                prompt = partial(prompt, contributors=contributor or ())
                text = prompt(budget=size, model=model, task=task, system=system, tools=given).text
            output.say(output.printable(text))
            return
        with progress_bar(READING) as progress:
            window = session.build(
                budget=size,
                model=model,
                preset=preset,
                task=task,
                system=system,
                tools=given,
                format=as_format(format),
                workspace=workspace,
                active_files=files,
                contributors=contributor or (),
                progress=progress,
            )
        show(window, "json" if json and format == "text" else format)


def show(window: Window, format: Written) -> None:
    """Print a window."""
    match format:
        case "text":
            output.say("\n\n".join(_transcript(window)))
        case "json":
            output.print_json(window_response(window))
        case _:
            output.print_json(window.request)


def _transcript(window: Window) -> Iterator[str]:
    for message in wire.load(window.request, format=window.format).messages:
        text = _marked(output.printable(message.text)) or "(no text)"
        yield f"{output.styled(_headline(message), 'cyan', bold=True)}\n{text}"


def _headline(message: Message) -> str:
    author = " ".join(output.printable(message.author).split())
    return f"── {message.role}" + (f" ({author})" if author else "")


def _marked(text: str) -> str:
    """The text, with a bar before each line that a reader could take for a headline of ours."""
    return "\n".join(
        f"| {line}" if _LIKE_HEADLINE.match(line.translate(_UNSEEN)) else line for line in text.splitlines()
    )


def fit(  # noqa: PLR0913 — every option a fit has, by name
    context: typer.Context,
    file: File = None,
    *,
    budget: Budget = None,
    model: Model = "",
    preset: Preset = "",
    task: Task = "",
    system: System = None,
    tools: Tools = None,
    format: Source = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Explain on stderr what was kept and why.")
    ] = False,
    json: Json = False,
) -> None:
    """Fit messages into a budget, storing nothing.

    They keep their format: an array stays an array, a whole request body stays a body. With --json, they
    are under `messages` or `body` of an object that also has the tokens and the manifest.
    """
    loaded = shell_of(context).load()
    settings = loaded.settings
    data = read_data(file, format)
    window = foveal.fit(
        data,
        budget=settings.budget if budget is None else budget,
        model=model or settings.model,
        preset=preset or settings.preset,
        numbers=loaded.numbers,
        task=task,
        system=system,
        tools=read_tools(tools) if tools else None,
        format=format,
        counter=settings.counter or None,
        catalogue=settings.catalogue_path,
    )
    if explain:
        output.report(window.explain())
    bare = isinstance(data, list) and window.system is None and not tools
    if json:
        output.print_json(fit_response(window, bare=bare))
    elif bare:
        output.print_json_list(window.messages)
    else:
        output.print_json(window.request)


def stats(context: typer.Context, *, json: Json = False) -> None:
    """Show the session in numbers."""
    shell = shell_of(context)
    with shell.session() as session:
        found = session.stats()
    if json:
        output.print_json(stats_response(found))
        return
    count = _assumed(found.model, shell.settings) or (
        "exact" if found.exact else "estimated, on the safe side"
    )
    history = (
        f"{output.counted(found.messages, 'message')} in {output.counted(found.turns, 'turn')}, "
        f"{output.counted(found.tokens, 'token')}"
    )
    roles = ", ".join(f"{role} {tokens:,}" for role, tokens in found.tokens_by_role.items())
    rows = [
        ("session", found.session),
        ("model", f"{found.model or 'none set'}, window {found.limit:,}"),
        ("stored", history),
        ("by role", roles or "nothing"),
        ("pinned", f"{found.pinned:,}, left out or erased {found.absent:,}"),
        ("used", _used(found)),
        ("counted", f"with {found.counter} as {found.format}, {count}"),
        ("builds", f"{found.builds:,}, preset {found.preset}"),
        *_memory(found),
        *spent(found.costs),
        *_pending(found),
    ]
    for line in output.columns(rows):
        output.say(line)
    if found.builds:
        output.say(f"\n{output.bar(found.percent / 100)} {found.percent:.0f}% used")
        output.say(
            f"newest window: {found.window_tokens:,} of {output.counted(found.window_budget, 'token')}"
        )
        stored = output.counted(found.tokens, "token")
        output.say(f"{stored} stored, {found.window_tokens:,} in this window{_times(found.ratio)}")


def _used(found: Stats) -> str:
    """How full the session is, and what happens to it where that is too much."""
    used = f"{found.used_tokens:,} of {output.counted(found.used_limit, 'token')}, {found.percent:.0f}%"
    if not found.needs_pruning:
        return used
    managed = {"prune": "prunes", "compress": "compresses"}.get(found.manages)
    return (
        f"{used}: the next build {managed} by itself"
        if managed
        else f"{used}: windows stay within their budget"
    )


def _pending(found: Stats) -> Iterator[tuple[str, str]]:
    """What the newest build would add to the costs."""
    if found.pending:
        tokens = output.counted(found.window_tokens, "token")
        yield "pending", f"{tokens} of the newest build: no answer follows it yet"


def _memory(found: Stats) -> Iterator[tuple[str, str]]:
    """How full the memory levels are, what summaries save, what the newest window retrieved."""
    for at, slot in enumerate(found.levels):
        yield "" if at else "levels", f"{slot.name} {slot.used:,} of {output.counted(slot.allotted, 'token')}"
    if found.compression is not None and found.last_compression:
        saved = f"{found.summaries:,} made, {found.stand_ins:,} in windows, {found.compression:.1f}× smaller"
        flag = ": under 2×, so they are too detailed" if found.ratio_low else ""
        yield "summaries", saved + flag
        last = found.last_compression
        size = f"{last.original:,} to {output.counted(last.compressed, 'token')}"
        yield "last one", f"{last.what}, {size}, {_ago(time.time() - last.created_at)}"
    for each in found.retrieved:
        yield (
            "retrieved",
            f"{message_range(each.first, each.last)}: {output.without_control(each.because)}",
        )


def _ago(seconds: float) -> str:
    """How long ago, in the largest unit that has passed.

    >>> _ago(12), _ago(125), _ago(90_000)
    ('just now', '2 minutes ago', '1 day ago')
    """
    for unit, size in (("day", 86_400), ("hour", 3_600), ("minute", 60)):
        if seconds >= size:
            return f"{output.counted(int(seconds // size), unit)} ago"
    return "just now"


def _times(ratio: float) -> str:
    """The ratio of stored to sent tokens, where it is notably above 1."""
    return f": {ratio:,.0f}×" if ratio >= 10 else f": {ratio:.1f}×" if ratio >= 1.1 else ""


def _assumed(model: str, settings: Settings) -> str:
    """Why the tokenizer is a guess; empty when it is set or known for the model."""
    if settings.counter or catalog.find(model, extra=settings.catalogue_path).known:
        return ""
    return f"assumed: `{model}` is not in the catalogue" if model else "assumed: no model is named"


def count(
    context: typer.Context,
    file: File = None,
    *,
    model: Model = "",
    text: Annotated[bool, typer.Option("--text", help="Count JSON as plain text.")] = False,
    json: Json = False,
) -> None:
    """Count the tokens of a text or of messages.

    Messages are given as JSON, and counted with everything their format adds.
    """
    settings = shell_of(context).settings
    content = read_text(file)
    given = None if text else _messages(content, display_name(file), model or settings.model)
    name = model or settings.model or (given.model if given else "")
    found = count_response(
        given or content, model=name, counter=settings.counter or None, catalogue=settings.catalogue_path
    )
    if json:
        output.print_json(found)
        return
    bound = "exact" if found.exact else f"estimate, at most {found.error_bound or 0:.0%} too high"
    how = _assumed(name, settings) or bound
    output.say(f"{output.counted(found.tokens, 'token')} ({found.tokenizer}, {how})")


def _messages(content: str, name: str, model: str) -> Conversation | None:
    """The messages in a JSON or JSONL text; None where the text has no messages."""
    from foveal.wire import transcripts

    for start in (content, content.lstrip().partition("\n")[0]):
        try:
            data = json_text.loads(start)
        except (ValueError, RecursionError):
            continue
        if not _has_messages(data):
            return None
        return only_one(transcripts.read_text(content, name=name, model=model), name)
    return None


def _has_messages(data: object) -> bool:
    """Whether a JSON value is a list of messages, one message, or a line of a transcript."""
    match data:
        case [first, *_]:
            keys = {"role", "parts", "type", "mapping", "chat_messages"}
            return isinstance(first, dict) and not keys.isdisjoint(first)
        case dict():
            keys = {"contents", "input", "message", "messages", "payload", "role"}
            return not keys.isdisjoint(data)
        case _:
            return False
