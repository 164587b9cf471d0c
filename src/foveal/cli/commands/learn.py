"""Fit a preset's numbers to what the store's sessions used."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Annotated

import typer

from foveal.cli import output
from foveal.cli.commands.build import Preset
from foveal.cli.inputs import tokens
from foveal.cli.output import progress_bar
from foveal.cli.state import Json, shell_of

if TYPE_CHECKING:
    from foveal.session.learn.learn import Learned


def learn(  # noqa: PLR0913 — every option it has, by name
    context: typer.Context,
    *,
    preset: Preset = "",
    session: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Only this session; may be repeated. All unless given."),
    ] = None,
    work: Annotated[
        str, typer.Option(metavar="KIND", help="Only sessions of coding, chat, research or operations.")
    ] = "",
    budget: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            parser=tokens,
            help="Tokens of a window; by default as in a session's newest build, else a quarter of it.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the numbers into this settings file, as foveal.toml."),
    ] = None,
    json: Json = False,
) -> None:
    """Fit a preset's numbers to what recorded turns used.

    The newest third of the turns is reserved. Numbers that do not keep more of what those turns needed are
    not accepted, and the ones in effect stay. No model is called, and the store is not changed.
    """
    shell = shell_of(context)
    settings = shell.settings
    with shell.store() as fov, progress_bar("learning") as progress:
        found = fov.learn(
            preset=preset or settings.preset,
            sessions=session or None,
            work=work,
            budget=settings.budget if budget is None else budget,
            progress=progress,
        )
    written = out is not None and found.write(out)
    if json:
        output.print_json({**asdict(found), "written": str(out) if written else ""})
        return
    for line in _lines(found):
        output.say(line)
    if written:
        output.say(f"\nwritten to {out}")
    elif found.accepted:
        output.say(f"\n{found.settings()}".rstrip())
        output.note("`--out foveal.toml` writes these numbers into the project's settings")


def _lines(found: Learned) -> Iterator[str]:
    kind = f" of {found.work}" if found.work else ""
    yield f"preset {found.preset}, {output.counted(found.sessions, 'session')}{kind}"
    turns = found.fitted.turns + found.reserved.turns
    many = f"{turns:,} of {found.found:,} turns" if turns < found.found else f"{turns:,} turns"
    yield f"{many} needed what a window may leave out"
    yield ""
    rows = [["kept of that", "fitted turns", "reserved"]]
    for name, of in (("before", "before"), ("after", "after")):
        rows.append([name, *(f"{getattr(each, of):.1%}" for each in (found.fitted, found.reserved))])
    rows.append(["gain", *(f"{each.gain:+.1%}" for each in (found.fitted, found.reserved))])
    rows.append(["turns", *(f"{each.turns:,}" for each in (found.fitted, found.reserved))])
    rows.append(
        ["better, worse", *(f"{each.better:,}, {each.worse:,}" for each in (found.fitted, found.reserved))]
    )
    for at, line in enumerate(output.columns(rows, right=(1, 2))):
        yield line if at else output.styled(line, bold=True)
    yield ""
    for step in found.steps:
        changes = ", ".join(
            f"{key} {_shown(old)} → {_shown(new)}" for key, (old, new) in step.changed.items()
        )
        yield f"{changes}: {step.gain:+.1%}"
    if found.steps:
        yield ""
    verdict = "accepted" if found.accepted else "not accepted, the numbers in effect stay"
    yield from wrap(f"{verdict}: {found.because}", output.WIDTH)


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"{value:,}" if isinstance(value, int) else f"{value:g}"
