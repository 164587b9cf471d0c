"""A terminal of 80 columns with `foveal` on it: type a line, and read what comes until the next prompt."""

from __future__ import annotations

import os
import re
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any

import pytest

from commands import CommandLine

PROMPT = b"> "
PATIENCE = 60.0
STYLE = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]")


class Terminal:
    def __init__(self, process: subprocess.Popen[bytes], ours: int) -> None:
        self.process = process
        self._ours = ours
        self.opening = self.answer()

    def type(self, line: str) -> str:
        """What a line brings, without its echo and the next prompt."""
        self.press(f"{line}\n".encode())
        return self.answer().partition("\n")[2].removesuffix("> ")

    def press(self, keys: bytes) -> None:
        os.write(self._ours, keys)

    def interrupt(self) -> None:
        """As one does who has read the prompt: line editing may miss what comes the moment it appears."""
        time.sleep(1)
        self.process.send_signal(signal.SIGINT)

    def left(self) -> tuple[int, str]:
        """The exit code, and what was said last."""
        said = self._read(lambda _: False)
        return self.process.wait(timeout=PATIENCE), said

    def answer(self) -> str:
        """What is shown until the next prompt."""
        shown = self._read(lambda found: found.endswith(PROMPT))
        assert shown.endswith("> "), shown
        return shown

    def _read(self, enough: Callable[[bytes], bool]) -> str:
        found, deadline = b"", time.monotonic() + PATIENCE
        while time.monotonic() < deadline and not enough(found):
            if select.select([self._ours], [], [], 0.1)[0]:
                try:
                    new = os.read(self._ours, 65_536)
                except OSError:  # the other side is closed
                    break
                if not new:
                    break
                found += new
        return found.decode().replace("\r\n", "\n")


@contextmanager
def terminal(shell: CommandLine, **environment: str) -> Iterator[Terminal]:
    pty = pytest.importorskip("pty")
    ours, theirs = pty.openpty()
    options: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), theirs)
    options["preexec_fn"] = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)  # a job may ignore it
    given = shell.environment(**{"TERM": "dumb", "NO_COLOR": "1", **environment})
    command = [sys.executable, "-m", "foveal.cli"]
    with subprocess.Popen(command, cwd=shell.folder, env=given, start_new_session=True, **options) as process:
        os.close(theirs)
        try:
            yield Terminal(process, ours)
        finally:
            process.kill()
            os.close(ours)


def plain(shown: str) -> str:
    """Without colour."""
    return STYLE.sub("", shown)


@contextmanager
def on_a_terminal(patch: pytest.MonkeyPatch) -> Iterator[list[bytes]]:
    """Stdout and stderr of this process are a terminal; what was printed on it is in the list afterwards."""
    pty = pytest.importorskip("pty")
    ours, theirs = pty.openpty()
    printed: list[bytes] = []

    def collect() -> None:
        with suppress(OSError):  # the other side is closed
            while new := os.read(ours, 65_536):
                printed.append(new)

    reader = threading.Thread(target=collect, daemon=True)
    reader.start()
    with os.fdopen(theirs, "w", encoding="utf-8") as stream:
        patch.setattr(sys, "stdout", stream)
        patch.setattr(sys, "stderr", stream)
        yield printed
    reader.join(PATIENCE)
    os.close(ours)
