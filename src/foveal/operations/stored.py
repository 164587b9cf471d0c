"""Run an operation for a tenant: with the settings of an open store, which keeps its events."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from foveal.errors import FovealError
from foveal.operations.registry import Operation, plain_result, run_parsed
from foveal.session.arguments import MOST_CHARACTERS
from foveal.session.foveal import Foveal, resources_of
from foveal.session.reports import Run, report, report_failure


def run_in(fov: Foveal, operation: Operation, request: Mapping[str, Any]) -> dict[str, Any]:
    """Run an operation with the settings of a store, and leave its events on the event stream."""
    resources, session = resources_of(fov), _session_of(request)
    began = time.perf_counter()
    try:
        done = run_parsed(operation, request, resources.numbers)
    except FovealError as error:
        report_failure(resources, session, operation.on_failure, error, Run.since(operation.name, began))
        raise
    run = Run.since(operation.name, began, record=operation.record)
    if operation.events:
        report(resources, session, operation.events(done), run)
    return plain_result(operation, done)


def _session_of(request: Mapping[str, Any]) -> str:
    """The session that a request names, even an invalid one."""
    name = request.get("session_id") if isinstance(request, Mapping) else None
    return name if isinstance(name, str) and len(name) <= MOST_CHARACTERS else ""
