"""Pin, leave out, restore and erase messages, one by one or many at once by pruning and summarizing."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from foveal import presets
from foveal.errors import BudgetError, InputError, NotFoundError
from foveal.events import Event, MessageMarked, Reported
from foveal.model import Absence, Entry
from foveal.pipeline import fit as pipeline
from foveal.pipeline.account import explained
from foveal.pipeline.history import History
from foveal.pipeline.reasons import Reason
from foveal.pipeline.summarize.values import Answer
from foveal.session.arguments import a_count, a_yes_or_no
from foveal.session.history import stand_ins
from foveal.session.history.items import tokens_shown
from foveal.session.history.tasks import resummarize, title_of
from foveal.session.state import SessionState
from foveal.session.target import Target
from foveal.session.values import Removal
from foveal.window import ABSENT, Decision


def mark(
    state: SessionState, id: str, as_what: str, *, pinned: bool | None = None, absence: Absence | None = None
) -> str:
    """Change the marks of one message and return its id."""
    with state.writing() as events:
        entry = _markable(state, id)
        # A message that is already left out may carry the note for others: marking it again would remove it.
        if not absence or absence != entry.absence:
            state.store.mark(state.id, entry.seq, pinned=pinned, absence=absence)
        events.append(MessageMarked(session=state.name, id=entry.id, mark=as_what))
    return entry.id


def restore(state: SessionState, id: str | None) -> tuple[str, ...]:
    """Show messages in windows again, and return their ids; those that were not left out are not among them.

    All messages that one note covers are restored together, else the note would repeat what is shown; so are
    a call and its results, which windows show together. Their age counts from now on: what was compressed for
    its age is not compressed again at once.
    """
    now = time.time()
    with state.writing() as events:
        entries = state.log.entries
        if id is None:
            seqs = tuple(entry.seq for entry in entries if entry.absence == "left out")
        else:
            seq = _markable(state, id).seq
            seqs = stand_ins.covered(entries, seq) or _left_out_with(state, seq)
        ids = tuple(entries[seq].id for seq in seqs)
        for seq in seqs:
            state.store.mark(state.id, seq, absence="", restored_at=now)
        events.extend(MessageMarked(session=state.name, id=each, mark="restored") for each in ids)
    return ids


def _left_out_with(state: SessionState, seq: int) -> tuple[int, ...]:
    """Positions of the messages of a turn that are left out, if this one is."""
    history = state.log.history(state.target())
    if not history.entries[seq].absence:
        return ()
    first, last = history.span(history.turn_of(seq))
    turn = history.entries[first : last + 1]
    return tuple(each.seq for each in turn if each.absence == "left out" and each.noted_by is None)


def erase(state: SessionState, id: str) -> tuple[str, ...]:
    """Erase a message and its copies on other branches, and write the summaries again that covered it."""
    with state.writing() as events:
        located = state.located(id)
        entries = state.log.entries
        covered = stand_ins.covered(entries, located.entry.seq) if located.current else ()
        note = entries[covered[-1]].stand_in if covered else ""
        erased = tuple(state.store.erase(state.id, located.entry.id))
        state.resources.library.forget()
        if note:
            stand_ins.rewrite_note(state, covered, note, title=title_of(state, covered, note))
        resummarize(state)
        events.extend(MessageMarked(session=state.name, id=each, mark="erased") for each in erased)
    return erased


def prune(state: SessionState, max_tokens: int | None, *, dry_run: bool = False) -> Removal:
    """Leave out the least important turns until the rest fits."""
    a_yes_or_no(dry_run, "dry_run")
    given = None if max_tokens is None else a_count(max_tokens, "max_tokens")
    target = state.target()
    budget = given or int(target.card.context * state.resources.reploid.target)
    plan = partial(_least_important, state, target, budget)
    try:
        if dry_run:
            with state.reading():
                return stand_ins.planned(state, target, plan).removal
        return stand_ins.plan_and_apply(state, target, plan, partial(_leave_out, state), waits=False)
    except BudgetError as error:
        raise BudgetError(
            error.what,
            remedy="raise `max_tokens` to that size or more, or unpin or shorten what must stay",
            field="max_tokens",
        ) from error


def prune_for_window(state: SessionState, target: Target, limit: int) -> tuple[Decision, ...]:
    """Prune a history that takes more than `target` of its limit to that; returns why messages were left out.

    Where what must stay takes more by itself, none is: the window is kept within its budget alone.
    """
    most = int(limit * state.resources.reploid.target)
    with state.reading():
        history, framing = state.log.history(target), target.meter.request
        if tokens_shown(history, framing) <= most:
            return ()
        if framing + sum(history.chunk(turn).tokens for turn in history.pinned) > most:
            return ()

    def apply(omission: _Omission, events: list[Event]) -> tuple[Decision, ...]:
        _leave_out(state, omission, events)
        return omission.decisions

    plan = partial(_least_important, state, target, most)
    try:
        return stand_ins.plan_and_apply(state, target, plan, apply, waits=False)
    except BudgetError:
        return ()


def summarize(state: SessionState, keep: int | None, *, dry_run: bool = False) -> Removal:
    """Put one note of counts in place of all but the latest `keep` messages."""
    a_yes_or_no(dry_run, "dry_run")
    keep = state.resources.reploid.keep if keep is None else keep
    with state.writing() as events:
        omission = _counted(state, state.log.history(state.target()), keep)
        return omission.removal if dry_run else _leave_out(state, omission, events)


def _markable(state: SessionState, id: str) -> Entry:
    located = state.located(id)
    if not located.current:
        raise NotFoundError(
            f"message {id!r} is on a branch this session has left",
            remedy="`recall` and `forget` reach it; windows do not",
        )
    if located.content is None:
        raise NotFoundError(f"message {id!r} was erased", remedy="it cannot be restored; add it again")
    return located.entry


@dataclass(frozen=True, slots=True, kw_only=True)
class _Omission:
    """The entries to leave out, the result for the caller, and the event that reports it."""

    entries: tuple[Entry, ...]
    removal: Removal
    event: str
    payload: Mapping[str, object]
    decisions: tuple[Decision, ...] = ()
    """Those of the window that leaves them out."""


def _least_important(state: SessionState, target: Target, budget: int, _answer: Answer) -> _Omission:
    """What a window selected by importance leaves out, and was not left out before."""
    preset = presets.find("reploid", state.resources.numbers)
    history = state.log.history(target)
    order = target.order(preset, budget=budget, tools="", task="", now=time.time())
    manifest, entries = pipeline.fit(history, order).manifest, history.entries
    decisions = tuple(map(_as_pruned, (each for each in manifest.left_out if each.code not in ABSENT)))
    removed = tuple(
        entry for each in decisions for entry in entries[each.first : each.last + 1] if not entry.absence
    )
    original, final = manifest.tokens + sum(entry.tokens for entry in removed), manifest.tokens
    return _Omission(
        entries=removed,
        removal=Removal(ids=tuple(entry.id for entry in removed), original=original, final=final),
        event="context:pruned",
        decisions=decisions,
        payload={
            "original": original,
            "final": final,
            "removed": len(removed),
            "token_reduction": original - final,
        },
    )


def _as_pruned(decision: Decision) -> Decision:
    """The decision, with what it means for a history that leaves these messages out from now on."""
    importance = f"importance {decision.score.total:.1f}" if decision.score else ""
    return explained(decision, Reason(code="pruned", numbers=decision.numbers, columns=importance))


def _counted(state: SessionState, history: History, keep: int) -> _Omission:
    """All but the system prompts, the pins and the latest `keep` messages, in whole turns, for one note."""
    turns = _old_turns(history, keep)
    spans = [history.span(turn) for turn in turns]
    removed = tuple(entry for first, last in spans for entry in history.entries[first : last + 1])
    covered = [history.entries[seq] for seqs in stand_ins.originals(history, turns) for seq in seqs]
    text = stand_ins.write_counts(state, history, turns) if turns else ""
    note = history.frame.price(history.frame.scribe.note(text)) if text else 0
    shown = [stand_ins.shown_tokens(history, turn) for turn in range(len(history))]
    removal = Removal(
        ids=tuple(entry.id for entry in removed),
        original=sum(shown),
        final=sum(shown) - sum(shown[turn] for turn in turns) + note,
        summary=text,
    )
    payload = {"summarized": len(removed), "kept": len(history.entries) - len(removed), "summary": text}
    return _Omission(entries=tuple(covered), removal=removal, event="context:summarized", payload=payload)


def _old_turns(history: History, keep: int) -> list[int]:
    if isinstance(keep, bool) or not isinstance(keep, int) or keep < 0:
        raise InputError(
            f"`keep` is {keep!r}, not a number of messages", remedy="make `keep` 0 or more", field="keep"
        )
    pinned = history.pinned
    turns = [turn for turn in range(len(history)) if turn not in pinned and not history.absence(turn)]
    keep = max(keep, 1)  # the model has to answer the open turn
    while turns and keep > 0:
        first, last = history.span(turns.pop())
        keep -= last - first + 1
    return turns


def _leave_out(state: SessionState, omission: _Omission, events: list[Event]) -> Removal:
    if text := omission.removal.summary:
        stand_ins.insert_note(state, stand_ins.Note(entries=omission.entries, text=text))
    else:
        for entry in omission.entries:
            state.store.mark(state.id, entry.seq, absence="left out")
    if omission.entries:
        events.append(Reported(name=omission.event, session=state.name, payload=omission.payload))
    return omission.removal
