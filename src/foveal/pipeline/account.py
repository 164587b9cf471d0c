"""A choice in → one decision for every message, with its reason, and the tokens by part.

Runs of left-out turns become one decision each, so the account costs the window's length.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TypedDict

from foveal.model import Chunk, Decision, Repair
from foveal.pipeline.history import EMPTY, History, is_system
from foveal.pipeline.select.recent import Selection


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """What is in the window: the chosen and the fixed turns, and how many notes stand between them."""

    window: Mapping[int, Chunk]
    forced: Mapping[int, str]
    """Turns that had to be in, and why."""
    opened: int
    selection: Selection
    notes: int


class Account(TypedDict):
    tokens: int
    parts: dict[str, int]
    decisions: tuple[Decision, ...]
    repairs: tuple[Repair, ...]


def account(history: History, choice: Choice, costs: Mapping[str, int]) -> Account:
    """Tokens, decisions and repairs of a window; `costs` are those of the parts that are no turns."""
    parts = {**costs, "notes": choice.notes * history.note_tokens}
    for turn, chunk in choice.window.items():
        part = _part(choice, turn)
        parts[part] = parts.get(part, 0) + chunk.tokens
    return Account(
        tokens=sum(parts.values()),
        parts={part: tokens for part, tokens in parts.items() if tokens},
        decisions=tuple(_decisions(history, choice)),
        repairs=tuple(_repairs(history, choice)),
    )


def _part(choice: Choice, turn: int) -> str:
    if is_system(choice.window[turn]):
        return "system"
    if turn == choice.opened:
        return "open turn"
    return "pinned" if turn in choice.forced else "history"


def _decisions(history: History, choice: Choice) -> Iterator[Decision]:
    at = 0
    for turn in sorted(choice.window):
        yield from _out(history, choice, at, turn)
        chunk = choice.window[turn]
        yield Decision(
            first=chunk.first,
            last=chunk.last,
            verdict="kept",
            tokens=chunk.tokens,
            because=_because_in(history, choice, turn),
            detail=chunk.detail,
        )
        at = turn + 1
    yield from _out(history, choice, at, len(history))


def _because_in(history: History, choice: Choice, turn: int) -> str:
    chunk = choice.window[turn]
    if chunk.detail == "trimmed":
        whole = history.chunk(turn).tokens
        return f"open turn; its longest results were cut from {whole:,} to {chunk.tokens:,} tokens"
    if turn == choice.opened:
        return "open turn"
    return choice.forced.get(turn, choice.selection.because_in)


def _out(history: History, choice: Choice, start: int, stop: int) -> Iterator[Decision]:
    """The left-out turns of one gap, neighbours with the same reason as one run."""
    first = start
    for turn in history.absences(start, stop):
        yield from _run(history, first, turn, choice.selection.because_out)
        yield from _run(history, turn, turn + 1, history.absence(turn))
        first = turn + 1
    yield from _run(history, first, stop, choice.selection.because_out)


def _run(history: History, start: int, stop: int, because: str) -> Iterator[Decision]:
    if start == stop:
        return
    first, last = history.span(start)[0], history.span(stop - 1)[1]
    yield Decision(
        first=first, last=last, verdict="left out", tokens=history.between(first, last), because=because
    )


def _repairs(history: History, choice: Choice) -> Iterator[Repair]:
    for turn in sorted(choice.window):
        yield from choice.window[turn].repairs
    for turn in history.absences(min(choice.selection.turns, default=choice.opened), len(history)):
        if history.absence(turn) == EMPTY:
            yield from history.chunk(turn).repairs
    opening = next((t for t in sorted(choice.window) if not is_system(choice.window[t])), None)
    if opening is not None and history.joint(None, choice.window[opening]) and history.leads(opening):
        yield Repair(
            rule="leading assistant",
            seq=choice.window[opening].first,
            what="the history does not open with the user; a user note was put before it",
        )
