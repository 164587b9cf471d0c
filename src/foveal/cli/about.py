"""What foveal knows and whether it works: the models, a check-up."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from foveal.cli import output
from foveal.cli.shell import Json, catalogue, shell_of
from foveal.pipeline.count import tokenizer
from foveal.session.telling import ModelTold, models_told


def models(
    context: typer.Context,
    pattern: Annotated[
        str, typer.Argument(metavar="PATTERN", help="Part of a name, or a pattern such as 'claude-*-4*'.")
    ] = "",
    *,
    json: Json = False,
) -> None:
    """List the models: limits, prices, tokenizer."""
    rows = models_told(pattern, catalogue=catalogue(shell_of(context).settings))
    if json:
        output.tell_list(map(asdict, rows))
        return
    if not rows:
        output.note(f"no model fits {pattern!r}; others work too, with careful guesses")
        return
    table = [
        ("model", "window", "reply", "$ in", "cached", "$ out", "tokenizer"),
        *map(_row, rows),
    ]
    for at, line in enumerate(output.columns(table, right=(1, 2, 3, 4, 5))):
        output.say(line if at else output.styled(line, bold=True))
    output.note("prices in US dollars for a million tokens; ~ marks counts estimated on the safe side")


def _row(model: ModelTold) -> tuple[str, ...]:
    prices, by = model.prices, tokenizer(model.tokenizer).name
    return (
        model.id,
        f"{model.context:,}",
        f"{model.max_output:,}" if model.max_output else "–",
        _dollars(prices.input),
        _dollars(prices.cache_read),
        _dollars(prices.output),
        by if model.exact else f"~{by}",
    )


def _dollars(price: float | None) -> str:
    return "–" if price is None else f"{price:.2f}" if price == round(price, 2) else f"{price:.3g}"


def doctor(context: typer.Context, *, json: Json = False) -> None:
    """Check that everything works here.

    Say what to do about what does not, and exit 1.
    """
    from foveal.cli.checkup import checkup

    findings = checkup(shell_of(context))
    if json:
        output.tell_list(asdict(finding) for finding in findings)
    else:
        for finding in findings:
            mark = (
                output.styled("problem", "red", bold=True)
                if finding.remedy
                else output.styled("ok     ", "green")
            )
            output.say(f"{mark}  {finding.what}")
            if finding.remedy:
                output.say(f"         try: {finding.remedy}")
    if any(finding.remedy for finding in findings):
        raise typer.Exit(1)
