"""Measure what one tenant's heaviest requests and stalled clients cost everybody else.

    python benchmarks/isolation.py [--json FILE] [--seconds 30] [--sessions 50] [--listeners 200]
                                   [--messages 20000] [--slow 1100]

Listeners follow the event stream while sessions take a turn of messages and build a window, again and again,
at a steady rate. First without and then with a client that asks `why`, `compare` and the worst search on a
long session, all the time and at once. Last, clients that send half of a request's head and wait. A probe
asks `/health` every 20 ms, each time on a new connection. Load and probe are processes of their own; the
service may open 1,024 files.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path

import foveal
from measure import commit, installed
from service import API, BUDGET, PACKAGES, Line, Listener, _request, _spread, started, turn

LONG = "long"
FILES = 1024
PAUSE = 2.0
"""Seconds between two turns of one session."""
METHOD = (
    f"one service with {FILES} files, one store; each session takes a turn of 6 messages and builds a window "
    f"of {BUDGET} tokens about every {PAUSE:g} s; the heavy client has three connections that ask why, "
    "compare and a search of 10,000 characters of known words without a pause; all phases in one run; "
    "machine_load is the load average of one minute, others' work included"
)


def filled(store: Path, messages: int) -> None:
    """A long session with a window, as imports make it."""
    dice = random.Random(1)
    words = [f"word{each}" for each in range(2_000)]
    with foveal.Foveal(store) as fov:
        session = fov.session(LONG, model="gpt-5")
        for start in range(0, messages, 1_000):
            batch = [each for at in range(start, start + 1_000, 20) for each in turn(LONG, at, 20)]
            for each in batch:
                if "content" in each:
                    each["content"] = f"{each['content']} {' '.join(dice.choices(words, k=30))}"
            session.extend(batch)
        session.build(budget=BUDGET)


class Load:
    """Everything that happens beside the measurement, in one process."""

    def __init__(self, port: int, given: argparse.Namespace) -> None:
        self.port, self.given = port, given
        self.builds: list[float] = []
        self.failed = 0
        self.answered: dict[str, list[float]] = {"why": [], "compare": [], "search": []}

    async def session(self, number: int) -> None:
        dice, start = random.Random(number), 0
        await asyncio.sleep(dice.uniform(0, PAUSE))
        async with Line(self.port) as line:
            while True:
                place = f"{API}/sessions/s{number}"
                body = {"messages": turn(f"s{number}", start, 6), "format": "openai"}
                status, _ = await line.ask("POST", f"{place}/messages/import", body)
                self.failed += status >= 300
                began = time.perf_counter()
                status, _ = await line.ask("POST", f"{place}/build", {"budget": BUDGET, "model": "gpt-5"})
                self.builds.append(1000 * (time.perf_counter() - began))
                self.failed += status >= 300
                start += 6
                await asyncio.sleep(dice.uniform(0.5, 1.5) * PAUSE)

    async def heavy(self, name: str, method: str, path: str, body: object = None) -> None:
        async with Line(self.port) as line:
            while True:
                began = time.perf_counter()
                status, _ = await line.ask(method, path, body)
                self.failed += status not in (200, 504)
                self.answered[name].append(1000 * (time.perf_counter() - began))

    async def slow(self) -> None:
        """Half a head, and no more; again whenever the service hangs up."""
        while True:
            with suppress(OSError, asyncio.IncompleteReadError):
                reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
                writer.write(_request("GET", "/health")[:-4])
                await reader.read(1)
                writer.close()
            await asyncio.sleep(random.uniform(1, 10))

    def heavies(self) -> list[Callable[[], Awaitable[None]]]:
        place, words = f"{API}/sessions/{LONG}", "+".join(f"word{each}" for each in range(1_100))[:9_990]
        middle = self.given.messages // 2
        return [
            lambda: self.heavy("why", "GET", f"{place}/why/m{middle}"),
            lambda: self.heavy("compare", "POST", f"{place}/compare", {"budget": BUDGET}),
            lambda: self.heavy("search", "GET", f"{place}/search?limit=1000&query={words}"),
        ]

    async def phase(self, beside: list[Callable[[], Awaitable[None]]]) -> dict[str, object]:
        """Measure for some seconds, with more tasks beside the usual ones."""
        tasks = [asyncio.ensure_future(each()) for each in beside]
        await asyncio.sleep(5 if beside else 0)
        self.builds, self.failed = [], 0
        self.answered = {name: [] for name in self.answered}
        before = os.getloadavg()[0]
        command = [sys.executable, __file__, "--probe", str(self.port), "--seconds", str(self.given.seconds)]
        probe = await asyncio.create_subprocess_exec(*command, stdout=subprocess.PIPE)
        health = json.loads((await probe.communicate())[0])
        found = {"health": health, "builds": _spread(self.builds), "failed": self.failed}
        heavy = {name: _spread(times) for name, times in self.answered.items() if times}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        return {**found, **heavy, "machine_load": [before, os.getloadavg()[0]]}

    async def run(self) -> dict[str, object]:
        listeners = [Listener(self.port, random.Random(each)) for each in range(self.given.listeners)]
        usual: list[Awaitable[None]] = [each.run() for each in listeners]
        usual += [self.session(number) for number in range(self.given.sessions)]
        tasks = [asyncio.ensure_future(each) for each in usual]
        await asyncio.sleep(15)  # listeners arrive within five seconds, and first windows cost more
        found = {
            "without": await self.phase([]),
            "with_heavy_client": await self.phase(self.heavies()),
            "with_slow_clients": await self.phase([self.slow] * self.given.slow),
        }
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        return found


async def probed(port: int, seconds: float) -> dict[str, object]:
    """How long `/health` takes, asked in turns on a new connection each time."""
    waits, failed = list[float](), 0
    until = time.perf_counter() + seconds
    while (began := time.perf_counter()) < until:
        try:
            async with asyncio.timeout(10), Line(port) as line:
                status, _ = await line.ask("GET", "/health")
        except (OSError, TimeoutError, asyncio.IncompleteReadError):
            status = 599
        failed += status != 200
        waits.append(1000 * (time.perf_counter() - began))
        await asyncio.sleep(0.02)
    return {**_spread(waits), "failed": failed}


async def measured(given: argparse.Namespace) -> dict[str, object]:
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "store.db"
        await asyncio.to_thread(filled, store, given.messages)
        foveal = [sys.executable, "-m", "foveal.cli", "--store", str(store), "serve", "--port", "0"]
        command = ["sh", "-c", f'ulimit -n {FILES}; exec "$@"', "sh", *foveal]
        async with started(command) as port:
            load = [sys.executable, __file__, "--port", str(port), *sys.argv[1:]]
            done = await asyncio.to_thread(
                subprocess.run, load, check=True, text=True, stdout=subprocess.PIPE
            )
    found = json.loads(done.stdout)
    ratio = found["with_heavy_client"]["builds"]["p99_ms"] / found["without"]["builds"]["p99_ms"]
    sizes = {name: getattr(given, name) for name in ("sessions", "listeners", "messages", "slow", "seconds")}
    return {
        "method": METHOD,
        "commit": commit(),
        "versions": {"python": platform.python_version(), **{name: installed(name) for name in PACKAGES}},
        "cores": os.cpu_count(),
        **sizes,
        "health_p99_ms": found["with_heavy_client"]["health"]["p99_ms"],
        "builds_p99_ratio": round(ratio, 2),
        **found,
    }


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", type=Path)
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--sessions", type=int, default=50)
    parser.add_argument("--listeners", type=int, default=200)
    parser.add_argument("--messages", type=int, default=20_000)
    parser.add_argument("--slow", type=int, default=1_100)
    parser.add_argument("--port", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--probe", type=int, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.probe:
        print(json.dumps(asyncio.run(probed(given.probe, given.seconds))))
        return 0
    if given.port:
        _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 8_192), hard))
        print(json.dumps(asyncio.run(Load(given.port, given).run())))
        return 0
    found = asyncio.run(measured(given))
    for name, value in found.items():
        print(f"{name:20} {value}")
    if given.json:
        given.json.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
