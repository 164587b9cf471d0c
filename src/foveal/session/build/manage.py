"""Manage the history of a session as the design of its preset does: before a build, and when it is quiet.

`Session.build` calls `manage_history` after it has made a window and before it stores one; the background job
calls `IdleManager`. What only looks at a session (`compare`, `replay`, `why`, `focus`, dry runs) changes no
history.
"""

from __future__ import annotations

import time
from collections import OrderedDict, deque
from dataclasses import dataclass, field

from foveal import presets
from foveal.errors import NotFoundError
from foveal.session.budget import whole_limit
from foveal.session.costs import OutgoingRequest
from foveal.session.history.renew import NoteRenewal
from foveal.session.resources import Resources
from foveal.session.state import SessionState
from foveal.store import Head
from foveal.window import Decision

BUSY_SECONDS = 1.0
"""How long the job waits while callers use the store."""
LEAST_SECONDS = 0.05
"""The shortest time until it looks again for what has become due."""
STATES_MOST = 4
"""Sessions that the job keeps in memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Managed:
    """What was done to a session's history before a build."""

    changed: bool
    """The window must be made again."""
    pruned: tuple[Decision, ...] = ()
    """The decisions that left messages out, with their numbers. Notes explain themselves."""


def manage_history(state: SessionState, outgoing: OutgoingRequest, given_budget: int | None) -> Managed:
    """Manage the history as the session's preset does where it outgrows the window.

    A single build with another preset than the session's leaves the history as it is. The caller holds the
    session's lock. No model is waited for.
    """
    preset = state.preset("")
    match preset.manages if outgoing.order.preset == preset.name else "":
        case "compress":
            from foveal.session.history.compress import compress_for_window

            return Managed(changed=compress_for_window(state, outgoing.target, outgoing.order))
        case "prune":
            from foveal.session.history.marks import prune_for_window

            pruned = prune_for_window(state, outgoing.target, whole_limit(outgoing.target.card, given_budget))
            return Managed(changed=bool(pruned), pruned=pruned)
        case _:
            return Managed(changed=False)


@dataclass(slots=True)
class _Checked:
    """What the background knows of a session that it has checked."""

    head: tuple[int, int, int]
    """What it was left in."""
    due: float | None = None
    """When more of it will be past its age; None: never."""
    notes: NoteRenewal = field(default_factory=NoteRenewal)


class IdleManager:
    """Compresses what is past its age where a preset does so, a little at a time and only while it is quiet.

    Notes are written again when a model has written their summaries. What is left to do follows from the
    stored messages and their times: a killed process loses nothing.
    """

    def __init__(self, resources: Resources) -> None:
        self._resources = resources
        self._waiting: deque[str] = deque()
        """The names of the sessions of this round that are not finished yet."""
        self._checked: dict[str, _Checked] = {}
        """By the name of a session whose preset compresses."""
        self._states: OrderedDict[int, SessionState] = OrderedDict()
        """Sessions that were used last; any of them may be dropped."""

    def manage_some(self) -> float | None:
        """Manage one session a little; returns in how many seconds more is due, None if nothing will be."""
        if not self._resources.worker.quiet:
            return BUSY_SECONDS
        if not self._waiting:
            self._waiting.extend(self._to_check())
        if not self._waiting:
            return self._seconds_left()
        self._waiting.rotate(-1)  # the others come first if this one fails
        if self._advance(self._waiting[-1]):
            self._waiting.rotate(1)
        else:
            self._waiting.pop()
        return 0.0

    def _seconds_left(self) -> float | None:
        next_due = min((each.due for each in self._checked.values() if each.due is not None), default=None)
        return None if next_due is None else max(LEAST_SECONDS, next_due - time.time())

    def _to_check(self) -> list[str]:
        """The sessions that may have changed, have something due now, or have notes to write again."""
        names, everything = self._resources.unchecked.take()
        if everything:
            names |= self._changed()
        library, now = self._resources.library, time.time()
        written = library.written(frozenset().union(*(each.notes.keys for each in self._checked.values())))
        for name, each in self._checked.items():
            due = each.due is not None and each.due <= now
            if due or each.notes.ready(written) or (each.notes.left and not library.crowded):
                names.add(name)
        return sorted(names)

    def _changed(self) -> set[str]:
        """The sessions of all that were changed since this process checked them, by any process."""
        records = {record.name: record for record in self._resources.store.sessions()}
        self._checked = {name: each for name, each in self._checked.items() if name in records}
        compressing = {each for each in {record.preset for record in records.values()} if _compresses(each)}
        found = set[str]()
        for name, record in records.items():
            checked = self._checked.get(name)
            if record.preset in compressing and (checked is None or checked.head != _numbers(record.head)):
                found.add(name)
        return found

    def _advance(self, name: str) -> bool:
        """Write a few notes of a session; whether some were written, so that there may be more to do."""
        from foveal.session.history.compress import compress_aged

        record = self._resources.store.find_session(name)
        if record is None or not _compresses(record.preset):
            self._checked.pop(name, None)
            return False
        state = self._states.pop(record.id, None) or SessionState(self._resources, record)
        checked = self._checked.get(name) or _Checked(head=_numbers(record.head))
        try:
            written, checked.due = compress_aged(state)
            written = written or checked.notes.renew_one(state)
        except NotFoundError:  # the session was deleted meanwhile
            self._checked.pop(name, None)
            return False
        checked.head = _numbers(state.log.head)
        self._checked[name], self._states[record.id] = checked, state
        while len(self._states) > STATES_MOST:
            self._states.popitem(last=False)
        return written


def _numbers(head: Head) -> tuple[int, int, int]:
    return head.branch, head.length, head.version


def _compresses(preset: str) -> bool:
    return presets.managing(preset) == "compress"
