"""An id in → the message pinned, left out, restored or erased; a session in → what leaves its windows."""

from __future__ import annotations

import time

from foveal import presets
from foveal.errors import BudgetError, NotFoundError
from foveal.events import Event, MessageMarked, Reported
from foveal.model import Absence, Entry
from foveal.pipeline import fit as pipeline
from foveal.session import noting, tasks
from foveal.session.checks import a_count
from foveal.session.core import Core
from foveal.session.pruning import Leaving, by_importance, for_a_summary
from foveal.session.views import Removal


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
            seqs = noting.covered(entries, seq) or alone
        ids = tuple(entries[seq].id for seq in seqs)
        for seq in seqs:
            core.store.mark(core.id, seq, absence="")
        events.extend(MessageMarked(session=core.name, id=each, mark="restored") for each in ids)
    return ids


def erase(core: Core, id: str) -> tuple[str, ...]:
    with core.writing() as events:
        place = core.located(id)
        entries = core.ledger.entries
        told = noting.covered(entries, place.entry.seq) if place.current else ()
        note = entries[told[-1]].stand_in if told else ""
        gone = tuple(core.store.erase(core.id, place.entry.id))
        core.desk.library.forget()
        if note:
            noting.put_again(core, told, note, title=tasks.title(core, told, note))
        tasks.summarized_again(core)
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
        noting.put(core, noting.Note(entries=leaving.entries, text=text))
    else:
        for entry in leaving.entries:
            core.store.mark(core.id, entry.seq, absence="left out")
    if leaving.entries:
        events.append(Reported(name=leaving.event, session=core.name, payload=leaving.payload))
    return leaving.removal
