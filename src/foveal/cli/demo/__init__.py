"""Show the benefit in a minute: replay a long session and print what was measured."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import fields
from textwrap import wrap
from typing import TYPE_CHECKING

from foveal.cli import output
from foveal.cli.demo import script
from foveal.cli.demo.rehearsal import BUDGET, QUERY, Rehearsal, rehearse
from foveal.cli.state import Json
from foveal.config import coloured
from foveal.pipeline.explain import Look, lines
from foveal.pipeline.summarize.notes import LOG_MARK
from foveal.window import Decision, Manifest

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

WIDTH = 78
LOOKS = {
    "system": ("█", "blue"),
    "request": ("█", "magenta"),
    "in the log": ("▒", "green"),
    "in full": ("█", "green"),
    "open turn": ("█", "yellow"),
    "left out": ("░", "bright_black"),
    "free": ("·", "bright_black"),
}
PLAIN = {
    "system": "S",
    "request": "R",
    "in the log": "+",
    "in full": "#",
    "open turn": "O",
    "left out": "-",
    "free": ".",
}
SPREAD = ("left out", "in the log", "in full")
"""What covers most of a session; where two share a cell, the later one shows."""
STORY = re.compile(r"\[[\d–]+ (?:user|assistant)\] |\[[\d–]+\] (?:edit_file|run) ")
"""How the lines of the log begin that the demo quotes: what people said, what was changed and tested."""
QUOTED = 7
"""How many of them it quotes."""
SHADES: dict[Look, str] = {"title": "dim", "kept": "green", "left out": "bright_black"}
NEXT = (
    ("foveal import chat.jsonl", "store a conversation, from any provider or agent"),
    ("foveal build --budget 8000", "the window of it that fits"),
    ("foveal fit chat.json --budget 8000 --explain", "the same, storing nothing"),
    ("foveal serve --demo", "this session in the dashboard, live, at 127.0.0.1:8790"),
)


def demo(*, json: Json = False) -> None:
    """Show the benefit in a minute.

    It needs no key and no network, and stores nothing.
    """
    if json:
        output.print_json(_numbers(rehearse()))
        return
    from rich.console import Console

    colour = coloured(sys.stdout)
    console = Console(width=WIDTH + 2, highlight=False, no_color=not colour, force_terminal=colour)
    found = rehearse()
    for part in (_opening, _cut, _managed, _log, _reasons, _savings, _memory, _closing):
        part(console, found)


def _numbers(found: Rehearsal) -> dict[str, object]:
    names = [field.name for field in fields(found) if field.type in ("int", "float", "float | None")]
    return {"budget": BUDGET, **{name: getattr(found, name) for name in names}}


def _opening(console: Console, found: Rehearsal) -> None:
    console.print("\n[bold]Foveal[/]  store everything, send the best window that fits\n")
    console.print(
        f"A bundled session, an agent that hunts a login bug: {found.messages:,} messages,\n"
        f"{found.tokens:,} tokens, {found.requests:,} requests. Each request may have {BUDGET:,} tokens,\n"
        f"counted as {script.MODEL} counts them ({found.window.manifest.counter})."
    )


def _cut(console: Console, found: Rehearsal) -> None:
    _title(console, "1", "Cut off the oldest messages")
    console.print(
        f"[red]{found.naive_refused:>5,}[/] of {found.requests:,} requests refused by the provider: "
        "a tool result without its call\n"
        f"[red]{found.naive_ruleless:>5,}[/] of {found.requests:,} without the rules that the user gave first"
    )


def _managed(console: Console, found: Rehearsal) -> None:
    _title(console, "2", "Let Foveal build each window")
    each = 1000 * found.seconds / found.requests
    console.print(
        f"[green]{found.refused:>5,}[/] of {found.requests:,} requests refused, "
        f"[green]{found.over:,}[/] over budget; the largest has {found.largest:,} tokens\n"
        f"[green]{found.ruleless:>5,}[/] of {found.requests:,} without the rules\n"
        f"[green]{each:>5.1f}[/] ms each, with storing what is new\n"
    )
    window, colour = found.window, coloured(sys.stdout)
    console.print(f"the session: {found.tokens:,} tokens")
    console.print(_strip(_session_cells(window.manifest, found.sizes), colour=colour))
    console.print(f"\nthe last window, magnified: {window.tokens:,} of {window.budget:,} tokens")
    console.print(_strip(_window_cells(window.manifest), colour=colour))
    console.print(_legend(colour=colour))


def _log(console: Console, found: Rehearsal) -> None:
    """The beginning of the log, its last line, and the question that the log answers."""
    _title(console, "3", "What the model reads in the last window")
    rows = [row for message in found.window.messages for row in str(message["content"]).splitlines()]
    begin = next(at for at, row in enumerate(rows) if row.startswith(LOG_MARK))
    state = next(at for at, row in enumerate(rows) if row.startswith("State at message "))
    story = [at for at, row in enumerate(rows) if at > begin and STORY.match(row)][:QUOTED]
    last = begin - 1
    for at in (begin, *story, state, len(rows) - 1):
        if at != last + 1:
            console.print("  …", style="dim")
        _quote(console, rows[at] if at < len(rows) - 1 else f"user: {rows[at]}")
        last = at


def _reasons(console: Console, found: Rehearsal) -> None:
    _title(console, "4", "What is in the window, and why")
    for line in lines(found.window.manifest, width=WIDTH):
        if line.look:  # the table alone
            console.print(line.text, style=SHADES[line.look], markup=False)


def _savings(console: Console, found: Rehearsal) -> None:
    _title(console, "5", f"What {found.requests:,} requests cost")
    less = 1 - found.sent / found.sent_whole
    console.print(
        f"{'':12}{'everything':>14}{'Foveal':>14}\n"
        f"{'tokens in':12}{found.sent_whole:>14,}{found.sent:>14,}  [green]{less:.0%} less[/]"
    )
    if found.dollars is not None:
        whole, sent = (f"${tokens * found.dollars / 1e6:,.2f}" for tokens in (found.sent_whole, found.sent))
        console.print(f"{'price':12}{whole:>14}{sent:>14}")
        console.print(
            f"[dim]list price ${found.dollars:.2f} for a million; prompt cache discounts are in neither[/]"
        )


def _memory(console: Console, found: Rehearsal) -> None:
    _title(console, "6", "Nothing is lost")
    hit = found.hits[-1]
    ago = found.messages - int(hit.id.removeprefix("m"))
    console.print(f"The answer was given {ago:,} messages ago. The original is one call away:\n")
    console.print(f"[bold]$ foveal search '{QUERY}'[/]")
    for each in found.hits:
        console.print(f"{each.id}  [cyan]{each.handle}[/]  {each.role}")
        console.print(f"    {output.snippet(each.text, QUERY.split(), width=WIDTH - 4)}", markup=False)
    console.print(f"\n[bold]$ foveal recall {hit.handle}[/]")
    _quote(console, str(found.original["content"]))
    console.print()


def _closing(console: Console, _: Rehearsal) -> None:
    console.print("[bold]Now yours[/]")
    for command, what in NEXT:
        console.print(f"  [cyan]{command}[/]\n      [dim]{what}[/]")
    console.print()


def _title(console: Console, number: str, text: str) -> None:
    console.print(f"\n[bold cyan]{number}[/]  [bold]{text}[/]\n")


def _quote(console: Console, text: str) -> None:
    for line in wrap(text, WIDTH - 2, subsequent_indent="    "):
        console.print(f"  {line}", style="italic", markup=False)


def _session_cells(manifest: Manifest, sizes: Sequence[int]) -> list[str]:
    """The history as cells in proportion to tokens; what is in the window shows, however small."""
    looks = [look for decision in manifest.decisions for look in _looks(decision)]
    scale, cells, end = WIDTH / sum(sizes), ["left out"] * WIDTH, 0
    for look, size in zip(looks, sizes, strict=True):
        start, end = end, end + size
        for cell in range(int(start * scale), min(WIDTH, int(end * scale) + 1)):
            if look not in SPREAD:  # too small for a cell of its own: take the next free one
                cells[next((at for at in range(cell, WIDTH) if cells[at] in SPREAD), cell)] = look
            elif cells[cell] in SPREAD:
                cells[cell] = max(cells[cell], look, key=SPREAD.index)
    return cells


def _looks(decision: Decision) -> Iterator[str]:
    for _ in range(decision.first, decision.last + 1):
        yield _look(decision)


def _look(decision: Decision) -> str:
    if decision.verdict == "left out":
        return "left out"
    if decision.detail == "folded":
        return "in the log"
    looks = {"system_prompt": "system", "open_turn": "open turn"}
    looks |= dict.fromkeys(("standing_request", "newest_user"), "request")
    return looks.get(decision.code, "in full")


def _window_cells(manifest: Manifest) -> list[str]:
    """The window as cells in proportion to tokens, and the free room."""
    parts = manifest.parts
    tokens = {
        "system": parts.get("system", 0),
        "request": parts.get("requests", 0),
        "in the log": sum(parts.get(name, 0) for name in ("log", "notes", "retrieved")),
        "in full": 0,
        "open turn": parts.get("open turn", 0),
        "free": manifest.budget - manifest.tokens,
    }
    cells = {look: max(1, round(WIDTH * n / manifest.budget)) if n else 0 for look, n in tokens.items()}
    cells["in full"] = WIDTH - sum(cells.values())
    return [look for look, number in cells.items() for _ in range(number)]


def _strip(cells: Sequence[str], *, colour: bool) -> Text:
    from rich.text import Text

    strip = Text()
    for cell in cells:
        sign, style = LOOKS[cell]
        strip.append(sign if colour else PLAIN[cell], style=style)
    return strip


def _legend(*, colour: bool) -> Text:
    from rich.text import Text

    legend = Text()
    for name, (sign, style) in LOOKS.items():
        legend.append(sign if colour else PLAIN[name], style=style)
        legend.append(f" {name}  ", style="dim")
    return legend
