"""How the tests run the command line: as a process of its own, in a folder of its own.

A process takes a third of a second, so what a test is not about is done through the library.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from foveal import Foveal

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """A folder with a home and a store; `foveal` runs there."""

    folder: Path

    @property
    def store(self) -> Path:
        return self.folder / "store.db"

    def environment(self, **more: str) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("FOVEAL_")}
        home = dict.fromkeys(HOMES, str(self.folder / "home"))
        return {**kept, **home, "FOVEAL_STORE": str(self.store), "COLUMNS": "80", **more}

    def foveal(self, *arguments: str | bytes, stdin: str | bytes = b"", **environment: str) -> Done:
        given = stdin.encode() if isinstance(stdin, str) else stdin
        command = [sys.executable, "-m", "foveal.cli", *arguments]
        done = subprocess.run(
            command, cwd=self.folder, env=self.environment(**environment), input=given,
            check=False, capture_output=True,
        )  # fmt: skip
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
