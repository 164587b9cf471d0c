"""Store what the designs of presets have reported, and list the optimizations among it.

An optimization's record is the event that ends it: the window of a session or the result of an operation.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields

from foveal.events import Reported
from foveal.session.resources import Resources
from foveal.store import LoggedEvent
from foveal.store.decode import checked, decoding

RECORD = "context.optimization.success"
Events = Sequence[tuple[str, Mapping[str, object]]]
"""Names and payloads."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What events of one run have in common."""

    operation: str
    """Its name; `build` for the window of a session."""
    trace_id: str
    milliseconds: float


def reported(session: str, events: Events, run: Run) -> list[Reported]:
    """The events, each with what identifies the run that they come from."""
    stamp = {"operation": run.operation, "trace_id": run.trace_id, "duration_ms": run.milliseconds}
    return [Reported(name=name, session=session, payload={**payload, **stamp}) for name, payload in events]


def report(resources: Resources, session: str, events: Events, run: Run) -> None:
    """Store events and deliver them to subscribers."""
    found = reported(session, events, run)
    if found:
        resources.worker.busy()
        resources.store.log(session, found, now=time.time())
        resources.bus.emit(found)


@dataclass(frozen=True, slots=True, kw_only=True)
class Optimization:
    """The record of one optimization."""

    number: int
    """That of its event."""
    created_at: float
    optimization_id: str
    operation: str
    """The operation that ran; `build` for the window of a session."""
    user_id: str | None
    session: str
    """Empty if the request named none."""
    chunks_count: int
    chunks_optimized: int
    chunks_dropped: int
    tokens_used: int
    tokens_available: int
    duration_ms: float
    trace_id: str


_FIELDS = tuple(
    each.name for each in fields(Optimization) if each.name not in ("number", "created_at", "session")
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Optimizations:
    """One page of records."""

    optimizations: tuple[Optimization, ...]
    """Latest first."""
    next: int | None
    """The `before` of the next page; None on the last."""


def list_optimizations(resources: Resources, *, limit: int, before: int | None) -> Optimizations:
    """The optimizations of all sessions and operations, latest first."""
    found = resources.store.events_named(RECORD, before=before, limit=limit + 1)
    records = map(_record, found[:limit])
    return Optimizations(
        optimizations=tuple(record for record in records if record),
        next=found[limit - 1].number if len(found) > limit else None,
    )


def _record(event: LoggedEvent) -> Optimization | None:
    """The record in an event; None in one that was logged before events had records."""
    with decoding(f"the event {event.number}"):
        found = dict(json.loads(event.payload).items())
        if "trace_id" not in found:
            return None
        fields = {name: found[name] for name in _FIELDS}
        record = Optimization(
            number=event.number, created_at=event.created_at, session=event.session, **fields
        )
        return checked(record)
