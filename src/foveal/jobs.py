"""Run background jobs, one small unit of work at a time, while no caller is using the store.

Jobs read what is left to do from the store, never from a queue: a process that is killed loses nothing, and
two processes that do the same unit twice change nothing. The thread exists only while there is work, or it is
known when there will be some.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from foveal.errors import StoreDamagedError

Job = Callable[[], "float | None"]
"""Does one small unit of work and returns in how many seconds there will be more: 0 if now, None if never.

Doing a unit twice must be harmless."""
OnError = Callable[[str, Exception], None]
"""Called with the name of a job that failed and its exception."""
T = TypeVar("T")


def soon(*, more: bool) -> float | None:
    """What a job returns that knows only whether more is left: 0 seconds, or None."""
    return 0.0 if more else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """How the worker yields to callers. All values are in seconds."""

    quiet: float = 0.2
    """How long after the last call of a user the next unit starts."""
    patience: float = 5.0
    """The longest wait for quiet: under constant use the work still goes on, slowly."""
    close_timeout: float = 5.0
    """How long `close` waits for the running unit. A unit that is cut off changes nothing and is repeated."""
    first_retry: float = 1.0
    last_retry: float = 300.0
    """A job that fails waits before the next attempt, twice as long each time, up to this."""


@dataclass(slots=True)
class _State:
    """The state of one job."""

    waiting: bool = False
    """There may be work."""
    failures: int = 0
    not_before: float = 0.0
    running: bool = False
    later: bool = False
    """The next unit is not due yet."""
    damaged: bool = False
    """The last unit found the store damaged: another attempt would find the same."""

    @property
    def open(self) -> bool:
        """Still to be done now, and not waiting for a retry."""
        return self.running or (self.waiting and not self.failures and not self.later)


class Worker:
    """One background thread for the jobs of a store: it starts with work and ends when there is none.

    >>> left = [1, 2, 3]
    >>> worker = Worker({"count down": lambda: 0.0 if left.pop() > 1 else None}, on_error=print)
    >>> worker.drain(10), left
    (True, [])
    """

    def __init__(self, jobs: Mapping[str, Job], *, on_error: OnError, pace: Pace | None = None) -> None:
        self._jobs = dict(jobs)
        self._on_error = on_error
        self._pace = pace or Pace()
        self._states = {name: _State() for name in jobs}
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._busy_until = 0.0
        self._draining = 0
        self._closing = False

    def wake(self, *names: str) -> None:
        """Check these jobs for work, by default every job, in the background."""
        with self._changed:
            for name in names or self._states:
                state = self._states[name]
                state.waiting = True
                if state.later:
                    state.later, state.not_before = False, 0.0
            self._start()
            self._changed.notify_all()

    def busy(self) -> None:
        """Record that a caller is using the store: the worker waits until it is quiet again."""
        if threading.current_thread() is not self._thread:
            self._busy_until = time.monotonic() + self._pace.quiet

    @property
    def quiet(self) -> bool:
        """Whether no caller has just used the store. Waiting for the work itself does not count as use."""
        return bool(self._draining) or time.monotonic() >= self._busy_until

    def drain(self, seconds: float) -> bool:
        """Do all the work without waiting for quiet; False if some of it failed or time ran out.

        A damaged store ends it at once.
        """
        deadline = time.monotonic() + seconds
        self.wake()
        with self._changed:
            self._draining += 1
            self._changed.notify_all()
            try:
                while any(state.open for state in self._states.values()):
                    left = deadline - time.monotonic()
                    damaged = any(state.damaged for state in self._states.values())
                    if left <= 0 or self._closing or damaged:
                        return False
                    self._changed.wait(left)
                return not any(state.failures for state in self._states.values())
            finally:
                self._draining -= 1

    def close(self) -> None:
        """Finish the running unit and stop for good. What is left waits for the next worker."""
        with self._changed:
            self._closing = True
            self._changed.notify_all()
            thread = self._thread
        if thread and thread is not threading.current_thread():
            thread.join(self._pace.close_timeout)

    def _start(self) -> None:
        if self._thread is None and self._states and not self._closing:
            self._thread = threading.Thread(target=self._run, name="foveal-worker", daemon=True)
            self._thread.start()

    def _run(self) -> None:
        while name := self._next():
            self._do(name)

    def _next(self) -> str | None:
        """Wait for quiet, then return the job whose turn it is; None when the thread should end."""
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
                # To the end of the queue: no job starves the others.
                state = self._states[name] = self._states.pop(name)
                state.waiting, state.later, state.running = False, False, True
                return name
            self._thread = None
            return None

    def _pause(self, since: float) -> float:
        """Seconds until a unit may start."""
        retry = min(state.not_before for state in self._states.values() if state.waiting)
        patient = max(since, retry) + self._pace.patience
        quiet = 0.0 if self._draining else min(self._busy_until, patient)
        return max(quiet, retry) - time.monotonic()

    def _do(self, name: str) -> None:
        failure: Exception | None = None
        seconds: float | None
        try:
            seconds = self._jobs[name]()
        except Exception as error:  # noqa: BLE001 — a job that fails, however, must not stop the others
            seconds, failure = 0.0, error
        with self._changed:
            state = self._states[name]
            # Where it was woken meanwhile, more is left now.
            rest = 0.0 if state.waiting or seconds is None else seconds
            state.later = rest > 0
            state.waiting, state.running = state.waiting or seconds is not None, False
            state.failures = state.failures + 1 if failure else 0
            state.damaged = isinstance(failure, StoreDamagedError)
            pause = self._retry(state.failures) if failure else rest
            state.not_before = time.monotonic() + pause if pause else 0.0
            self._changed.notify_all()
        if failure:
            self._on_error(name, failure)

    def _retry(self, failures: int) -> float:
        return min(self._pace.last_retry, self._pace.first_retry * 2.0 ** min(failures - 1, 30))


class Memo(Generic[T]):
    """A cache whose values expire after some seconds; over `most` values, the least recently used goes."""

    def __init__(self, seconds: float, most: int, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._seconds = seconds
        self._most = most
        self._clock = clock
        self._kept: OrderedDict[str | bytes, tuple[float, T]] = OrderedDict()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._kept)

    def get(self, key: str | bytes) -> T | None:
        return self.get_all([key])[0]

    def get_all(self, keys: Sequence[str | bytes]) -> list[T | None]:
        """The values of all these keys; one lock for many is much faster than one for each."""
        with self._lock:
            now, kept = self._clock(), self._kept
            found: list[T | None] = []
            for key in keys:
                until, value = kept.get(key, (0.0, None))
                if value is None or until <= now:
                    kept.pop(key, None)
                    found.append(None)
                else:
                    kept.move_to_end(key)
                    found.append(value)
            return found

    def put(self, key: str | bytes, value: T) -> None:
        with self._lock:
            self._kept.pop(key, None)
            self._kept[key] = (self._clock() + self._seconds, value)
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)

    def clear(self) -> None:
        """Forget everything, for instance when a message was erased."""
        with self._lock:
            self._kept.clear()
