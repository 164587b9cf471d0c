"""A build's manifest and the session's entries in → two lines: how full the window is, and with what."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from foveal.cli import output
from foveal.model import Entry
from foveal.window import Manifest

KINDS = {
    "system": ("S", "blue"),
    "user": ("U", "green"),
    "assistant": ("M", "cyan"),
    "tool": ("T", "yellow"),
    "summary": ("Z", "magenta"),
    "other": ("+", "white"),
}
"""The letter of each where there is no colour, and its colour. `other`: framing, tools, notes."""
CELLS = 40


def gauge(manifest: Manifest, entries: Sequence[Entry]) -> str:
    """The bar with its numbers, and below what each colour stands for."""
    tokens = by_kind(manifest, entries)
    percent = 100 * manifest.tokens / manifest.budget
    numbers = f"{manifest.tokens:,} of {output.counted(manifest.budget, 'token')}, {percent:.0f}%"
    return f"{_bar(tokens, manifest.budget)} {numbers}\n{'  '.join(_legend(tokens))}"


def by_kind(manifest: Manifest, entries: Sequence[Entry]) -> dict[str, int]:
    """Tokens of the window by who speaks, and those of the summaries."""
    found: dict[str, float] = defaultdict(float)
    for decision in manifest.kept:
        if decision.detail == "folded":
            found["summary"] += decision.tokens
            continue
        run = entries[decision.first : decision.last + 1]
        whole = sum(entry.tokens for entry in run) or 1
        for entry in run:
            found[entry.role] += decision.tokens * entry.tokens / whole
    shown = {kind: round(found[kind]) for kind in KINDS}
    return shown | {"other": max(0, manifest.tokens - sum(shown.values()))}


def _bar(tokens: Mapping[str, int], budget: int) -> str:
    """What is in at all has a cell; the rest is room."""
    cells = {kind: max(1, round(CELLS * n / budget)) for kind, n in tokens.items() if n}
    while sum(cells.values()) > CELLS:
        cells[max(cells, key=lambda kind: cells[kind])] -= 1
    filled = "".join(_sign(kind, many) for kind, many in cells.items())
    return filled + output.styled("·" * (CELLS - sum(cells.values())), dim=True)


def _legend(tokens: Mapping[str, int]) -> Iterator[str]:
    names = {"assistant": "model"}
    return (f"{_sign(kind)} {names.get(kind, kind)} {_short(many)}" for kind, many in tokens.items() if many)


def _short(tokens: int) -> str:
    """Six of them have to stand on one line."""
    return f"{tokens:,}" if tokens < 10_000 else f"{tokens / 1_000:.0f}k"


def _sign(kind: str, many: int = 1) -> str:
    letter, colour = KINDS[kind]
    return output.styled("█" * many, colour) if output.in_colour() else letter * many
