"""Account for a window: one decision for every message, with its reason, and the tokens by part.

A run of left-out turns becomes one decision, so the account costs the window's length. Decisions about the
turns before a kept layout are reused.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TypedDict

from foveal.model import Chunk, Repair
from foveal.pipeline.history import History, is_system
from foveal.pipeline.values import Selection
from foveal.window import REASONS, Code, Conflict, Decision, Fixed, Slot


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowContent:
    """What is in the window: the selected and the fixed turns, and the number of notes between them."""

    window: Mapping[int, Chunk]
    forced: Mapping[int, Fixed]
    """System prompts and pinned turns."""
    opened: int
    selection: Selection
    notes: int


class Account(TypedDict):
    tokens: int
    parts: dict[str, int]
    decisions: tuple[Decision, ...]
    repairs: tuple[Repair, ...]
    slots: tuple[Slot, ...]
    conflicts: tuple[Conflict, ...]
    metrics: Mapping[str, float]
    record: Mapping[str, str]


def account(history: History, choice: WindowContent, costs: Mapping[str, int]) -> Account:
    """Tokens, decisions and repairs of a window; `costs` has the tokens of parts that are not turns."""
    layout = choice.selection.layout
    marked = sum(chunk.tokens for chunk in choice.selection.markers.values())
    parts = {**costs, "notes": choice.notes * history.note_tokens + marked}
    fixed = {turn for turn in (*choice.forced, choice.opened) if turn in choice.window}
    parts["history"] = sum(chunk.tokens for turn, chunk in choice.window.items() if turn not in fixed)
    for turn in fixed:
        part = _part(choice, turn)
        parts[part] = parts.get(part, 0) + choice.window[turn].tokens
    return Account(
        tokens=sum(parts.values()),
        parts={part: tokens for part, tokens in parts.items() if tokens},
        decisions=(layout.decisions if layout else ()) + tuple(_decisions(history, choice)),
        repairs=tuple(_repairs(history, choice)),
        slots=choice.selection.slots,
        conflicts=choice.selection.conflicts,
        metrics=choice.selection.metrics,
        record=choice.selection.record,
    )


def _part(choice: WindowContent, turn: int) -> str:
    if is_system(choice.window[turn]):
        return "system"
    return "open turn" if turn == choice.opened else "pinned"


def _decisions(history: History, choice: WindowContent) -> Iterator[Decision]:
    """One decision for every message that has none from the kept layout."""
    selection, layout = choice.selection, choice.selection.layout
    at = history.turn_of(layout.decided_until) if layout and layout.decided_until else 0
    for turn in sorted(turn for turn in choice.window if turn >= at):
        if at < turn:
            yield from _out(history, choice, at, turn)
        chunk = choice.window[turn]
        yield Decision(
            first=chunk.first,
            last=chunk.last,
            verdict="kept",
            tokens=chunk.tokens,
            code=_code_in(choice, turn),
            because=_because_in(history, choice, turn),
            detail=chunk.detail,
            score=selection.scores.get(turn),
            slot=selection.charged.get(turn, ""),
        )
        at = turn + 1
    yield from _out(history, choice, at, len(history))


def _code_in(choice: WindowContent, turn: int) -> Code:
    if turn in choice.selection.forms:
        return "selected"
    if choice.window[turn].detail == "folded":
        return "replaced"
    return "open_turn" if turn == choice.opened else choice.forced.get(turn, "selected")


def _because_in(history: History, choice: WindowContent, turn: int) -> str:
    chunk, selection = choice.window[turn], choice.selection
    if turn in selection.forms:
        return selection.reasons.get(turn) or selection.because_in
    if chunk.detail == "trimmed":
        whole = history.chunk(turn).tokens
        return f"open turn; its longest results were cut from {whole:,} to {chunk.tokens:,} tokens"
    if chunk.detail == "folded":
        return REASONS["replaced"]
    if turn == choice.opened:
        return REASONS["open_turn"]
    if turn in choice.forced:
        return REASONS[choice.forced[turn]]
    return selection.reasons.get(turn) or selection.because_in


def _out(history: History, choice: WindowContent, start: int, stop: int) -> Iterator[Decision]:
    """The left-out turns of one gap, neighbours with the same reason as one run."""
    at = start
    for first, last, why in history.absences(start, stop):
        yield from _chosen_out(history, choice.selection, at, first)
        yield from _run(history, first, last, REASONS[why], why)
        at = last
    yield from _chosen_out(history, choice.selection, at, stop)


def _chosen_out(history: History, selection: Selection, start: int, stop: int) -> Iterator[Decision]:
    """Turns with a reason of their own one by one, the others between them as runs."""
    at = start
    for turn in _with_reasons(selection, start, stop):
        if turn < at:  # already part of a run
            continue
        yield from _run(history, at, turn, selection.because_out)
        at = turn + 1
        if turn in selection.folded:
            while at < stop and _alike(selection, turn, at):
                at += 1
            yield _folded(history, selection, turn, at)
            continue
        (decision,) = _run(history, turn, at, selection.reasons[turn])
        slot = selection.charged.get(turn, "")
        yield replace(decision, score=selection.scores.get(turn), slot=slot)
    yield from _run(history, at, stop, selection.because_out)


def _with_reasons(selection: Selection, start: int, stop: int) -> list[int]:
    """The turns of a gap with a reason of their own; scans the gap or the reasons, whichever is shorter."""
    reasons, folded = selection.reasons, selection.folded
    if stop - start <= len(reasons) + len(folded):
        return [turn for turn in range(start, stop) if turn in reasons or turn in folded]
    return sorted({turn for turn in (*reasons, *folded) if start <= turn < stop})


def _alike(selection: Selection, one: int, other: int) -> bool:
    """Whether one note covers both turns, and neither has a score of its own."""
    scored = one in selection.scores or other in selection.scores
    return not scored and selection.folded.get(other) == selection.folded[one]


def _folded(history: History, selection: Selection, start: int, stop: int) -> Decision:
    return Decision(
        first=history.span(start)[0],
        last=history.span(stop - 1)[1],
        verdict="kept",
        code="noted",
        tokens=0,
        because=selection.folded[start],
        detail="folded",
        score=selection.scores.get(start),
    )


def _run(
    history: History, start: int, stop: int, because: str, code: Code = "not_selected"
) -> Iterator[Decision]:
    if start == stop:
        return
    first, last = history.span(start)[0], history.span(stop - 1)[1]
    yield Decision(
        first=first,
        last=last,
        verdict="left out",
        code=code,
        tokens=history.between(first, last),
        because=because,
    )


def _repairs(history: History, choice: WindowContent) -> Iterator[Repair]:
    for turn in sorted(choice.window):
        yield from choice.window[turn].repairs
    earliest = min(choice.selection.turns, default=choice.opened)
    for first, last, why in history.absences(earliest, len(history)):
        if why == "empty":
            for turn in range(first, last):
                yield from history.chunk(turn).repairs
    opening = next((t for t in sorted(choice.window) if not is_system(choice.window[t])), None)
    if opening is not None and history.needs_note(None, choice.window[opening]) and history.is_first(opening):
        yield Repair(
            rule="leading assistant",
            seq=choice.window[opening].first,
            what="the history does not open with the user; a user note was put before it",
        )
