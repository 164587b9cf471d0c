"""Manage the history of a session for a build, as the design of the preset does where a window is too full.

Only `Session.build` calls this, after it has made a window and before it stores one. What only looks at a
session (`compare`, `replay`, `why`, `focus`, dry runs) changes no history.
"""

from __future__ import annotations

from foveal.session.costs import OutgoingRequest
from foveal.session.state import SessionState


def manage_history(state: SessionState, outgoing: OutgoingRequest) -> bool:
    """Manage the history; returns whether it changed, so that the window must be made again.

    The caller holds the session's lock. No model is waited for.
    """
    match state.preset(outgoing.order.preset).manages:
        case "compress":
            from foveal.session.history.compress import compress_for_window

            return compress_for_window(state, outgoing.target, outgoing.order)
        case _:
            return False
