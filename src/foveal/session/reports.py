"""Store what the designs of presets have reported, and list the optimizations among it.

An optimization's record is the event that ends it: the window of a session or the result of an operation.
"""

from __future__ import annotations

import json
import secrets
import time
from dataclasses import dataclass, fields, replace

from foveal.errors import FovealError, StoreError
from foveal.events import Event, Reported, Reports, Warned
from foveal.session.resources import Resources
from foveal.store import LoggedEvent
from foveal.store.decode import checked, decoding


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What events of one run have in common."""

    operation: str
    """Its name; `build` for the window of a session."""
    trace_id: str
    milliseconds: float
    record: str = ""
    """The name of the event that is its record; the others are transient."""

    @classmethod
    def since(cls, operation: str, began: float, *, record: str = "") -> Run:
        """A run that ends now; `began` is a time of `time.perf_counter`."""
        milliseconds = round(1000 * (time.perf_counter() - began), 3)
        return cls(
            operation=operation, trace_id=secrets.token_hex(16), milliseconds=milliseconds, record=record
        )


def reported(session: str, events: Reports, run: Run) -> list[Reported]:
    """The events, each with what identifies the run that they come from."""
    stamp = {"operation": run.operation, "trace_id": run.trace_id, "duration_ms": run.milliseconds}
    return [
        Reported(name=name, session=session, payload={**payload, **stamp}, transient=name != run.record)
        for name, payload in events
    ]


def report(resources: Resources, session: str, events: Reports, run: Run) -> None:
    """Store events and deliver them to subscribers; a store that cannot be written fails no run."""
    found: list[Event] = list(reported(session, events, run))
    if not found:
        return
    resources.worker.busy()
    try:
        resources.store.log(session, found, now=time.time())
    except StoreError as error:
        # Without a session: the log does not have it, so the stream has to announce it.
        found.append(Warned(session="", text=f"the events of `{run.operation}` are not stored: {error.what}"))
    resources.bus.emit(found)


def report_failure(resources: Resources, session: str, name: str, error: FovealError, run: Run) -> None:
    """Report a failed run as the event of that name; without a name, not at all."""
    if name:
        payload = {"error": type(error).__name__, "what": error.what}
        report(resources, session, [(name, payload)], replace(run, record=name))


@dataclass(frozen=True, slots=True, kw_only=True)
class OptimizationRecord:
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
    each.name for each in fields(OptimizationRecord) if each.name not in ("number", "created_at", "session")
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Optimizations:
    """One page of records."""

    optimizations: tuple[OptimizationRecord, ...]
    """Latest first."""
    next: int | None
    """The `before` of the next page; None on the last."""


def list_optimizations(resources: Resources, *, limit: int, before: int | None) -> Optimizations:
    """The optimizations of all sessions and operations, latest first."""
    from foveal.presets.omar.events import SUCCESS  # slow to load, and most sessions have another preset

    found = resources.store.events_named(SUCCESS, before=before, limit=limit + 1)
    records = map(_record, found[:limit])
    return Optimizations(
        optimizations=tuple(record for record in records if record),
        next=found[limit - 1].number if len(found) > limit else None,
    )


def _record(event: LoggedEvent) -> OptimizationRecord | None:
    """The record in an event; None in one that was logged before events had records."""
    with decoding(f"the event {event.number}"):
        found = json.loads(event.payload)
        if found.get("trace_id") is None:
            return None
        fields = {name: found[name] for name in _FIELDS}
        record = OptimizationRecord(
            number=event.number, created_at=event.created_at, session=event.session, **fields
        )
        return checked(record)
