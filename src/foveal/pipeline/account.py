"""Account for a window: one decision for every message, with its reason, and the tokens by part.

A run of left-out turns becomes one decision, so the account costs the window's length. Decisions about the
turns before a kept layout are reused.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypedDict

from foveal.model import Chunk, Repair
from foveal.pipeline.fixed import FixedTurns
from foveal.pipeline.history import History, is_system
from foveal.pipeline.reasons import Reason, covered, retrieved
from foveal.pipeline.values import LogNote, RetrievedNote, Selection
from foveal.window import Absence, Code, Conflict, Decision, Fixed, NoteKind, Slot, WindowNote


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowContent:
    """What is in the window: the selected and the fixed turns, and the number of notes between them."""

    window: Mapping[int, Chunk]
    fixed: FixedTurns = field(default_factory=FixedTurns)
    selection: Selection
    notes: int


class Account(TypedDict):
    tokens: int
    parts: dict[str, int]
    decisions: tuple[Decision, ...]
    notes: tuple[WindowNote, ...]
    repairs: tuple[Repair, ...]
    slots: tuple[Slot, ...]
    conflicts: tuple[Conflict, ...]
    metrics: Mapping[str, float]
    record: Mapping[str, str]


def account(history: History, choice: WindowContent, costs: Mapping[str, int]) -> Account:
    """Tokens, decisions and repairs of a window; `costs` has the tokens of parts that are not turns."""
    marked = sum(chunk.tokens for chunk in choice.selection.markers.values())
    parts = {**costs, "notes": choice.notes * history.note_tokens + marked}
    notes = tuple(map(window_note, choice.selection.notes))
    for note in notes:
        parts[note.kind] = parts.get(note.kind, 0) + note.tokens
    fixed = choice.fixed.chunks.keys()
    parts["history"] = sum(chunk.tokens for turn, chunk in choice.window.items() if turn not in fixed)
    for turn in fixed:
        part = "system" if is_system(choice.window[turn]) else _PARTS[choice.fixed.because[turn]]
        parts[part] = parts.get(part, 0) + choice.window[turn].tokens
    return Account(
        tokens=sum(parts.values()),
        parts={part: tokens for part, tokens in parts.items() if tokens},
        decisions=(*_settled(history, choice), *_decisions(history, choice)),
        notes=notes,
        repairs=tuple(_repairs(history, choice)),
        slots=choice.selection.slots,
        conflicts=choice.selection.conflicts,
        metrics=choice.selection.metrics,
        record=choice.selection.record,
    )


_PARTS: Mapping[Fixed, str] = {
    "system_prompt": "system",
    "pinned": "pinned",
    "newest_user": "requests",
    "standing_request": "requests",
    "open_turn": "open turn",
}
"""The parts of the window that the tokens of fixed turns are counted in."""


def window_note(each: LogNote | RetrievedNote) -> WindowNote:
    """The entry of a note in the manifest."""
    if isinstance(each, LogNote):
        kind: NoteKind = "log"
        first, last = each.first, each.last
    else:
        kind, first, last = "retrieved", min(each.excerpts), max(each.excerpts)
    return WindowNote(
        kind=kind,
        position=each.position,
        first=first,
        last=last,
        tokens=each.note.tokens,
        lines=each.sources,
    )


def _settled(history: History, choice: WindowContent) -> Iterator[Decision]:
    """The decisions of the kept layout; a message since then may no longer be the newest of the user."""
    layout, because = choice.selection.layout, choice.fixed.because
    for decision in layout.decisions if layout else ():
        later = layout is not None and decision.first >= layout.full_from
        if decision.code == "newest_user" or (decision.code == "standing_request" and later):
            code: Code = because.get(history.turn_of(decision.first), "selected")
            if code != decision.code:
                words = choice.selection.because_in if code == "selected" else ""
                yield explained(replace(decision, numbers={}), Reason(code=code, words=words))
                continue
        yield decision


def explained(decision: Decision, reason: Reason) -> Decision:
    """The decision with a reason: its code, its numbers and its sentence."""
    because, brief = reason.texts
    return replace(decision, code=reason.code, numbers=reason.numbers, because=because, brief=brief)


def with_retrieved(
    history: History, decisions: Iterable[Decision], note: RetrievedNote
) -> tuple[Decision, ...]:
    """The decisions about earlier messages, with those that a new note has."""
    spans = sorted({history.span(history.turn_of(seq)) for seq in note.excerpts})
    return tuple(each for decision in decisions for each in _divided(history, decision, spans, note.position))


def _divided(
    history: History, decision: Decision, spans: Sequence[tuple[int, int]], position: int
) -> Iterator[Decision]:
    """The parts of a decision: the turns that a note has, and the runs around them."""
    at, inside = decision.first, [span for span in spans if decision.first <= span[0] <= decision.last]
    if decision.detail == "trimmed" or (decision.verdict == "kept" and decision.detail == "full"):
        inside = []
    for first, last in inside:
        if at < first:
            yield _part(history, decision, at, first - 1)
        noted = replace(
            decision, first=first, last=last, verdict="kept", tokens=0, detail="folded", score=None
        )
        yield explained(noted, retrieved(position))
        at = last + 1
    if at <= decision.last:
        yield _part(history, decision, at, decision.last) if inside else decision


def _part(history: History, decision: Decision, first: int, last: int) -> Decision:
    tokens = history.between(first, last) if decision.verdict == "left out" else 0
    return replace(decision, first=first, last=last, tokens=tokens)


def with_pruning(
    history: History, decisions: Sequence[Decision], pruned: Sequence[Decision]
) -> tuple[Decision, ...]:
    """The decisions of a window, with those that left messages out of the history just now, in order."""
    found: list[Decision] = []
    rest = deque(pruned)
    for decision in decisions:
        at = decision.first
        while rest and rest[0].last <= decision.last:
            each = rest.popleft()
            if at < each.first:
                found.append(_part(history, decision, at, each.first - 1))
            found.append(each)
            at = each.last + 1
        if at == decision.first:
            found.append(decision)
        elif at <= decision.last:
            found.append(_part(history, decision, at, decision.last))
    return tuple(found)


def _decisions(history: History, choice: WindowContent) -> Iterator[Decision]:
    """One decision for every message that has none from the kept layout."""
    selection, layout = choice.selection, choice.selection.layout
    at = history.turn_of(layout.decided_until) if layout and layout.decided_until else 0
    for turn in sorted(turn for turn in choice.window if turn >= at):
        if at < turn:
            yield from _out(history, choice, at, turn)
        chunk, reason = choice.window[turn], _reason_in(history, choice, turn)
        because, brief = reason.texts
        yield Decision(
            first=chunk.first,
            last=chunk.last,
            verdict="kept",
            tokens=chunk.tokens,
            code=reason.code,
            numbers=reason.numbers,
            because=because,
            brief=brief,
            detail=chunk.detail,
            score=selection.scores.get(turn),
            slot=selection.charged.get(turn, ""),
            flags=selection.flags.get(turn, ()),
        )
        at = turn + 1
    yield from _out(history, choice, at, len(history))


def _code_in(choice: WindowContent, turn: int) -> Code:
    if turn in choice.selection.forms:
        return "selected"
    if choice.window[turn].detail == "folded":
        return "replaced"
    return choice.fixed.because[turn] if turn in choice.fixed.chunks else "selected"


def _reason_in(history: History, choice: WindowContent, turn: int) -> Reason:
    chunk, selection, code = choice.window[turn], choice.selection, _code_in(choice, turn)
    if code == "selected":
        return selection.reasons.get(turn) or Reason(code=code, words=selection.because_in)
    if chunk.detail == "trimmed":
        return Reason(code=code, numbers={"cut_from": history.chunk(turn).tokens, "cut_to": chunk.tokens})
    return Reason(code=code)


def _out(history: History, choice: WindowContent, start: int, stop: int) -> Iterator[Decision]:
    """The left-out turns of one gap, neighbours with the same reason as one run."""
    at = start
    for first, last, why in history.absences(start, stop):
        yield from _chosen_out(history, choice.selection, at, first)
        yield from _run(history, first, last, _absent(history, first, last, why))
        at = last
    yield from _chosen_out(history, choice.selection, at, stop)


def _absent(history: History, first: int, last: int, why: Absence) -> Reason:
    """Why neighbouring turns are absent: a run of turns that a note covers ends at the note."""
    notes = {history.entries[history.span(turn)[0]].noted_by for turn in (first, last - 1)}
    note = notes.pop() if len(notes) == 1 else None
    return Reason(code=why) if note is None else covered(note)


def _chosen_out(history: History, selection: Selection, start: int, stop: int) -> Iterator[Decision]:
    """Turns with a reason of their own in runs of the same reason, the others between them as runs."""
    common = selection.because_out
    others = common if isinstance(common, Reason) else Reason(code="not_selected", words=common)
    at = start
    for turn in _with_reasons(selection, start, stop):
        if turn < at:  # already part of a run
            continue
        yield from _run(history, at, turn, others)
        at = turn + 1
        while at < stop and _alike(selection, turn, at):
            at += 1
        if turn in selection.folded:
            yield _folded(history, selection, turn, at)
            continue
        yield from _run(history, turn, at, selection.reasons[turn], scored=selection)
    yield from _run(history, at, stop, others)


def _with_reasons(selection: Selection, start: int, stop: int) -> list[int]:
    """The turns of a gap with a reason of their own; scans the gap or the reasons, whichever is shorter."""
    reasons, folded = selection.reasons, selection.folded
    if stop - start <= len(reasons) + len(folded):
        return [turn for turn in range(start, stop) if turn in reasons or turn in folded]
    return sorted({turn for turn in (*reasons, *folded) if start <= turn < stop})


def _alike(selection: Selection, one: int, other: int) -> bool:
    """Whether both turns have the same reason, and neither has a score or a slot of its own."""
    if any(turn in each for turn in (one, other) for each in (selection.scores, selection.charged)):
        return False
    if one in selection.folded or other in selection.folded:
        return selection.folded.get(one) == selection.folded.get(other)
    return selection.reasons.get(other) == selection.reasons[one]


def _folded(history: History, selection: Selection, start: int, stop: int) -> Decision:
    decision = Decision(
        first=history.span(start)[0],
        last=history.span(stop - 1)[1],
        verdict="kept",
        code="replaced",
        tokens=0,
        because="",
        detail="folded",
        score=selection.scores.get(start),
    )
    return explained(decision, selection.folded[start])


def _run(
    history: History, start: int, stop: int, reason: Reason, *, scored: Selection | None = None
) -> Iterator[Decision]:
    """A run of left-out turns; `scored` has the score, the slot and the flags of the first."""
    if start == stop:
        return
    first, last = history.span(start)[0], history.span(stop - 1)[1]
    because, brief = reason.texts
    yield Decision(
        first=first,
        last=last,
        verdict="left out",
        code=reason.code,
        tokens=history.between(first, last),
        numbers=reason.numbers,
        because=because,
        brief=brief,
        score=scored.scores.get(start) if scored else None,
        slot=scored.charged.get(start, "") if scored else "",
        flags=scored.flags.get(start, ()) if scored else (),
    )


def _repairs(history: History, choice: WindowContent) -> Iterator[Repair]:
    for turn in sorted(choice.window):
        yield from choice.window[turn].repairs
    earliest = min(choice.selection.turns, default=choice.fixed.opened)
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
