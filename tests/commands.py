"""How the tests run the command line: through its entry point, in a folder of its own, on streams of its own.

A process takes half a second, so only a test of what a process alone can show starts one.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import Any

import pytest

from foveal import Foveal
from foveal.cli import main

HOMES = ("HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME")


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        assert self.code == 0, self.err
        return json.loads(self.out)


class _Terminal(BytesIO):
    def isatty(self) -> bool:
        return True


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandLine:
    """A folder with a home and a store; `foveal` runs there."""

    folder: Path

    @property
    def store(self) -> Path:
        return self.folder / "store.db"

    def environment(self, **more: str) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("FOVEAL_")}
        home = dict.fromkeys(HOMES, str(self.folder / "home"))
        return {**kept, **home, "FOVEAL_STORE": str(self.store), "COLUMNS": "80", **more}

    def foveal(
        self, *arguments: str | bytes, stdin: str | bytes = b"", terminal: bool = False, **environment: str
    ) -> Done:
        """The `foveal` command, run to its exit in this process; `terminal`: what it reads is typed."""
        given = stdin.encode() if isinstance(stdin, str) else stdin
        kind = _Terminal if terminal else BytesIO
        streams = {"stdin": kind(given), "stdout": kind(), "stderr": kind()}
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(self.folder)
            _exchange(patch, self.environment(**environment))
            code = called(patch, *arguments, **streams)
            out, err = (streams[name].getvalue().decode() for name in ("stdout", "stderr"))
            return Done(code=code, out=out, err=err)

    def process(self, *arguments: str, **environment: str) -> Done:
        """The same in a process of its own."""
        command = [sys.executable, "-m", "foveal.cli", *arguments]
        given = self.environment(**environment)
        done = subprocess.run(command, cwd=self.folder, env=given, check=False, capture_output=True)
        return Done(code=done.returncode, out=done.stdout.decode(), err=done.stderr.decode())

    def fill(self, *messages: object, session: str = "default") -> tuple[str, ...]:
        """Put messages into the store through the library, which takes less time than a process."""
        with Foveal(self.store) as fov:
            return fov.session(session).extend(list(messages))

    def history(self, session: str = "default") -> list[Any]:
        """What the store holds."""
        with Foveal(self.store) as fov:
            return fov.session(session).export()

    def write(self, name: str, content: object) -> str:
        """A file with that JSON, or that text."""
        text = content if isinstance(content, str) else json.dumps(content)
        (self.folder / name).write_text(text, encoding="utf-8")
        return name


def called(patch: pytest.MonkeyPatch, *arguments: str | bytes, **streams: BytesIO) -> int:
    """The exit code of the `foveal` command, run in this process on these streams."""
    patch.setattr(sys, "argv", ["foveal", *map(os.fsdecode, arguments)])
    for name, stream in streams.items():
        patch.setattr(sys, name, TextIOWrapper(stream, encoding="utf-8", write_through=True))
    with pytest.raises(SystemExit) as exited:
        main()
    code = exited.value.code or 0
    assert isinstance(code, int)
    return code


def _exchange(patch: pytest.MonkeyPatch, environment: Mapping[str, str]) -> None:
    """Have this environment alone; what is started from here inherits it."""
    for name in os.environ.keys() - environment.keys():
        patch.delenv(name)
    for name, value in environment.items():
        patch.setenv(name, value)
