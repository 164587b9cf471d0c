"""A session's turns in → which of them leave its windows, by importance or for a summary."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from foveal.errors import InputError
from foveal.model import Entry, Message
from foveal.pipeline.compact.envelope import END
from foveal.pipeline.history import History
from foveal.pipeline.summary import summary_text
from foveal.session.noting import behind, read
from foveal.session.views import Removal
from foveal.window import Manifest


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaving:
    """The entries to be left out, what comes of it, and the event that tells it."""

    entries: tuple[Entry, ...]
    removal: Removal
    event: str
    payload: Mapping[str, object]


def by_importance(manifest: Manifest, entries: Sequence[Entry]) -> Leaving:
    """What a window by importance left out, and nobody had left out before."""
    gone = tuple(
        entry
        for decision in manifest.left_out
        for entry in entries[decision.first : decision.last + 1]
        if not entry.absence
    )
    original, final = manifest.tokens + sum(entry.tokens for entry in gone), manifest.tokens
    told = {"original": original, "final": final, "removed": len(gone), "token_reduction": original - final}
    removal = Removal(ids=tuple(entry.id for entry in gone), original=original, final=final)
    return Leaving(entries=gone, removal=removal, event="context:pruned", payload=told)


def for_a_summary(history: History, keep: int) -> Leaving:
    """All but the system prompts, the pins and the newest `keep` messages, turns whole."""
    turns = _old_turns(history, keep)
    spans = [history.span(turn) for turn in turns]
    gone = tuple(entry for first, last in spans for entry in history.entries[first : last + 1])
    text = _summary(history, turns) if turns else ""
    note = history.frame.price(history.frame.scribe.note(text)) if text else 0
    removal = Removal(
        ids=tuple(entry.id for entry in gone),
        original=history.tokens,
        final=history.tokens - sum(entry.tokens for entry in gone) + note,
        summary=text,
    )
    told = {"summarized": len(gone), "kept": len(history.entries) - len(gone), "summary": text}
    return Leaving(entries=gone, removal=removal, event="context:summarized", payload=told)


def _old_turns(history: History, keep: int) -> list[int]:
    if isinstance(keep, bool) or not isinstance(keep, int) or keep < 0:
        raise InputError(f"`keep` is {keep!r}", remedy="give 0 or more messages to keep")
    fixed = history.pinned
    talk = [turn for turn in range(len(history)) if turn not in fixed and not history.absence(turn)]
    keep = max(keep, 1)  # the open turn is what the model is to answer
    while talk and keep > 0:
        first, last = history.span(talk.pop())
        keep -= last - first + 1
    return talk


def _summary(history: History, turns: Sequence[int]) -> str:
    """One note for the turns; an earlier note among them goes into its counts."""
    return summary_text([message for turn in turns for message in _messages(history, turn)])


def _messages(history: History, turn: int) -> Sequence[Message]:
    note = history.stand_in(turn)
    if note and not note.endswith(END):
        return [history.frame.scribe.note(note)]
    return [message for _, message in read(history, behind(history, turn))]
