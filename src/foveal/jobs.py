"""Jobs in → done in the background, one small unit at a time, when nobody else needs the machine.

What is left to do is read from the store, never from a queue: a process that is killed loses nothing, and
two that do the same do it twice, which changes nothing. There is a thread only while there is work.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

Job = Callable[[], bool]
"""Does one small unit of work and says whether more is left. To do a unit twice must do no harm."""
Fault = Callable[[str, Exception], None]
"""Told the name of a job that failed, and how."""
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """How the worker gives way. All in seconds."""

    quiet: float = 0.2
    """So long after the last call of a person the next unit begins."""
    patience: float = 5.0
    """So long it waits for quiet at most: under steady use the work still goes on, if slowly."""
    parting: float = 5.0
    """So long `close` waits for the unit in hand. One that is cut short changes nothing and is done again."""
    first_retry: float = 1.0
    last_retry: float = 300.0
    """A job that fails waits before it is tried again, twice as long each time, up to this."""


@dataclass(slots=True)
class _State:
    """Where one job stands."""

    waiting: bool = False
    """There may be work."""
    failures: int = 0
    not_before: float = 0.0
    doing: bool = False

    @property
    def open(self) -> bool:
        """Not done yet, and not given up for now."""
        return self.doing or (self.waiting and not self.failures)


class Worker:
    """One background thread for the jobs of a store, started when there is work and gone when there is none.

    >>> left = [1, 2, 3]
    >>> worker = Worker({"count down": lambda: bool(left.pop() and left)}, faults=print)
    >>> worker.drain(10), left
    (True, [])
    """

    def __init__(self, jobs: Mapping[str, Job], *, faults: Fault, pace: Pace | None = None) -> None:
        self._jobs = dict(jobs)
        self._faults = faults
        self._pace = pace or Pace()
        self._states = {name: _State() for name in jobs}
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._busy_until = 0.0
        self._hurried = 0
        self._closing = False

    def wake(self) -> None:
        """There may be work for every job now."""
        with self._changed:
            for state in self._states.values():
                state.waiting = True
            self._start()
            self._changed.notify_all()

    def busy(self) -> None:
        """Somebody is using the store: wait until it is quiet again."""
        self._busy_until = time.monotonic() + self._pace.quiet

    def drain(self, seconds: float) -> bool:
        """Do all there is to do without waiting for quiet. False: some of it failed, or time ran out."""
        deadline = time.monotonic() + seconds
        self.wake()
        with self._changed:
            self._hurried += 1
            self._changed.notify_all()
            try:
                while any(state.open for state in self._states.values()):
                    left = deadline - time.monotonic()
                    if left <= 0 or self._closing:
                        return False
                    self._changed.wait(left)
                return not any(state.failures for state in self._states.values())
            finally:
                self._hurried -= 1

    def close(self) -> None:
        """Finish the unit in hand and stop for good. What is left is done when somebody wakes a worker."""
        with self._changed:
            self._closing = True
            self._changed.notify_all()
            thread = self._thread
        if thread and thread is not threading.current_thread():
            thread.join(self._pace.parting)

    def _start(self) -> None:
        if self._thread is None and self._states and not self._closing:
            self._thread = threading.Thread(target=self._run, name="foveal-worker", daemon=True)
            self._thread.start()

    def _run(self) -> None:
        while name := self._next():
            self._do(name)

    def _next(self) -> str | None:
        """The name of the job whose unit is to be done now, once it is quiet; None: the thread is to end."""
        with self._changed:
            since = time.monotonic()
            while not self._closing and any(state.waiting for state in self._states.values()):
                pause = self._pause(since)
                if pause > 0:
                    self._changed.wait(pause)
                    continue
                now = time.monotonic()
                name = next(
                    n for n, state in self._states.items() if state.waiting and state.not_before <= now
                )
                # To the end of the line: no job starves the others.
                state = self._states[name] = self._states.pop(name)
                state.waiting, state.doing = False, True
                return name
            self._thread = None
            return None

    def _pause(self, since: float) -> float:
        """Seconds until a unit may begin."""
        retry = min(state.not_before for state in self._states.values() if state.waiting)
        quiet = 0.0 if self._hurried else min(self._busy_until, since + self._pace.patience)
        return max(quiet, retry) - time.monotonic()

    def _do(self, name: str) -> None:
        failure: Exception | None = None
        try:
            more = self._jobs[name]()
        except Exception as error:  # noqa: BLE001 — one job that fails, in whatever way, must not stop the others
            more, failure = True, error
        with self._changed:
            state = self._states[name]
            state.waiting, state.doing = state.waiting or more, False
            state.failures = state.failures + 1 if failure else 0
            state.not_before = time.monotonic() + self._retry(state.failures) if failure else 0.0
            self._changed.notify_all()
        if failure:
            self._faults(name, failure)

    def _retry(self, failures: int) -> float:
        return min(self._pace.last_retry, self._pace.first_retry * 2.0 ** min(failures - 1, 30))


class Memo(Generic[T]):
    """Remembers values for some seconds, and only so many: the one not asked for longest goes first."""

    def __init__(self, seconds: float, most: int, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._seconds = seconds
        self._most = most
        self._clock = clock
        self._kept: OrderedDict[str, tuple[float, T]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: str) -> T | None:
        with self._lock:
            until, value = self._kept.pop(key, (0.0, None))
            if value is None or until <= self._clock():
                return None
            self._kept[key] = (until, value)
            return value

    def put(self, key: str, value: T) -> None:
        with self._lock:
            self._kept.pop(key, None)
            self._kept[key] = (self._clock() + self._seconds, value)
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)

    def clear(self) -> None:
        """Forget everything, as when something was erased."""
        with self._lock:
            self._kept.clear()
