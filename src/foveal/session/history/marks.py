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
from foveal.session.state import Core
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


def for_a_summary(core: Core, history: History, keep: int) -> Leaving:
    """All but the system prompts, the pins and the newest `keep` messages, turns whole."""
    turns = _old_turns(history, keep)
    spans = [history.span(turn) for turn in turns]
    gone = tuple(entry for first, last in spans for entry in history.entries[first : last + 1])
    covered = [history.entries[seq] for seqs in stand_ins.behind(history, turns) for seq in seqs]
    text = stand_ins.counted(core, history, turns) if turns else ""
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
        raise InputError(f"`keep` is {keep!r}", remedy="give 0 or more messages to keep")
    fixed = history.pinned
    talk = [turn for turn in range(len(history)) if turn not in fixed and not history.absence(turn)]
    keep = max(keep, 1)  # the open turn is what the model is to answer
    while talk and keep > 0:
        first, last = history.span(talk.pop())
        keep -= last - first + 1
    return talk


def mark(
    core: Core, id: str, as_what: str, *, pinned: bool | None = None, absence: Absence | None = None
) -> str:
    """Change the marks of one message and return its id."""
    with core.writing() as events:
        entry = _markable(core, id)
        # What is left out already may carry the note that stands for others.
        if not absence or absence != entry.absence:
            core.store.mark(core.id, entry.seq, pinned=pinned, absence=absence)
        events.append(MessageMarked(session=core.name, id=entry.id, mark=as_what))
    return entry.id


def _markable(core: Core, id: str) -> Entry:
    place = core.located(id)
    if not place.current:
        raise NotFoundError(
            f"message {id!r} is on a branch this session has left",
            remedy="`recall` and `forget` reach it; windows do not",
        )
    if place.content is None:
        raise NotFoundError(f"message {id!r} was erased", remedy="nothing brings it back; add it again")
    return place.entry


def restore(core: Core, id: str | None) -> tuple[str, ...]:
    """Let messages be in windows again, all that one note covers together: else it would tell of them too.

    What was never left out does not come back: its id is not among those returned.
    """
    with core.writing() as events:
        entries = core.ledger.entries
        if id is None:
            seqs = tuple(entry.seq for entry in entries if entry.absence == "left out")
        else:
            seq = _markable(core, id).seq
            alone = (seq,) if entries[seq].absence else ()
            seqs = stand_ins.covered(entries, seq) or alone
        ids = tuple(entries[seq].id for seq in seqs)
        for seq in seqs:
            core.store.mark(core.id, seq, absence="")
        events.extend(MessageMarked(session=core.name, id=each, mark="restored") for each in ids)
    return ids


def erase(core: Core, id: str) -> tuple[str, ...]:
    with core.writing() as events:
        place = core.located(id)
        entries = core.ledger.entries
        told = stand_ins.covered(entries, place.entry.seq) if place.current else ()
        note = entries[told[-1]].stand_in if told else ""
        gone = tuple(core.store.erase(core.id, place.entry.id))
        core.desk.library.forget()
        if note:
            stand_ins.put_again(core, told, note, title=title(core, told, note))
        summarized_again(core)
        events.extend(MessageMarked(session=core.name, id=each, mark="erased") for each in gone)
    return gone


def prune(core: Core, max_tokens: int | None) -> Removal:
    asked = None if max_tokens is None else a_count(max_tokens, "max_tokens")
    with core.writing() as events:
        aim = core.aim()
        history = core.ledger.history(aim)
        budget = asked or int(aim.card.context * core.desk.reploid.target)
        chosen = presets.find("reploid", core.desk.numbers)
        order = aim.order(chosen, budget=budget, tools="", task="", now=time.time())
        try:
            manifest = pipeline.fit(history, order).manifest
        except BudgetError as error:
            raise BudgetError(error.what, remedy=error.remedy.replace("`budget`", "`max_tokens`")) from error
        return leave_out(core, by_importance(manifest, history.entries), events)


def summarize(core: Core, keep: int | None) -> Removal:
    kept = core.desk.reploid.keep if keep is None else keep
    with core.writing() as events:
        leaving = for_a_summary(core, core.ledger.history(core.aim()), kept)
        return leave_out(core, leaving, events)


def leave_out(core: Core, leaving: Leaving, events: list[Event]) -> Removal:
    if text := leaving.removal.summary:
        stand_ins.put(core, stand_ins.Note(entries=leaving.entries, text=text))
    else:
        for entry in leaving.entries:
            core.store.mark(core.id, entry.seq, absence="left out")
    if leaving.entries:
        events.append(Reported(name=leaving.event, session=core.name, payload=leaving.payload))
    return leaving.removal
