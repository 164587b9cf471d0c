"""What foveal knows and whether it works: the models, a check-up."""

from __future__ import annotations

from dataclasses import asdict
from fnmatch import fnmatch
from typing import Annotated

import typer

from foveal import catalog
from foveal.catalog import ModelCard, Prices
from foveal.cli import output
from foveal.cli.checkup import checkup
from foveal.cli.shell import Json, catalogue, shell_of
from foveal.pipeline.count import tokenizer


def models(
    context: typer.Context,
    pattern: Annotated[
        str, typer.Argument(metavar="PATTERN", help="Part of a name, or a pattern such as 'claude-*-4*'.")
    ] = "",
    *,
    json: Json = False,
) -> None:
    """List the models: limits, prices, tokenizer."""
    extra = catalogue(shell_of(context).settings)
    found = [card for card in catalog.models(extra=extra) if _fits(card, pattern)]
    rows = [(card, catalog.prices(card.id, extra=extra) or Prices()) for card in found]
    if json:
        output.tell_list(
            asdict(card) | {"exact": tokenizer(card.tokenizer).exact, "prices": asdict(prices)}
            for card, prices in rows
        )
        return
    if not rows:
        output.note(f"no model fits {pattern!r}; others work too, with careful guesses")
        return
    table = [
        ("model", "window", "reply", "$ in", "cached", "$ out", "tokenizer"),
        *map(_row, *zip(*rows, strict=True)),
    ]
    for at, line in enumerate(output.columns(table, right=(1, 2, 3, 4, 5))):
        output.say(line if at else output.styled(line, bold=True))
    output.note("prices in US dollars for a million tokens; ~ marks counts estimated on the safe side")


def _fits(card: ModelCard, pattern: str) -> bool:
    wanted, names = pattern.lower(), (card.id.lower(), card.provider.lower())
    return any(wanted in name or fnmatch(name, wanted) for name in names)


def _row(card: ModelCard, prices: Prices) -> tuple[str, ...]:
    by = tokenizer(card.tokenizer)
    return (
        card.id,
        f"{card.context:,}",
        f"{card.max_output:,}" if card.max_output else "–",
        _dollars(prices.input),
        _dollars(prices.cache_read),
        _dollars(prices.output),
        by.name if by.exact else f"~{by.name}",
    )


def _dollars(price: float | None) -> str:
    return "–" if price is None else f"{price:.2f}" if price == round(price, 2) else f"{price:.3g}"


def doctor(context: typer.Context, *, json: Json = False) -> None:
    """Check that everything works here.

    Say what to do about what does not, and exit 1.
    """
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
