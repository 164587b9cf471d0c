"""A session's turns in → which of them leave its windows, by importance or for a summary."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from foveal.errors import InputError
from foveal.model import Entry
from foveal.pipeline.history import History
from foveal.session import noting
from foveal.session.core import Core
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


def for_a_summary(core: Core, history: History, keep: int) -> Leaving:
    """All but the system prompts, the pins and the newest `keep` messages, turns whole."""
    turns = _old_turns(history, keep)
    spans = [history.span(turn) for turn in turns]
    gone = tuple(entry for first, last in spans for entry in history.entries[first : last + 1])
    covered = [history.entries[seq] for seqs in noting.behind(history, turns) for seq in seqs]
    text = noting.counted(core, history, turns) if turns else ""
    note = history.frame.price(history.frame.scribe.note(text)) if text else 0
    shown = [noting.shown(history, turn) for turn in range(len(history))]
    removal = Removal(
        ids=tuple(entry.id for entry in gone),
        original=sum(shown),
        final=sum(shown) - sum(shown[turn] for turn in turns) + note,
        summary=text,
    )
    told = {"summarized": len(gone), "kept": len(history.entries) - len(gone), "summary": text}
    return Leaving(entries=tuple(covered), removal=removal, event="context:summarized", payload=told)


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
