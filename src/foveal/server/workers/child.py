"""Run the jobs of one worker process: read them from stdin, write progress and responses to stdout.

The process ends when its input ends, so none is left when the service was killed. It has a low priority and
a bound on its memory.
"""

from __future__ import annotations

import asyncio
import gc
import os
import sys
import threading
import time
from contextlib import suppress
from typing import BinaryIO

from pydantic import TypeAdapter
from starlette.types import ASGIApp, Message, Scope

from foveal.server.api import end, received
from foveal.server.app import bare_app
from foveal.server.logs import log_to_stderr
from foveal.server.middleware.access import TENANT
from foveal.server.middleware.limits import log_error
from foveal.server.middleware.metrics import resident
from foveal.server.problems import internal
from foveal.server.tenants import Setup
from foveal.server.workers.frames import Answer, Job, packed, read_job
from foveal.server.workers.route import PROGRESS

PRIORITY = 10
"""Added to the niceness of the service."""
ADDRESSES_MOST = 8 * 2**30
"""Bytes of address space; a job that needs more fails."""
RESIDENT_MOST = 512 * 2**20
"""Bytes after which a process ends with its job, and a new one takes its place."""
JOBS_MOST = 500
"""Jobs of one process."""
OFTEN = 0.1
"""The least seconds between two reports of progress."""


class Runner:
    """Runs jobs one after the other."""

    def __init__(self, app: ASGIApp, out: BinaryIO) -> None:
        self._app = app
        self._out = out
        self._jobs = 0
        self._reported = 0.0

    async def run(self, job: Job) -> bool:
        """Run one job and write its response; returns whether the process takes more."""
        self._reported = time.monotonic()
        status, headers, body = await self._respond(job)
        gc.collect(0)
        self._jobs += 1
        last = self._jobs >= JOBS_MOST or resident() > RESIDENT_MOST
        self._write(Answer(status=status, headers=headers, body=body, last=last).packed())
        return not last

    async def _respond(self, job: Job) -> tuple[int, dict[str, str], bytes]:
        parts: list[bytes] = []
        start: Message = {}

        async def send(message: Message) -> None:
            nonlocal start
            if message["type"] == "http.response.start":
                start = message
            else:
                parts.append(message.get("body", b""))

        scope = {**_scope(job), PROGRESS: self._report}
        never = asyncio.Event()  # the client's end is the end of this process
        try:
            await self._app(scope, received(job.body, end(never)), send)
        except Exception as error:  # noqa: BLE001 — no internals may reach a client
            log_error(error, scope)
            failed = internal().response()
            return failed.status_code, {"content-type": failed.headers["content-type"]}, bytes(failed.body)
        pairs = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in start["headers"]]
        headers = {name: value for name, value in pairs if name != "content-length"}
        return start["status"], headers, b"".join(parts)

    def _report(self, done: int, of: int) -> None:
        now = time.monotonic()
        if now - self._reported >= OFTEN:
            self._reported = now
            self._write(packed({"done": done, "of": of}))

    def _write(self, data: bytes) -> None:
        try:
            self._out.write(data)
            self._out.flush()
        except OSError:  # the service is gone
            os._exit(0)


def _scope(job: Job) -> Scope:
    return {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "method": job.method,
        "scheme": "http",
        "path": job.path,
        "raw_path": job.path.encode(),
        "query_string": job.query.encode("latin-1"),
        "root_path": "",
        "headers": [(name.encode("latin-1"), value.encode("latin-1")) for name, value in job.headers],
        "client": None,
        "server": None,
        TENANT: job.tenant,
    }


async def _serve(setup: Setup, source: BinaryIO, out: BinaryIO) -> None:
    app, loop = bare_app(setup, worker=True), asyncio.get_running_loop()
    jobs: asyncio.Queue[Job] = asyncio.Queue()

    def read() -> None:
        while job := read_job(source):
            loop.call_soon_threadsafe(jobs.put_nowait, job)
        os._exit(0)  # in the middle of a job, too: the service is gone

    async with app.router.lifespan_context(app):
        threading.Thread(target=read, daemon=True).start()
        runner = Runner(app, out)
        while await runner.run(await jobs.get()):
            pass
    os._exit(0)


def _limited() -> None:
    """Give way to the service, and fail before the machine runs out of memory."""
    with suppress(AttributeError, OSError):
        os.nice(PRIORITY)
    with suppress(ImportError, OSError, ValueError):
        import resource

        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        most = ADDRESSES_MOST if hard == resource.RLIM_INFINITY else min(hard, ADDRESSES_MOST)
        resource.setrlimit(resource.RLIMIT_AS, (most, hard))


def main() -> None:
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints must not mix with the frames
    _limited()
    log_to_stderr()
    source = sys.stdin.buffer
    setup = TypeAdapter(Setup).validate_json(source.read(int(source.readline())))
    asyncio.run(_serve(setup, source, out))


if __name__ == "__main__":
    main()
