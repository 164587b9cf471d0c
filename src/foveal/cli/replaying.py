"""What a stored session would have cost and kept under another policy, call by call, with no model asked."""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import wrap
from typing import TYPE_CHECKING

import typer

from foveal.cli import output
from foveal.cli.progress import counting
from foveal.cli.reasons import dollars
from foveal.cli.shell import Json, shell_of
from foveal.cli.windows import Budget, Model, Preset

if TYPE_CHECKING:
    from foveal.session.replaying import Replayed, Run


def replay(
    context: typer.Context,
    *,
    preset: Preset = "",
    budget: Budget = None,
    model: Model = "",
    json: Json = False,
) -> None:
    """Play a stored session again under another preset: tokens, cost, what was kept. No model is asked.

    Wherever the model was called, the window that the preset makes of the history so far is built and
    measured; beside it the session's own preset, and the whole history sent each time. Nothing is stored.
    """
    shell = shell_of(context)
    settings = shell.settings
    size = settings.budget if budget is None else budget
    with shell.session() as session, shell.store() as fov, counting("replaying") as progress:
        found = fov.replay(session, preset=preset, budget=size, model=model, progress=progress)
    if json:
        output.tell(found)
        return
    for line in _table(found):
        output.say(line)


def _table(found: Replayed) -> Iterator[str]:
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
    for text in _notes(found):
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


def _notes(found: Replayed) -> Iterator[str]:
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
