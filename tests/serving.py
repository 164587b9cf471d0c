"""How the tests run the service: as a process of its own on a free port, spoken to over real connections."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

API = "/api/v1"
HOMES = ("HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME")


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """A running service and a client for it."""

    address: str
    client: httpx.Client
    process: subprocess.Popen[str]
    store: Path
    said: Path
    """What it writes on stderr."""

    def get(self, path: str, **parameters: Any) -> Any:
        return json_of(self.client.get(API + path, params=parameters))

    def post(self, path: str, body: Any = None) -> Any:
        return json_of(self.client.post(API + path, json={} if body is None else body))

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


def json_of(answer: httpx.Response) -> Any:
    assert answer.is_success, answer.text
    return answer.json()


@contextmanager
def served(
    folder: Path, *arguments: str, token: str = "", command: Sequence[str] = (), **environment: str
) -> Iterator[Served]:
    """`foveal serve` in a folder, until the block ends."""
    store = folder / "store.db"
    kept = {name: value for name, value in os.environ.items() if not name.startswith("FOVEAL_")}
    homes = dict.fromkeys(HOMES, str(folder / "home"))
    command = command or [sys.executable, "-m", "foveal.cli", "serve", "--port", "0", *arguments]
    said = folder / f"said-{time.monotonic_ns()}.txt"  # not a pipe: who writes to a full one waits
    with said.open("w", encoding="utf-8") as file:
        process = subprocess.Popen(
            command, cwd=folder, stderr=file, text=True,
            env={**kept, **homes, "FOVEAL_STORE": str(store), **environment},
        )  # fmt: skip
    headers = {"authorization": f"Bearer {token}"} if token else {}
    try:
        address = _address(process, said)
        with httpx.Client(base_url=address, headers=headers, timeout=60) as client:
            yield Served(address=address, client=client, process=process, store=store, said=said)
    finally:
        process.terminate()
        process.wait(timeout=30)


def _address(process: subprocess.Popen[str], said: Path) -> str:
    while (found := re.search(r"listening on (\S+) ", said.read_text(encoding="utf-8"))) is None:
        if process.poll() is not None:
            raise AssertionError(f"it did not start: {said.read_text(encoding='utf-8')}")
        time.sleep(0.02)
    return found[1]
