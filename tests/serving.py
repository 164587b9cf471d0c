"""How the tests run the service: as a process of its own on a free port, spoken to over real connections."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

API = "/api/v1"
HOMES = ("HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME")


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """A service that runs, and somebody who speaks to it."""

    address: str
    client: httpx.Client
    process: subprocess.Popen[str]
    store: Path

    def get(self, path: str, **parameters: Any) -> Any:
        return told(self.client.get(API + path, params=parameters))

    def post(self, path: str, body: Any = None) -> Any:
        return told(self.client.post(API + path, json={} if body is None else body))

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


def told(answer: httpx.Response) -> Any:
    assert answer.is_success, answer.text
    return answer.json()


@contextmanager
def served(folder: Path, *arguments: str, token: str = "", **environment: str) -> Iterator[Served]:
    """`foveal serve` in a folder, until the block ends."""
    store = folder / "store.db"
    kept = {name: value for name, value in os.environ.items() if not name.startswith("FOVEAL_")}
    homes = dict.fromkeys(HOMES, str(folder / "home"))
    command = [sys.executable, "-m", "foveal.cli", "serve", "--port", "0", *arguments]
    process = subprocess.Popen(
        command, cwd=folder, stderr=subprocess.PIPE, text=True,
        env={**kept, **homes, "FOVEAL_STORE": str(store), **environment},
    )  # fmt: skip
    headers = {"authorization": f"Bearer {token}"} if token else {}
    try:
        address = _address(process)
        with httpx.Client(base_url=address, headers=headers, timeout=60) as client:
            yield Served(address=address, client=client, process=process, store=store)
    finally:
        process.terminate()
        process.communicate(timeout=30)


def _address(process: subprocess.Popen[str]) -> str:
    assert process.stderr is not None
    said = []
    for line in process.stderr:
        said.append(line)
        if "listening on " in line:
            return line.partition("listening on ")[2].split()[0]
    raise AssertionError(f"it did not start: {''.join(said)}")
