"""Why a window is as it is, and what each preset would make of the history, in the library's own words."""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import wrap
from typing import TYPE_CHECKING, Annotated

import typer

import foveal
from foveal.cli import output
from foveal.cli.progress import noted
from foveal.cli.reading import Source, read_data
from foveal.cli.shell import Json, catalogue, shell_of
from foveal.cli.windows import Budget, Model, Task
from foveal.pipeline.explain import Line, lines

if TYPE_CHECKING:
    from foveal.session import Comparison
    from foveal.session.why import Why
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
    """Say what was in a build's window and what was not, and why.

    Of what was left out, those nearest to the cut and what would have kept them, where the preset scores.
    """
    found: Decision | Manifest
    with shell_of(context).session() as session:
        if message:
            one = session.why(message, build=build)
            found, told = one.decision, _in_words(one)
        else:
            found = session.manifest(build)
            told = lines(found)
    if json:
        output.tell(found)
        return
    for line in told:
        output.say(_coloured(line))


def why(
    context: typer.Context,
    id: Annotated[str, typer.Argument(metavar="ID", help="Of a message, or its handle.")],
    *,
    build: Annotated[int | None, typer.Option(metavar="N", help="Its number; the newest by default.")] = None,
    json: Json = False,
) -> None:
    """Say why a message was in a build's window or not, and what would have changed that.

    The tokens and the score are found by making the build again; nothing is stored.
    """
    with shell_of(context).session() as session, noted("making the build again; it may take a while"):
        found = session.why(id, build=build)
    if json:
        output.tell(found)
        return
    for line in _in_words(found):
        output.say(_coloured(line))


def _in_words(found: Why) -> Iterator[Line]:
    for at, text in enumerate(found.text.splitlines()):
        look = found.decision.verdict if text.startswith("verdict") else ""
        yield Line(text, look if at else "title")


def diff(
    context: typer.Context,
    a: Annotated[int, typer.Argument(metavar="A", help="The number of a build.")],
    b: Annotated[int, typer.Argument(metavar="B", help="The number of another.")],
    *,
    json: Json = False,
) -> None:
    """Say what entered the window from one build to another, what left it, and why."""
    with shell_of(context).session() as session:
        found = session.diff(a, b)
    if json:
        output.tell(found)
        return
    from foveal.session import diffing

    for line in diffing.lines(found):
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
        str, typer.Option(metavar="NAMES", help="Only these, as in recent,omar; all unless given.")
    ] = "",
    format: Source = None,
    json: Json = False,
) -> None:
    """Show what each preset makes of one history: tokens, what is kept, cost and time.

    Nothing is stored.
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
            catalogue=catalogue(settings),
            numbers=loaded.numbers,
        )
    if json:
        output.tell(found)
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
    # A column in which nothing stands is left away.
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
    """An amount with the digits that tell small ones apart; nothing for one that nobody knows."""
    if amount is None:
        return ""
    return f"{before}${amount:,.2f}" if amount >= 10 else f"{before}${amount:.4f}"
