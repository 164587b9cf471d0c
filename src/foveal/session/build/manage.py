"""Manage the history of a session as the design of its preset does: before a build, and when it is quiet.

`Session.build` calls `manage_history` after it has made a window and before it stores one; the background job
calls `IdleManager`. What only looks at a session (`compare`, `replay`, `why`, `focus`, dry runs) changes no
history.
"""

from __future__ import annotations

import time
from collections import OrderedDict, deque
from collections.abc import Sequence

from foveal import presets
from foveal.errors import ConfigError, NotFoundError
from foveal.session.costs import OutgoingRequest
from foveal.session.history.renew import NoteRenewal
from foveal.session.resources import Resources
from foveal.session.state import SessionState
from foveal.store import SessionRecord
from foveal.window import Decision

BUSY_SECONDS = 1.0
"""How long the job waits while callers use the store."""
LEAST_SECONDS = 0.05
"""The shortest time until it looks again for what has become due."""
STATES_MOST = 4
"""Sessions that the job keeps in memory."""


def manage_history(state: SessionState, outgoing: OutgoingRequest) -> Sequence[Decision] | None:
    """Manage the history; returns None if it is as before, else the window must be made again.

    What is returned are the decisions about messages that were left out, with the numbers that led to them;
    notes in place of messages explain themselves. A single build with another preset than the session's
    leaves the history as it is. The caller holds the session's lock. No model is waited for.
    """
    preset = state.preset("")
    if outgoing.order.preset != preset.name:
        return None
    match preset.manages:
        case "compress":
            from foveal.session.history.compress import compress_for_window

            return () if compress_for_window(state, outgoing.target, outgoing.order) else None
        case "prune":
            from foveal.session.history.marks import prune_for_window

            return prune_for_window(state, outgoing.target, outgoing.order.scene.budget)
        case _:
            return None


class IdleManager:
    """Compresses what is past its age where a preset does so, one note at a time and only while it is quiet.

    Notes are written again when a model has written their summaries. What is left to do follows from the
    stored messages and their times: a killed process loses nothing.
    """

    def __init__(self, resources: Resources) -> None:
        self._resources = resources
        self._waiting: deque[SessionRecord] = deque()
        """The sessions of this round that were not looked at yet."""
        self._due: dict[int, tuple[tuple[int, int, int], float | None]] = {}
        """By session, the state it was left in, and when more of it will be past its age; never: None."""
        self._states: OrderedDict[int, SessionState] = OrderedDict()

    def manage_some(self) -> float | None:
        """Manage one session a little; returns in how many seconds more is due, None if nothing will be."""
        if not self._resources.worker.quiet:
            return BUSY_SECONDS
        if not self._waiting:
            self._waiting.extend(self._to_check())
        if self._waiting:
            record = self._waiting.popleft()
            if self._compressed(record):
                self._waiting.appendleft(record)
        if self._waiting:
            return 0.0
        next_due = min((due for _, due in self._due.values() if due is not None), default=None)
        return None if next_due is None else max(LEAST_SECONDS, next_due - time.time())

    def _to_check(self) -> list[SessionRecord]:
        """The sessions that changed since they were checked, or have something due now."""
        now, found = time.time(), []
        sessions = self._resources.store.sessions()
        managed = [record for record in sessions if record.preset and _compresses(record.preset)]
        self._due = {record.id: self._due[record.id] for record in managed if record.id in self._due}
        for record in managed:
            state, due = self._due.get(record.id, (None, None))
            known = self._states.get(record.id)
            ready = known is not None and known.part(NoteRenewal).ready
            if ready or state != _state_of(record) or (due is not None and due <= now):
                found.append(record)
        return found

    def _compressed(self, record: SessionRecord) -> bool:
        """Write at most one note; whether one was written, so that there may be more to do."""
        from foveal.session.history.compress import compress_aged

        state = self._states.pop(record.id, None) or SessionState(self._resources, record)
        try:
            written, due = compress_aged(state)
            written = written or state.part(NoteRenewal).renew_one()
        except NotFoundError:  # the session was deleted meanwhile
            self._due.pop(record.id, None)
            return False
        self._states[record.id] = state
        while len(self._states) > STATES_MOST:
            self._states.popitem(last=False)
        head = state.log.head
        self._due[record.id] = (head.branch, head.length, head.version), due
        return written


def _state_of(record: SessionRecord) -> tuple[int, int, int]:
    return record.head.branch, record.head.length, record.head.version


def _compresses(preset: str) -> bool:
    try:
        return presets.find(preset).manages == "compress"
    except ConfigError:  # of a package that is no longer installed
        return False
