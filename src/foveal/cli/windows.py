"""The windows: build one from a session, fit one from a file, explain it; sizes in tokens."""

from __future__ import annotations

import json as json_text
import sys
from collections.abc import Iterator
from dataclasses import asdict
from textwrap import wrap
from typing import Annotated, Literal

import typer

import foveal
from foveal import wire
from foveal.cli import output
from foveal.cli.reading import Source, named, read_json, read_text
from foveal.cli.shell import Json, catalogue, shell_of
from foveal.model import MESSAGES_KEY, Conversation, Decision, Format, Manifest, Message, Window
from foveal.pipeline.explain import merged
from foveal.session.target import target, warn

Written = Literal["text", "openai", "responses", "anthropic", "gemini", "json"]
SYSTEM_KEY: dict[Format, str] = {
    "anthropic": "system",
    "responses": "instructions",
    "gemini": "systemInstruction",
}

File = Annotated[str | None, typer.Argument(metavar="FILE", help="`-` or nothing reads stdin.")]
Budget = Annotated[int | None, typer.Option(metavar="N", help="Tokens; by default what the model takes.")]
Model = Annotated[str, typer.Option(metavar="NAME", help="The model that will read it.")]
Preset = Annotated[str, typer.Option(metavar="NAME", help="How to choose; `recent` unless set.")]
Task = Annotated[str, typer.Option(metavar="TEXT", help="What the window is for.")]
System = Annotated[str | None, typer.Option(metavar="TEXT", help="A system prompt for this window only.")]
Tools = Annotated[str | None, typer.Option(metavar="FILE", help="Tool definitions, a JSON array.")]


def build(  # noqa: PLR0913 — every option a build has, by name
    context: typer.Context,
    *,
    budget: Budget = None,
    model: Model = "",
    preset: Preset = "",
    task: Task = "",
    system: System = None,
    tools: Tools = None,
    format: Annotated[
        Written, typer.Option(metavar="FORMAT", help="text, openai, responses, anthropic, gemini or json.")
    ] = "text",
    json: Json = False,
) -> None:
    """Print the best window of the session that fits.

    As text for reading; as a provider's request body; or as JSON with tokens and the manifest.
    """
    shell = shell_of(context)
    settings = shell.settings
    with shell.session() as session:
        window = session.build(
            budget=settings.budget if budget is None else budget,
            model=model,
            preset=preset,
            task=task,
            system=system,
            tools=read_json(tools) if tools else None,
            format=None if format == "text" or format == "json" else format,  # noqa: PLR1714 — mypy narrows
        )
    _show(window, "json" if json and format == "text" else format)


def _show(window: Window, format: Written) -> None:
    match format:
        case "text":
            output.say("\n\n".join(_transcript(window)))
        case "json":
            output.tell(
                {
                    "messages": window.messages,
                    "system": window.system,
                    "tokens": window.tokens,
                    "budget": window.budget,
                    "manifest": asdict(window.manifest),
                }
            )
        case _:
            output.tell(_request(window))


def _request(window: Window) -> dict[str, object]:
    """The window as the body of a request; the model's name and limits are the caller's to add."""
    body: dict[str, object] = {MESSAGES_KEY[window.format]: window.messages}
    if window.system is not None:
        body[SYSTEM_KEY[window.format]] = window.system
    if window.tools_json:
        body["tools"] = json_text.loads(window.tools_json)
    return body


def _transcript(window: Window) -> Iterator[str]:
    for message in wire.load(_request(window), format=window.format).messages:
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
    json: Json = False,  # noqa: ARG001 — it is JSON already
) -> None:
    """Fit messages into a budget, storing nothing.

    They come out in the format they came in: an array as an array, a whole request body as a body.
    """
    settings = shell_of(context).settings
    data = _data(read_text(file), named(file), format)
    window = foveal.fit(
        data,
        budget=settings.budget if budget is None else budget,
        model=model or settings.model,
        preset=preset or settings.preset,
        task=task,
        system=system,
        tools=read_json(tools) if tools else None,
        format=format,
        counter=settings.counter or None,
        catalogue=catalogue(settings),
    )
    if explain:
        sys.stderr.write("\n".join(manifest_lines(window.manifest)) + "\n")
    if isinstance(data, list) and window.system is None and not tools:
        output.tell_list(window.messages)
    else:
        output.tell(window.request | _request(window))


def _data(text: str, name: str, format: Format | None) -> object:
    """JSON as it is; of anything else that holds messages, the messages."""
    try:
        return json_text.loads(text)
    except (ValueError, RecursionError):
        from foveal.wire import transcripts

        given = transcripts.read_text(text, name=name, format=format)
    dumped = wire.dump(given.messages, given.format)
    messages = [json_text.loads(piece) for piece in dumped.pieces]
    if not dumped.system:
        return messages
    return {MESSAGES_KEY[given.format]: messages, SYSTEM_KEY[given.format]: json_text.loads(dumped.system)}


def explain(
    context: typer.Context,
    build: Annotated[
        int | None, typer.Argument(metavar="BUILD", help="Its number; the newest by default.")
    ] = None,
    *,
    json: Json = False,
) -> None:
    """Say what was in a build's window and what was not, and why."""
    with shell_of(context).session() as session:
        manifest = session.manifest(build)
    if json:
        output.tell(manifest)
        return
    for line in manifest_lines(manifest):
        output.say(line)


def manifest_lines(manifest: Manifest, *, width: int = output.WIDTH) -> Iterator[str]:
    """A manifest as a table that fits the width."""
    share = 100 * manifest.tokens / manifest.budget
    yield f"{manifest.tokens:,} of {manifest.budget:,} tokens ({share:.0f}%)"
    yield f"preset {manifest.preset}, counted with {manifest.counter}"
    parts = ", ".join(f"{part} {tokens:,}" for part, tokens in manifest.parts.items())
    yield from wrap(parts, width, initial_indent="  ", subsequent_indent="  ")
    yield ""
    yield f"{'messages':>11}  {'verdict':<8}  {'tokens':>9}  because"
    for decision in merged(manifest.decisions):
        yield from _row(decision, width)
    for repair in manifest.repairs:
        yield from wrap(f"repaired at {repair.seq + 1}: {repair.what}", width, subsequent_indent="  ")
    for warning in manifest.warnings:
        yield from wrap(f"warning: {warning}", width, subsequent_indent="  ")


def _row(decision: Decision, width: int) -> Iterator[str]:
    first, last = decision.first + 1, decision.last + 1
    place = "prompt" if last < 1 else f"{first}" if first == last else f"{first}–{last}"
    kept = decision.verdict == "kept"
    detail = f"{decision.detail}: " if kept and decision.detail != "full" else ""
    head = f"{place:>11}  {decision.verdict:<8}  {decision.tokens:>9,}  "
    reasons = wrap(detail + decision.because, max(20, width - len(head)))
    for at, reason in enumerate(reasons):
        line = (head if at == 0 else " " * len(head)) + reason
        yield output.styled(line, "green") if kept else output.styled(line, dim=True)


def stats(context: typer.Context, *, json: Json = False) -> None:
    """Show the session in numbers."""
    with shell_of(context).session() as session:
        found = session.stats()
    if json:
        output.tell(asdict(found) | {"percent": round(found.percent, 1), "ratio": round(found.ratio, 2)})
        return
    count = "exact" if found.exact else "estimated, on the safe side"
    roles = ", ".join(f"{role} {tokens:,}" for role, tokens in found.tokens_by_role.items())
    rows = [
        ("session", found.session),
        ("model", f"{found.model or 'none set'}, window {found.limit:,}"),
        ("stored", f"{found.messages:,} messages in {found.turns:,} turns, {found.tokens:,} tokens"),
        ("by role", roles or "nothing"),
        ("pinned", f"{found.pinned:,}, left out or erased {found.absent:,}"),
        ("counted", f"with {found.counter} as {found.format}, {count}"),
        ("builds", f"{found.builds:,}, preset {found.preset}"),
    ]
    for line in output.columns(rows):
        output.say(line)
    if found.builds:
        output.say(
            f"\n{output.bar(found.percent / 100)} {found.percent:.0f}%\n"
            f"newest window {found.window_tokens:,} of {found.window_budget:,} tokens; "
            f"{found.ratio:.1f} stored for each sent"
        )


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
    aim = target(
        wanted,
        given.format if given else "plain",
        counter=settings.counter or None,
        catalogue=catalogue(settings),
    )
    warn(aim.warnings)
    tokens = aim.price(given.messages, given.tools) if given else aim.tokenizer.count(content)
    by = aim.tokenizer
    if json:
        output.tell({"tokens": tokens, "exact": by.exact, "error_bound": by.error, "tokenizer": by.name})
        return
    how = "exact" if by.exact else f"estimate, at most {by.error:.0%} too high"
    output.say(f"{tokens:,} tokens ({by.name}, {how})")


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
