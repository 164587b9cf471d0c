"""An id in → the message pinned, left out, restored or erased; a session in → what leaves its windows.

A session's turns in → which of them leave its windows, by importance or for a summary.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from foveal import presets
from foveal.errors import BudgetError, InputError, NotFoundError
from foveal.events import Event, MessageMarked, Reported
from foveal.model import Absence, Entry
from foveal.pipeline import fit as pipeline
from foveal.pipeline.history import History
from foveal.session.arguments import a_count
from foveal.session.history import stand_ins
from foveal.session.history.tasks import summarized_again, title
from foveal.session.state import SessionState
from foveal.session.values import Removal
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


def for_a_summary(state: SessionState, history: History, keep: int) -> Leaving:
    """All but the system prompts, the pins and the newest `keep` messages, turns whole."""
    turns = _old_turns(history, keep)
    spans = [history.span(turn) for turn in turns]
    gone = tuple(entry for first, last in spans for entry in history.entries[first : last + 1])
    covered = [history.entries[seq] for seqs in stand_ins.behind(history, turns) for seq in seqs]
    text = stand_ins.counted(state, history, turns) if turns else ""
    note = history.frame.price(history.frame.scribe.note(text)) if text else 0
    shown = [stand_ins.shown(history, turn) for turn in range(len(history))]
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
        raise InputError(f"`keep` is {keep!r}", remedy="give 0 or more messages to keep", field="keep")
    fixed = history.pinned
    talk = [turn for turn in range(len(history)) if turn not in fixed and not history.absence(turn)]
    keep = max(keep, 1)  # the open turn is what the model is to answer
    while talk and keep > 0:
        first, last = history.span(talk.pop())
        keep -= last - first + 1
    return talk


def mark(
    state: SessionState, id: str, as_what: str, *, pinned: bool | None = None, absence: Absence | None = None
) -> str:
    """Change the marks of one message and return its id."""
    with state.writing() as events:
        entry = _markable(state, id)
        # What is left out already may carry the note that stands for others.
        if not absence or absence != entry.absence:
            state.store.mark(state.id, entry.seq, pinned=pinned, absence=absence)
        events.append(MessageMarked(session=state.name, id=entry.id, mark=as_what))
    return entry.id


def _markable(state: SessionState, id: str) -> Entry:
    place = state.located(id)
    if not place.current:
        raise NotFoundError(
            f"message {id!r} is on a branch this session has left",
            remedy="`recall` and `forget` reach it; windows do not",
        )
    if place.content is None:
        raise NotFoundError(f"message {id!r} was erased", remedy="nothing brings it back; add it again")
    return place.entry


def restore(state: SessionState, id: str | None) -> tuple[str, ...]:
    """Let messages be in windows again, all that one note covers together: else it would tell of them too.

    What was never left out does not come back: its id is not among those returned.
    """
    with state.writing() as events:
        entries = state.log.entries
        if id is None:
            seqs = tuple(entry.seq for entry in entries if entry.absence == "left out")
        else:
            seq = _markable(state, id).seq
            alone = (seq,) if entries[seq].absence else ()
            seqs = stand_ins.covered(entries, seq) or alone
        ids = tuple(entries[seq].id for seq in seqs)
        for seq in seqs:
            state.store.mark(state.id, seq, absence="")
        events.extend(MessageMarked(session=state.name, id=each, mark="restored") for each in ids)
    return ids


def erase(state: SessionState, id: str) -> tuple[str, ...]:
    with state.writing() as events:
        place = state.located(id)
        entries = state.log.entries
        told = stand_ins.covered(entries, place.entry.seq) if place.current else ()
        note = entries[told[-1]].stand_in if told else ""
        gone = tuple(state.store.erase(state.id, place.entry.id))
        state.resources.library.forget()
        if note:
            stand_ins.put_again(state, told, note, title=title(state, told, note))
        summarized_again(state)
        events.extend(MessageMarked(session=state.name, id=each, mark="erased") for each in gone)
    return gone


def prune(state: SessionState, max_tokens: int | None) -> Removal:
    asked = None if max_tokens is None else a_count(max_tokens, "max_tokens")
    with state.writing() as events:
        target = state.target()
        history = state.log.history(target)
        budget = asked or int(target.card.context * state.resources.reploid.target)
        chosen = presets.find("reploid", state.resources.numbers)
        order = target.order(chosen, budget=budget, tools="", task="", now=time.time())
        try:
            manifest = pipeline.fit(history, order).manifest
        except BudgetError as error:
            raise BudgetError(error.what, remedy=error.remedy.replace("`budget`", "`max_tokens`")) from error
        return leave_out(state, by_importance(manifest, history.entries), events)


def summarize(state: SessionState, keep: int | None) -> Removal:
    kept = state.resources.reploid.keep if keep is None else keep
    with state.writing() as events:
        leaving = for_a_summary(state, state.log.history(state.target()), kept)
        return leave_out(state, leaving, events)


def leave_out(state: SessionState, leaving: Leaving, events: list[Event]) -> Removal:
    if text := leaving.removal.summary:
        stand_ins.put(state, stand_ins.Note(entries=leaving.entries, text=text))
    else:
        for entry in leaving.entries:
            state.store.mark(state.id, entry.seq, absence="left out")
    if leaving.entries:
        events.append(Reported(name=leaving.event, session=state.name, payload=leaving.payload))
    return leaving.removal
