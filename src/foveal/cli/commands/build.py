"""The windows: build one from a session, fit one from a file; sizes in tokens."""

from __future__ import annotations

import json as json_text
import sys
from collections.abc import Iterator
from functools import partial
from typing import Annotated, Literal

import typer

import foveal
from foveal import catalog, wire
from foveal.cli import output
from foveal.cli.inputs import Active, Source, active_files, named, read_data, read_text, read_tools
from foveal.cli.output import READING, counting
from foveal.cli.state import Json, catalogue, shell_of
from foveal.config import Settings
from foveal.model import Conversation, Format, Message
from foveal.pipeline.explain import spent
from foveal.pipeline.summarize.notes import message_range
from foveal.session.responses import count_told, fit_told, stats_told, window_told
from foveal.session.values import Stats
from foveal.window import Window

Written = Annotated[
    Literal["text", "openai", "responses", "anthropic", "gemini", "json"],
    typer.Option(metavar="FORMAT", help="text, openai, responses, anthropic, gemini or json."),
]
File = Annotated[str | None, typer.Argument(metavar="FILE", help="`-` or nothing reads stdin.")]
Budget = Annotated[int | None, typer.Option(metavar="N", help="Tokens; by default what the model takes.")]
Model = Annotated[str, typer.Option(metavar="NAME", help="The model that will read it.")]
Preset = Annotated[str, typer.Option(metavar="NAME", help="How to choose; `foveal` unless set.")]
Task = Annotated[str, typer.Option(metavar="TEXT", help="What the window is for.")]
System = Annotated[str | None, typer.Option(metavar="TEXT", help="A system prompt for this window only.")]
Tools = Annotated[str | None, typer.Option(metavar="FILE", help="Tool definitions, a JSON array.")]

Workspace = Annotated[
    str | None, typer.Option(metavar="DIR", help="A folder whose files may stand beside the conversation.")
]
LAYERED = "openscroll"
"""The preset whose window is also one text."""


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
    size = settings.budget if budget is None else budget
    given, files = read_tools(tools) if tools else None, active_files(active, workspace or "")
    with shell.session(patient=True) as session:
        if (preset or session.preset) == LAYERED and format == "text" and not json:
            with counting(READING) as progress:
                prompt = partial(session.prompt, workspace=workspace, active_files=files, progress=progress)
                text = prompt(budget=size, model=model, task=task, system=system, tools=given).text
            output.say(output.harmless(text))
            return
        with counting(READING) as progress:
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
                progress=progress,
            )
        show(window, "json" if json and format == "text" else format)


def as_format(written: Written) -> Format | None:
    """The provider's format that was asked for, if any was."""
    return None if written == "text" or written == "json" else written  # noqa: PLR1714 — mypy narrows


def show(window: Window, format: Written) -> None:
    """A window on stdout."""
    match format:
        case "text":
            output.say("\n\n".join(_transcript(window)))
        case "json":
            output.tell(window_told(window))
        case _:
            output.tell(window.request)


def _transcript(window: Window) -> Iterator[str]:
    for message in wire.load(window.request, format=window.format).messages:
        text = output.harmless(message.text) or "(no text)"
        yield f"{output.styled(_headline(message), 'cyan', bold=True)}\n{text}"


def _headline(message: Message) -> str:
    return f"── {message.role}" + (f" ({message.author})" if message.author else "")


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
    explain: Annotated[bool, typer.Option("--explain", help="Say on stderr what was kept and why.")] = False,
    json: Json = False,
) -> None:
    """Fit messages into a budget, storing nothing.

    They come out in the format they came in: an array as an array, a whole request body as a body.
    With --json, in an object under `messages` or `body`, beside the tokens and the manifest.
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
        catalogue=catalogue(settings),
    )
    if explain:
        sys.stderr.write(f"{window.explain()}\n")
    bare = isinstance(data, list) and window.system is None and not tools
    if json:
        output.tell(fit_told(window, bare=bare))
    elif bare:
        output.tell_list(window.messages)
    else:
        output.tell(window.request)


def stats(context: typer.Context, *, json: Json = False) -> None:
    """Show the session in numbers."""
    shell = shell_of(context)
    with shell.session() as session:
        found = session.stats()
    if json:
        output.tell(stats_told(found))
        return
    count = _assumed(found.model, shell.settings) or (
        "exact" if found.exact else "estimated, on the safe side"
    )
    stored = (
        f"{output.counted(found.messages, 'message')} in {output.counted(found.turns, 'turn')}, "
        f"{output.counted(found.tokens, 'token')}"
    )
    roles = ", ".join(f"{role} {tokens:,}" for role, tokens in found.tokens_by_role.items())
    rows = [
        ("session", found.session),
        ("model", f"{found.model or 'none set'}, window {found.limit:,}"),
        ("stored", stored),
        ("by role", roles or "nothing"),
        ("pinned", f"{found.pinned:,}, left out or erased {found.absent:,}"),
        ("counted", f"with {found.counter} as {found.format}, {count}"),
        ("builds", f"{found.builds:,}, preset {found.preset}"),
        *_memory(found),
        *spent(found.costs),
    ]
    for line in output.columns(rows):
        output.say(line)
    if found.builds:
        output.say(f"\n{output.bar(found.percent / 100)} {found.percent:.0f}%")
        output.say(
            f"newest window: {found.window_tokens:,} of {output.counted(found.window_budget, 'token')}"
        )
        held = output.counted(found.tokens, "token")
        output.say(f"{held} stored, {found.window_tokens:,} sent{_times(found.ratio)}")


def _memory(found: Stats) -> Iterator[tuple[str, str]]:
    """How full the memory levels are, what summaries save, what the newest window brought back."""
    for at, slot in enumerate(found.levels):
        yield "" if at else "levels", f"{slot.name} {slot.used:,} of {output.counted(slot.allotted, 'token')}"
    if found.compression is not None and found.last_compression:
        saved = f"{found.summaries:,} made, {found.stand_ins:,} in windows, {found.compression:.1f}× smaller"
        flag = ": under 2×, so they are too detailed" if found.ratio_low else ""
        yield "summaries", saved + flag
        last = found.last_compression
        yield "last one", f"{last.what}, {last.original:,} to {output.counted(last.compressed, 'token')}"
    for each in found.retrieved:
        yield "retrieved", f"{message_range(each.first, each.last).lower()}: {output.harmless(each.because)}"


def _times(ratio: float) -> str:
    """How much more is stored than sent, where it is more."""
    return f": {ratio:,.0f}×" if ratio >= 10 else f": {ratio:.1f}×" if ratio >= 1.1 else ""


def _assumed(model: str, settings: Settings) -> str:
    """Why the way of counting is a guess; empty when it was chosen, or is the model's."""
    if settings.counter or catalog.find(model, extra=catalogue(settings)).known:
        return ""
    return f"assumed: `{model}` is not in the catalogue" if model else "assumed: no model is named"


def count(
    context: typer.Context,
    file: File = None,
    *,
    model: Model = "",
    text: Annotated[bool, typer.Option("--text", help="Count JSON as the text it is.")] = False,
    json: Json = False,
) -> None:
    """Count the tokens of a text or of messages.

    Messages are JSON, and counted with everything their format adds.
    """
    settings = shell_of(context).settings
    content = read_text(file)
    given = None if text else _messages(content, named(file), model or settings.model)
    wanted = model or settings.model or (given.model if given else "")
    found = count_told(
        given or content, model=wanted, counter=settings.counter or None, catalogue=catalogue(settings)
    )
    if json:
        output.tell(found)
        return
    bound = "exact" if found.exact else f"estimate, at most {found.error_bound or 0:.0%} too high"
    how = _assumed(wanted, settings) or bound
    output.say(f"{output.counted(found.tokens, 'token')} ({found.tokenizer}, {how})")


def _messages(content: str, name: str, model: str) -> Conversation | None:
    """The messages in a JSON or JSONL text; None when it is a text like any other."""
    from foveal.wire import transcripts

    for start in (content, content.lstrip().partition("\n")[0]):
        try:
            data = json_text.loads(start)
        except (ValueError, RecursionError):
            continue
        return transcripts.read_text(content, name=name, model=model) if _tells(data) else None
    return None


def _tells(data: object) -> bool:
    """Whether a JSON value is messages, one of them, or a line of a transcript."""
    match data:
        case [first, *_]:
            return isinstance(first, dict) and not {"role", "parts", "type"}.isdisjoint(first)
        case dict():
            keys = {"contents", "input", "message", "messages", "payload", "role"}
            return not keys.isdisjoint(data)
        case _:
            return False
