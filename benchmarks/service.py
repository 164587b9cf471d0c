"""Load the service from another process, and measure lost data, latency and memory.

    python benchmarks/service.py [--json FILE] [--sessions 50] [--messages 2000] [--listeners 200]
                                 [--requests 30000]

Sessions are filled concurrently, as agents do it: a turn of messages, then a window. Meanwhile a third
process requests `/health` every 20 ms, and a bare FastAPI echo that has nothing else to do: the latency of
that one is the machine's. Listeners follow the event stream, disconnect and come back with `Last-Event-ID`.
Then it measures the resident memory over many mixed requests, and requests per second compared with the echo.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import random
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from measure import commit, installed

API = "/api/v1"
TURN = 20
"""Messages that come at once, most of them calls of tools and their results; then a window is built."""
BUDGET = 8_000
CONNECTIONS = 16
PACKAGES = ("fastapi", "starlette", "uvicorn", "h11")
METHOD = (
    f"a service and a store of its own; each session takes turns of {TURN} messages and builds a window of "
    f"{BUDGET} tokens after each; load, listeners, probe of /health and service are processes of their own; "
    "the idle echo is a bare FastAPI service that is asked in turns with /health, so its waits are the "
    "machine's; machine_load is the load average of one minute, others' work included"
)
ECHO = """
import socket, uvicorn
from fastapi import FastAPI
from typing import Any
app = FastAPI()
@app.post("/echo")
def echo(body: dict[str, Any]) -> dict[str, Any]:
    return body
place = socket.socket(proto=socket.IPPROTO_TCP); place.bind(("127.0.0.1", 0)); place.listen(512)
import sys; print(f"listening on http://127.0.0.1:{place.getsockname()[1]} ", file=sys.stderr, flush=True)
uvicorn.Server(uvicorn.Config(app, log_level="warning")).run(sockets=[place])
"""


class Line:
    """One connection that is kept; a client that costs little beside what it measures."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._ends: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(self, method: str, path: str, body: object = None) -> tuple[int, bytes]:
        if self._ends is None:
            self._ends = await asyncio.open_connection("127.0.0.1", self._port)
        reader, writer = self._ends
        writer.write(_request(method, path, body))
        head = await reader.readuntil(b"\r\n\r\n")
        length = re.search(rb"content-length: (\d+)", head)
        content = await reader.readexactly(int(length[1])) if length else b""
        return int(head[9:12]), content

    async def __aenter__(self) -> Line:
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._ends:
            self._ends[1].close()


def _request(method: str, path: str, body: object = None, more: str = "") -> bytes:
    content = b"" if body is None else json.dumps(body).encode()
    kind = f"content-type: application/json\r\ncontent-length: {len(content)}\r\n" if content else ""
    return f"{method} {path} HTTP/1.1\r\nhost: localhost\r\n{kind}{more}\r\n".encode() + content


@asynccontextmanager
async def started(command: list[str]) -> AsyncIterator[int]:
    """A server in a process of its own; the port it listens on."""
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    try:
        line = next(line for line in process.stderr if "listening on" in line)
        yield int(line.partition("listening on ")[2].split()[0].rpartition(":")[2])
    finally:
        process.terminate()
        process.communicate(timeout=60)


class Listener:
    """Follows the stream, leaves it now and then, and comes back where it left."""

    def __init__(self, port: int, dice: random.Random) -> None:
        self._port, self._dice = port, dice
        self.heard: list[int] = []
        self.returns = 0
        self.resets = 0

    async def run(self) -> None:
        await asyncio.sleep(self._dice.uniform(0, 5))  # not all in the same millisecond
        while True:
            try:
                async with asyncio.timeout(self._dice.uniform(3, 30)):
                    await self._follow()
            except (TimeoutError, ConnectionError, asyncio.IncompleteReadError):
                self.returns += 1

    async def _follow(self) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", self._port)
        more = f"last-event-id: {self.heard[-1] if self.heard else 0}\r\n"
        try:
            writer.write(_request("GET", f"{API}/events", more=more))
            rest = b""
            while piece := await reader.read(2**16):
                *events, rest = (rest + piece).split(b"\n\n")
                self.heard += [int(number) for each in events for number in re.findall(rb"id: (\d+)", each)]
                self.resets += sum(b"event: reset" in each for each in events)
        finally:
            writer.close()


async def filled(port: int, name: str, messages: int) -> list[int]:
    """One session filled and built; the statuses that were no success."""
    found = []
    async with Line(port) as line:
        place = f"{API}/sessions/{name}"
        for start in range(0, messages, TURN):
            body = {"messages": turn(name, start, min(TURN, messages - start)), "format": "openai"}
            found.append((await line.ask("POST", f"{place}/messages/import", body))[0])
            found.append((await line.ask("POST", f"{place}/build", {"budget": BUDGET, "model": "gpt-5"}))[0])
        status, content = await line.ask("GET", place)
        found.append(status if json.loads(content)["messages"] == messages else 599)
    return [status for status in found if status >= 300]


def turn(name: str, start: int, length: int) -> list[dict[str, object]]:
    """A question, what was looked at, and an answer."""
    said: list[dict[str, object]] = [
        {"role": "user", "content": f"{name}, step {start}: why does the gateway answer twice?"}
    ]
    for each in range(start + 1, start + length - 2, 2):
        function = {"name": "read", "arguments": json.dumps({"path": f"gateway_{each}.py"})}
        said += [
            {
                "role": "assistant",
                "tool_calls": [{"id": f"c{each}", "type": "function", "function": function}],
            },
            {
                "role": "tool",
                "tool_call_id": f"c{each}",
                "content": f"retries = {each}\nanswers = {each % 7}\n",
            },
        ]
    said += [
        {"role": "assistant", "content": f"{name}: answer {each} of the gateway comes from its retries."}
        for each in range(length - len(said))
    ]
    return said


async def probed(port: int, echo: int) -> None:
    """Ask both in turns until the one who started us has heard enough; then tell how long each took."""
    waits: dict[str, list[float]] = {"health": [], "idle_echo": []}
    over = asyncio.create_task(asyncio.to_thread(sys.stdin.read))
    async with Line(port) as line, Line(echo) as beside:
        while not over.done():
            for name, ask in (
                ("health", line.ask("GET", "/health")),
                ("idle_echo", beside.ask("POST", "/echo", {})),
            ):
                start = time.perf_counter()
                status, _ = await ask
                assert status == 200
                waits[name].append(1000 * (time.perf_counter() - start))
            await asyncio.sleep(0.02)
    print(json.dumps({name: _spread(found) for name, found in waits.items()}))


def _spread(waits: list[float]) -> dict[str, float]:
    ordered = sorted(waits)
    at = {"median_ms": 0.5, "p99_ms": 0.99, "worst_ms": 1.0}
    found = {name: round(ordered[min(len(ordered) - 1, int(len(ordered) * q))], 1) for name, q in at.items()}
    return {"asked": len(ordered), **found}


async def loaded(port: int, echo: int, *, sessions: int, messages: int, listeners: int) -> dict[str, object]:
    probe = [sys.executable, __file__, "--probe", str(port), str(echo)]
    prober = subprocess.Popen(probe, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    listen = [sys.executable, __file__, "--listen", str(port), str(listeners)]
    hearing = subprocess.Popen(listen, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    start = time.perf_counter()
    errors = await asyncio.gather(*(filled(port, f"s{n}", messages) for n in range(sessions)))
    seconds = time.perf_counter() - start
    waits = json.loads((await asyncio.to_thread(prober.communicate))[0])
    heard = json.loads((await asyncio.to_thread(hearing.communicate))[0])
    return {
        "sessions": sessions,
        "messages": sessions * messages,
        "seconds": round(seconds, 1),
        "messages_a_second": round(sessions * messages / seconds),
        "faults": sum(map(len, errors)),
        **waits,
        **heard,
    }


async def listened(port: int, listeners: int) -> None:
    """Follow the stream with many ears until the one who started us is done; then tell what they heard."""
    over = asyncio.create_task(asyncio.to_thread(sys.stdin.read))
    ears = [Listener(port, random.Random(each)) for each in range(listeners)]
    tasks = [asyncio.create_task(ear.run()) for ear in ears]
    await over
    await asyncio.sleep(5)  # the newest events are on their way
    await caught_up(ears, await newest(port))
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    every = set().union(*(ear.heard for ear in ears))
    heard = {
        "listeners": listeners,
        "events": len(every),
        "deliveries": sum(len(ear.heard) for ear in ears),
        "returns": sum(ear.returns for ear in ears),
        "lost": sum(len(every - set(ear.heard)) for ear in ears),
        "twice": sum(len(ear.heard) - len(set(ear.heard)) for ear in ears),
        "resets": sum(ear.resets for ear in ears),
    }
    print(json.dumps(heard))


async def newest(port: int) -> int:
    """The number of the newest event."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(_request("GET", f"{API}/events", more="last-event-id: 999999999999\r\n"))
    line = b""
    while not line.startswith(b"id: "):
        line = await reader.readuntil(b"\n")
    writer.close()
    return int(line[4:])


async def caught_up(ears: list[Listener], last: int) -> None:
    for _ in range(600):
        if all(ear.heard and ear.heard[-1] >= last for ear in ears):
            return
        await asyncio.sleep(0.1)


async def resident(port: int) -> float:
    """Megabytes, as the service reports them."""
    async with Line(port) as line:
        text = (await line.ask("GET", "/metrics"))[1].decode()
    return int(re.findall(r"^process_resident_memory_bytes (\d+)", text, re.MULTILINE)[0]) / 2**20


async def grown(port: int, requests: int) -> dict[str, object]:
    """Resident memory over many mixed requests: before, after each sixth, and by how much it differs."""
    asks = [
        ("GET", f"{API}/sessions", None),
        ("GET", f"{API}/sessions/s1/stats", None),
        ("GET", f"{API}/sessions/s2/messages?limit=20", None),
        ("GET", f"{API}/sessions/s3/recall/m7", None),
        ("GET", f"{API}/sessions/s4/builds?limit=5", None),
        ("POST", f"{API}/count", {"text": "Fix the bug in auth.js"}),
        ("POST", f"{API}/sessions/s5/pin", {"id": "m3"}),
        ("GET", "/health", None),
        ("GET", f"{API}/nonesuch", None),
    ]
    await rate(port, asks, min(2_000, requests))
    sizes = [await resident(port)]
    for _ in range(6):
        await rate(port, asks, requests // 6)
        sizes.append(await resident(port))
    rounded = [round(size, 1) for size in sizes]
    return {"requests": requests, "resident_mb": rounded, "difference_mb": round(max(sizes) - sizes[0], 1)}


async def rate(port: int, asks: list[tuple[str, str, object]], count: int) -> float:
    """Requests a second over a few connections."""

    async def some(first: int) -> None:
        async with Line(port) as line:
            for each in range(first, count, CONNECTIONS):
                status, _ = await line.ask(*asks[each % len(asks)])
                assert status < 500

    start = time.perf_counter()
    await asyncio.gather(*(some(first) for first in range(CONNECTIONS)))
    return count / (time.perf_counter() - start)


async def rates(port: int, echo: int, count: int) -> dict[str, object]:
    """Beside a bare echo with the same body."""
    body = {"role": "user", "text": "the gateway answers again and again"}
    await rate(echo, [("POST", "/echo", body)], 200)
    found = {
        "echo": await rate(echo, [("POST", "/echo", body)], count),
        "health": await rate(port, [("GET", "/health", None)], count),
        "count": await rate(port, [("POST", f"{API}/count", {"text": body["text"]})], count),
        "add": await rate(port, [("POST", f"{API}/sessions/rate/messages", body)], count),
        "recall": await rate(port, [("GET", f"{API}/sessions/rate/recall/m1", None)], count),
        "build": await rate(port, [("POST", f"{API}/sessions/rate/build", {"budget": 500})], count // 4),
    }
    return {name: round(value) for name, value in found.items()}


async def measured(given: argparse.Namespace) -> dict[str, object]:
    with tempfile.TemporaryDirectory() as folder:
        store = str(Path(folder) / "store.db")
        command = [sys.executable, "-m", "foveal.cli", "--store", store, "serve", "--port", "0"]
        async with started(command) as port, started([sys.executable, "-c", ECHO]) as echo:
            load_before = os.getloadavg()[0]
            speed = printed("requests a second", await rates(port, echo, 1_000))
            sizes = {"sessions": given.sessions, "messages": given.messages, "listeners": given.listeners}
            load = printed("load", await loaded(port, echo, **sizes))
            memory = printed("memory", await grown(port, given.requests))
    return {
        "method": METHOD,
        "commit": commit(),
        "versions": {"python": platform.python_version(), **{name: installed(name) for name in PACKAGES}},
        "machine_load": {"before": load_before, "after": os.getloadavg()[0], "cores": os.cpu_count()},
        "requests_a_second": speed,
        "load": load,
        "memory": memory,
    }


def printed(title: str, numbers: dict[str, object]) -> dict[str, object]:
    print(title, *(f"  {name:20}{value}" for name, value in numbers.items()), sep="\n", flush=True)
    return numbers


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", type=Path)
    parser.add_argument("--sessions", type=int, default=50)
    parser.add_argument("--messages", type=int, default=2_000)
    parser.add_argument("--listeners", type=int, default=200)
    parser.add_argument("--requests", type=int, default=30_000)
    parser.add_argument("--probe", type=int, nargs=2, help=argparse.SUPPRESS)
    parser.add_argument("--listen", type=int, nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    for asked, role in ((given.probe, probed), (given.listen, listened)):
        if asked:
            asyncio.run(role(*asked))
            return 0
    found = asyncio.run(measured(given))
    if given.json:
        given.json.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
