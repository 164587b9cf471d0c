"""Run long requests in worker processes, so that no other request waits for the processor or the store.

A process serves one job at a time. Each tenant has a lane for searches, one for large bodies and one for
everything else, and a lane runs one job at a time. A tenant that runs nothing gets a process beyond the usual
number, so that it does not wait for others. A job that is cancelled is stopped by killing its process; SQLite
undoes what was not committed.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import sys
from asyncio.subprocess import PIPE, Process
from collections import OrderedDict, deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress

from pydantic import TypeAdapter

from foveal.server.problems import Problem, internal
from foveal.server.tenants import Setup
from foveal.server.workers.frames import LINE_MOST, Answer, Job

SLOTS = max(4, os.cpu_count() or 1)
"""Processes at once. Their priority is low: more of them than processors delay no short request."""
SLOTS_MOST = 4 * SLOTS
"""Processes at once if each runs the first job of a tenant."""
WAITING_MOST = 32
"""Requests that wait in one lane; further ones are refused."""
IDLE = 120.0
"""Seconds after which a process without a job ends."""
COMMAND = (sys.executable, "-P", "-m", "foveal.server.workers.child")
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "RAYON_NUM_THREADS": "1"}
"""A worker computes with one thread: the other processors belong to the service."""
Lane = tuple[str, str]
"""A tenant, and the kind of its requests."""
Progress = Callable[[int, int], None]
"""Called with the number of steps done, and of all, 0 if unknown."""
_log = logging.getLogger(__name__)


class Worker:
    """One process, from its start to its end."""

    def __init__(self, process: Process) -> None:
        self._process = process
        self.lane: Lane = ("", "")
        """Of its last job: the sessions of that tenant are in its memory."""

    @classmethod
    async def start(cls, setup: Setup) -> Worker:
        # A group of its own: Ctrl-C in a terminal stops the server, which then ends its workers. It is not a
        # session of its own, which Linux would schedule like all processes of the server's session together.
        process = await asyncio.create_subprocess_exec(
            *COMMAND,
            stdin=PIPE,
            stdout=PIPE,
            limit=LINE_MOST,
            process_group=0,
            env={**environment(setup), **ONE_THREAD},
        )
        worker = cls(process)
        content = TypeAdapter(Setup).dump_json(setup)
        worker._write(f"{len(content)}\n".encode() + content)
        return worker

    async def run(self, job: Job, progress: Progress) -> Answer:
        """Run one job; raises `EOFError` if the process ends first."""
        stream = self._process.stdout
        assert stream is not None
        self._write(job.packed())
        while line := await stream.readline():
            head = json.loads(line)
            if "status" in head:
                body = await stream.readexactly(head.pop("size"))
                return Answer(**head, body=body)
            progress(head["done"], head["of"])
        raise EOFError("the worker process ended")

    def _write(self, data: bytes) -> None:
        # Not waited for: the pipe's buffer takes it, and a process that ended is noticed when reading.
        assert self._process.stdin is not None
        self._process.stdin.write(data)

    def kill(self) -> None:
        with suppress(ProcessLookupError):
            self._process.kill()

    @property
    def ended(self) -> bool:
        return self._process.returncode is not None

    async def wait(self) -> None:
        await self._process.wait()


def environment(setup: Setup) -> dict[str, str]:
    """The variables of the service but its tokens: a worker checks no token."""
    serving = setup.serving
    return {
        name: value
        for name, value in os.environ.items()
        if not serving.reads_metrics(value.strip()) and serving.tenant_of(value.strip()) is None
    }


class Pool:
    """The worker processes of a service; each is started when it is needed."""

    def __init__(
        self, setup: Setup, *, slots: int = SLOTS, most: int = SLOTS_MOST, idle: float = IDLE
    ) -> None:
        self._setup = setup
        self._slots, self._most = slots, most
        self._idle_seconds = idle
        self._idle: list[Worker] = []
        self._all: set[Worker] = set()
        self._running: set[Lane] = set()
        self._waiting: OrderedDict[Lane, deque[asyncio.Future[None]]] = OrderedDict()
        self._timer: asyncio.TimerHandle | None = None

    async def run(self, job: Job, lane: Lane, progress: Progress) -> Answer:
        """Run a job when it is its lane's turn. Cancelling this stops the job."""
        async with self._turn(lane):
            worker = await self._worker(lane)
            try:
                answer = await worker.run(job, progress)
            except (EOFError, asyncio.IncompleteReadError, OSError) as error:
                self._end(worker)
                _log.error("a worker process ended while it ran %s %s", job.method, job.path)
                raise internal() from error
            except BaseException:
                self._end(worker)
                raise
            if answer.last:
                self._end(worker)
            else:
                self._idle.append(worker)
                self._end_idle_later()
            return answer

    async def close(self) -> None:
        """End every process."""
        if self._timer:
            self._timer.cancel()
        workers = list(self._all)
        for worker in workers:
            worker.kill()
        await asyncio.gather(*(worker.wait() for worker in workers))

    @asynccontextmanager
    async def _turn(self, lane: Lane) -> AsyncIterator[None]:
        """Hold a slot. Lanes take turns; within one, the first request that came is the first that runs."""
        queue = self._waiting.setdefault(lane, deque())
        if len(queue) >= WAITING_MOST:
            raise Problem(
                "busy",
                f"{len(queue)} long requests are waiting already",
                "retry when one of them is done",
                headers={"retry-after": "5"},
            )
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        queue.append(turn)
        self._next()
        try:
            await turn
            yield
        finally:
            if turn.done() and not turn.cancelled():
                self._running.discard(lane)
                if lane in self._waiting:
                    self._waiting.move_to_end(lane)
            elif turn in queue:
                queue.remove(turn)
            self._next()

    def _next(self) -> None:
        for lane in list(self._waiting):
            queue = self._waiting[lane]
            while queue and queue[0].done():  # cancelled; its task learns of it later
                queue.popleft()
            if not queue:
                del self._waiting[lane]
            elif self._has_slot(lane):
                self._running.add(lane)
                queue.popleft().set_result(None)

    def _has_slot(self, lane: Lane) -> bool:
        """Whether a lane may run a job now; the first job of a tenant may be one more than usual."""
        first = all(tenant != lane[0] for tenant, _ in self._running)
        return lane not in self._running and len(self._running) < (self._most if first else self._slots)

    async def _worker(self, lane: Lane) -> Worker:
        """The idle process of this lane, else a new one; that of another lane if there are all that may be.

        Whose jobs are cancelled loses its own processes, not those that have others' sessions in memory.
        """
        self._all = {worker for worker in self._all if not worker.ended}
        self._idle = [worker for worker in self._idle if not worker.ended]
        known = [worker for worker in self._idle if worker.lane == lane]
        worker = next(iter(known or self._idle), None)
        if worker is None or (not known and len(self._all) < self._slots):
            try:
                worker = await Worker.start(self._setup)
            except OSError as error:
                _log.error("a worker process cannot be started: %s", error.strerror or type(error).__name__)
                raise internal() from error
            self._all.add(worker)
        else:
            self._idle.remove(worker)
        worker.lane = lane
        return worker

    def _end(self, worker: Worker) -> None:
        worker.kill()
        self._all.discard(worker)

    def _end_idle_later(self) -> None:
        if self._timer:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_later(self._idle_seconds, self._end_idle)

    def _end_idle(self) -> None:
        idle, self._idle = self._idle, []
        for worker in idle:
            self._end(worker)
