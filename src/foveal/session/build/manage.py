"""Manage the history of a session for a build, as the design of the preset does where a window is too full.

Only `Session.build` calls this, after it has made a window and before it stores one. What only looks at a
session (`compare`, `replay`, `why`, `focus`, dry runs) changes no history.
"""

from __future__ import annotations

from collections.abc import Sequence

from foveal.session.costs import OutgoingRequest
from foveal.session.state import SessionState
from foveal.window import Decision


def manage_history(state: SessionState, outgoing: OutgoingRequest) -> Sequence[Decision] | None:
    """Manage the history; returns None if it is as before, else the window must be made again.

    What is returned are the decisions about messages that were left out, with the numbers that led to them;
    notes in place of messages explain themselves. The caller holds the session's lock. No model is waited
    for.
    """
    match state.preset(outgoing.order.preset).manages:
        case "compress":
            from foveal.session.history.compress import compress_for_window

            return () if compress_for_window(state, outgoing.target, outgoing.order) else None
        case "prune":
            from foveal.session.history.marks import prune_for_window

            return prune_for_window(state, outgoing.target, outgoing.order.scene.budget)
        case _:
            return None
