"""Explain windows, compare builds and presets, and replay a session under another preset."""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import wrap
from typing import TYPE_CHECKING, Annotated

import typer

import foveal
from foveal.cli import output
from foveal.cli.commands.build import Budget, Preset, Task
from foveal.cli.inputs import Model, Source, read_data, tokens
from foveal.cli.output import progress_bar, slow_note
from foveal.cli.state import Json, shell_of
from foveal.pipeline.explain import Line, lines

if TYPE_CHECKING:
    from foveal.session.inspect.compare import Comparison
    from foveal.session.inspect.replay import Replayed, Run
    from foveal.session.inspect.why import Why
    from foveal.window import Decision, Manifest


def explain(
    context: typer.Context,
    build: Annotated[
        int | None, typer.Argument(metavar="BUILD", help="Its number; the newest by default.")
    ] = None,
    *,
    message: Annotated[
        str, typer.Option(metavar="ID", help="Only the decision about this message, in full.")
    ] = "",
    json: Json = False,
) -> None:
    """Explain what was in a build's window, what was not, and why.

    Where the preset scores, also which evicted messages were nearest to the cut and what would keep them.
    """
    found: Decision | Manifest
    with shell_of(context).session() as session:
        if message:
            why = session.why(message, build=build)
            found, text = why.decision, _why_lines(why)
        else:
            found = session.manifest(build)
            text = lines(found)
    if json:
        output.print_json(found)
        return
    for line in text:
        output.say(_coloured(line))


def why(
    context: typer.Context,
    id: Annotated[str, typer.Argument(metavar="ID", help="The id or number of a message, or its handle.")],
    *,
    build: Annotated[int | None, typer.Option(metavar="N", help="Its number; the newest by default.")] = None,
    json: Json = False,
) -> None:
    """Explain why a message was in a build's window or not.

    And what would change that. The build is repeated to find the tokens and the score; nothing is stored.
    """
    with shell_of(context).session() as session, slow_note("repeating the build; it may take a while"):
        found = session.why(id, build=build)
    if json:
        output.print_json(found)
        return
    for line in _why_lines(found):
        output.say(_coloured(line))


def _why_lines(found: Why) -> Iterator[Line]:
    title, verdict, *rest = found.text.splitlines()
    yield Line(title, "title")
    yield Line(verdict, found.decision.verdict)
    yield from map(Line, rest)


def diff(
    context: typer.Context,
    a: Annotated[int, typer.Argument(metavar="A", help="The number of a build.")],
    b: Annotated[int, typer.Argument(metavar="B", help="The number of another.")],
    *,
    json: Json = False,
) -> None:
    """Show what changed in the window between two builds, and why."""
    with shell_of(context).session() as session:
        found = session.diff(a, b)
    if json:
        output.print_json(found)
        return
    from foveal.session.inspect.diff import diff_lines

    for line in diff_lines(found):
        output.say(_coloured(line))


def _coloured(line: Line) -> str:
    match line.look:
        case "kept":
            return output.styled(line.text, "green")
        case "left out":
            return output.styled(line.text, dim=True)
        case "title":
            return output.styled(line.text, bold=True)
        case _:
            return line.text


def compare(  # noqa: PLR0913 — every option it has, by name
    context: typer.Context,
    file: Annotated[
        str | None,
        typer.Argument(metavar="FILE", help="`-` reads stdin; without, the history of the session."),
    ] = None,
    *,
    budget: Budget = None,
    model: Model = "",
    task: Task = "",
    presets: Annotated[
        str, typer.Option(metavar="NAMES", help="Only these presets, as in recent,omar; all unless given.")
    ] = "",
    format: Source = None,
    json: Json = False,
) -> None:
    """Compare the windows that the presets build.

    Their tokens, what is kept, cost and time. Nothing is stored.
    """
    loaded = shell_of(context).load()
    settings = loaded.settings
    names = [name.strip() for name in presets.split(",")] if presets else None
    size = settings.budget if budget is None else budget
    if file is None:
        with shell_of(context).session() as session:
            found = session.compare(budget=size, model=model, task=task, presets=names)
    else:
        found = foveal.compare(
            read_data(file, format),
            budget=size,
            model=model or settings.model,
            task=task,
            presets=names,
            format=format,
            counter=settings.counter or None,
            catalogue=settings.catalogue_path,
            numbers=loaded.numbers,
        )
    if json:
        output.print_json(found)
        return
    for line in _table(found):
        output.say(line)


def _table(found: Comparison) -> Iterator[str]:
    messages, tokens = output.counted(found.messages, "message"), output.counted(found.tokens, "token")
    yield f"{messages}, {tokens}{dollars(', sent whole ', found.cost)}"
    reader = f" for {found.model}" if found.model else ""
    yield f"budget {found.budget:,}, counted with {found.counter}{reader}"
    yield ""
    head = ["preset", "tokens", "kept", "user", "model", "calls", "output", "cost", "cached", "ms"]
    rows = [
        [
            row.preset,
            f"{row.tokens:,}",
            f"{row.messages:,}",
            *(f"{row.kinds[kind]:,}" for kind in ("user", "assistant", "tool_calls", "tool_output")),
            dollars("", row.cost),
            dollars("", row.cost_cached),
            f"{row.milliseconds:,.0f}",
        ]
        for row in found.presets
    ]
    # Empty columns are omitted.
    used = [at for at in range(len(head)) if any(row[at] for row in rows)]
    table = [[row[at] for at in used] for row in (head, *rows)]
    for at, line in enumerate(output.columns(table, right=range(1, len(used)))):
        yield line if at else output.styled(line, bold=True)
    yield ""
    for text in _notes(found):
        yield from wrap(text, output.WIDTH)


def _notes(found: Comparison) -> Iterator[str]:
    broken = [f"{row.preset} ({row.invalid})" for row in found.presets if row.invalid]
    if broken:
        yield f"Invalid, with the number of the provider's rules that are broken: {', '.join(broken)}."
    else:
        yield f"Invalid: 0 of {len(found.presets)}. Every window is one that the provider accepts."
    for name, why in found.refused.items():
        yield f"No window from {name}: {why}."
    if found.cost is None:
        yield "No prices: " + (f"none are known for `{found.model}`." if found.model else "name a --model.")
    else:
        yield (
            "Cost is that of the input, sent once; cached, when the provider still holds the window "
            "of the request before."
        )


def dollars(before: str, amount: float | None) -> str:
    """An amount, with more digits where it is small; empty where it is unknown."""
    if amount is None:
        return ""
    return f"{before}${amount:,.2f}" if amount >= 10 else f"{before}${amount:.4f}"


def replay(
    context: typer.Context,
    *,
    preset: Preset = "",
    budget: Annotated[
        int | None,
        typer.Option(
            metavar="N", parser=tokens, help="Tokens, as in 8000 or 8k; by default as in the newest build."
        ),
    ] = None,
    model: Model = "",
    json: Json = False,
) -> None:
    """Replay a stored session under another preset.

    Tokens, cost, what was kept: no model is called. At each call of the model, the preset's window of the
    history so far is built and measured, and compared with the session's own preset and with sending the
    whole history. Nothing is stored.
    """
    shell = shell_of(context)
    settings = shell.settings
    size = settings.budget if budget is None else budget
    with shell.session() as session, shell.store() as fov, progress_bar("replaying") as progress:
        found = fov.replay(session, preset=preset, budget=size, model=model, progress=progress)
    if json:
        output.print_json(found)
        return
    for line in _replay_table(found):
        output.say(line)


def _replay_table(found: Replayed) -> Iterator[str]:
    calls = output.counted(found.calls, "call")
    yield f"{output.counted(found.messages, 'message')}, {calls} of the model"
    reader = f" for {found.model}" if found.model else ""
    yield f"budget {found.budget:,}, counted with {found.counter}{reader}"
    yield ""
    head = ["", "tokens", "largest", "cost", "cached", "facts", "over", "invalid", "refused", "ms"]
    runs = [run for run in (found.whole, found.recorded, found.run) if run]
    table = [head, *(_row(run) for run in runs)]
    used = [at for at in range(len(head)) if any(row[at] for row in table[1:])]
    for at, line in enumerate(
        output.columns([[row[each] for each in used] for row in table], right=range(1, len(used)))
    ):
        yield line if at else output.styled(line, bold=True)
    yield ""
    for text in _replay_notes(found):
        yield from wrap(text, output.WIDTH)


def _row(run: Run) -> list[str]:
    each = 1000 * run.seconds / (len(run.requests) or 1)
    return [
        run.name,
        f"{run.tokens:,}",
        f"{run.largest:,}",
        dollars("", run.cost),
        f"{run.prefix_hit:.0%}",
        f"{run.kept_facts:.0%}" if run.facts else "",
        f"{run.over:,}",
        f"{run.invalid:,}",
        f"{run.refused:,}" if run.refused else "",
        f"{each:,.1f}" if run.seconds else "",
    ]


def _replay_notes(found: Replayed) -> Iterator[str]:
    yield "Cached: the share of tokens that a request and the one before it begin with."
    if found.whole.facts:
        yield (
            f"Facts: of {found.whole.facts:,} identifiers in the arguments of the recorded calls that "
            "the model had read before, the share that its request held."
        )
    yield "Over and invalid: requests with more tokens than the budget, or that the provider refuses."
    if found.run.refused:
        yield "Refused: calls for which there is no window so small; they are in no other number."
    if found.whole.cost is None:
        yield "No prices: " + (f"none are known for `{found.model}`." if found.model else "name a --model.")
    else:
        yield "Cost is that of the input, with what is cached at the price for reading it."
    yield "Ms: milliseconds for a call, to take in what is new and build the window."
