"""Parse files in processes that are killed when they do not return in time.

A grammar is third-party C code that runs on unknown files: it may loop or crash, and a thread cannot be
stopped inside C. A file that hangs costs its seconds once; the next file gets a new process (decision 8).
"""

from __future__ import annotations

import atexit
import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from functools import cache
from threading import Lock, Thread

from foveal.sources.code.symbols import Symbols
from foveal.sources.code.worker import READY, encode_request, parse_response

SECONDS = 5.0
"""For one file. The largest that is parsed takes a tenth of that on an idle machine."""
STARTING = 60.0
"""Seconds for a new process to become ready."""
TICK = 0.1
"""Seconds between two checks of the running processes."""
TRIES = 2
"""A process may end for reasons of its own; a file that ends two of them is the cause."""
_CODE = "import sys; sys.path[:] = sys.argv[1:]; from foveal.sources.code.worker import main; main()"


class Parsers:
    """One process per concurrent caller, started when needed and used again.

    Threads may share it. `close` ends the processes; they also end with this one.
    """

    def __init__(self, command: Sequence[str] = (), *, seconds: float = SECONDS) -> None:
        self._command = tuple(command) or _command()
        self._seconds = seconds
        self._watchdog = _Watchdog()
        self._lock = Lock()
        self._idle: list[_Process] = []
        self._owner = os.getpid()

    def symbols(self, text: str, language: str) -> Symbols:
        """What the text defines and uses, or why it was refused; OSError where no process can be started."""
        line = encode_request(text, language)
        for _ in range(TRIES):
            process = self._take()
            reply = self._watchdog.ask(process, line, self._seconds)
            if reply:
                with self._lock:
                    self._idle.append(process)
                return parse_response(reply)
            if process.killed:
                return Symbols(refused=f"parsing it took longer than {self._seconds:g} s", hung=True)
        return Symbols(refused="the parser crashed on it")

    def close(self) -> None:
        with self._lock:
            idle, self._idle = self._idle, []
        # A forked process has the list, but its parent owns the processes.
        for process in idle if os.getpid() == self._owner else ():
            process.end()

    def _take(self) -> _Process:
        with self._lock:
            while self._idle:
                process = self._idle.pop()
                if process.alive:
                    return process
                process.end()
        if not self._command:
            raise OSError("there is no interpreter to run")
        process = _Process(self._command)
        if self._watchdog.ask(process, b"", STARTING) != READY:
            process.end()
            raise OSError(f"{self._command[0]} does not run")
        return process


def shared() -> Parsers:
    """The parsers of this process."""
    return _shared(os.getpid())


@cache
def _shared(_process: int, /) -> Parsers:
    parsers = Parsers()
    atexit.register(parsers.close)
    return parsers


def _command() -> tuple[str, ...]:
    """This interpreter with our modules, without the current folder or the caller's program."""
    if not sys.executable or getattr(sys, "frozen", False):
        return ()  # it would start the caller's program again
    return (sys.executable, "-I", "-c", _CODE, *(path for path in sys.path if path))


class _Process:
    """One process that answers each line with a line, or ends."""

    def __init__(self, command: Sequence[str]) -> None:
        self.killed = False
        self._process = subprocess.Popen(  # noqa: S603 — this interpreter, or what the caller named
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def ask(self, line: bytes) -> bytes:
        """The reply; empty where the process ended or was killed, and cannot be used again."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        reply = b""
        with contextlib.suppress(OSError):
            self._process.stdin.write(line)
            self._process.stdin.flush()
            reply = self._process.stdout.readline()
        if reply.endswith(b"\n"):
            return reply
        self.end()
        return b""

    def kill(self) -> None:
        """End it from another thread; the thread that waits for its reply gets none."""
        self.killed = True
        self._process.kill()

    def end(self) -> None:
        self._process.kill()
        for pipe in (self._process.stdin, self._process.stdout):
            with contextlib.suppress(OSError):  # closing flushes what was never sent
                if pipe is not None:
                    pipe.close()
        self._process.wait()


class _Watchdog:
    """Kills processes that are late, with one thread for all that exists only while some are running."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._due: dict[_Process, float] = {}
        self._watching = False

    def ask(self, process: _Process, line: bytes, seconds: float) -> bytes:
        with self._lock:
            self._due[process] = time.monotonic() + seconds
            if not self._watching:
                self._watching = True
                Thread(target=self._watch_processes, name="foveal-watch", daemon=True).start()
        try:
            return process.ask(line)
        finally:
            with self._lock:
                del self._due[process]

    def _watch_processes(self) -> None:
        while True:
            time.sleep(TICK)
            with self._lock:
                if not self._due:
                    self._watching = False
                    return
                # Under the lock, so that a process which just replied is not killed.
                for process in [each for each, due in self._due.items() if due < time.monotonic()]:
                    process.kill()
