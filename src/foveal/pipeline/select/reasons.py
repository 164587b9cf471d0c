"""A layout that holds still in → in words, why what it tells in notes is told there."""

from __future__ import annotations

from foveal.pipeline.history import History
from foveal.pipeline.values import Held


def note_reason(history: History, held: Held, place: int) -> str:
    """What the note in the place of a turn holds: snippets of some messages of the turns it stands for."""
    spans = map(history.span, {place, *map(history.turn_of, held.shown)})
    told, messages = len(held.shown), sum(last - first + 1 for first, last in spans)
    some = f"{told:,} of " if told < messages else ""
    return f"the note: snippets of {some}{messages:,} messages"


def told_reasons(history: History, held: Held) -> dict[int, str]:
    """By turn that is told in a note, why it needs no place of its own."""
    told: dict[int, str] = {}
    if held.note:
        why = f"its turn is told in the note at message {held.note.first + 1:,}"
        told = dict.fromkeys(map(history.turn_of, held.shown), why)
        told.pop(history.turn_of(held.note.first), None)
    for each in held.brought:
        why = f"brought back before message {each.place + 1:,}, as relevant to it"
        told |= dict.fromkeys(map(history.turn_of, each.shown), why)
    return told
