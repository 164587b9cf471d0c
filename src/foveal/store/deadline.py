"""Say until when queries may run: a request sets its deadline, and the store stops its queries after it.

A change that has begun is completed: only reading stops. Where no deadline is set, nothing is stopped.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar


class Deadline:
    """When the work of one caller has to end; another thread may end it earlier."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._end = time.monotonic() + seconds
        self._stopped = False

    def stop(self) -> None:
        """End it now: the client is gone."""
        self._stopped = True

    @property
    def passed(self) -> bool:
        return self._stopped or time.monotonic() > self._end


_current: ContextVar[Deadline | None] = ContextVar("foveal_deadline", default=None)


def current_deadline() -> Deadline | None:
    return _current.get()


@contextmanager
def within(deadline: Deadline) -> Iterator[None]:
    """Stop the queries of this context after the deadline; a plain thread that it starts has none."""
    token = _current.set(deadline)
    try:
        yield
    finally:
        _current.reset(token)


def unlimited() -> Deadline:
    """For maintenance, which reads everything."""
    return Deadline(math.inf)
