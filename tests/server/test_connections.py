"""Clients that stall keep nobody else out, however many there are."""

from __future__ import annotations

import socket
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx
import pytest

from serving import Served, served

HEAD = b"GET /api/v1/sessions HTTP/1.1\r\nhost: localhost\r\nx-slow: "
BODY = (
    b"POST /api/v1/sessions HTTP/1.1\r\nhost: localhost\r\n"
    b"content-type: application/json\r\ncontent-length: 90\r\n\r\n{"
)
SLOW = {"nothing": b"", "half a head": HEAD, "half a body": BODY}
FILES = 128
"""That the service may open, so that few clients are many."""
SMALL = """
import resource, sys
resource.setrlimit(resource.RLIMIT_NOFILE, ({files}, {files}))
{patience}
sys.argv = ["foveal", "serve", "--port", "0"]
from foveal.cli.app import main
main()
"""

IMPATIENT = """
from foveal.server import connections
connections.HEAD_SECONDS, connections.PACE_SECONDS = 0.5, 0.5
"""


@contextmanager
def limited(folder: Path, *, patience: str = "") -> Iterator[Served]:
    """A service with few files, or little patience."""
    script = folder / "small.py"
    script.write_text(SMALL.format(files=FILES, patience=patience), encoding="utf-8")
    with served(folder, command=[sys.executable, str(script)]) as service:
        yield service


def connect(service: Served, data: bytes = b"") -> socket.socket:
    port = int(service.address.rpartition(":")[2])
    line = socket.create_connection(("127.0.0.1", port), timeout=30)
    line.sendall(data)
    return line


def closed(line: socket.socket) -> bool:
    try:
        return line.recv(1) == b""
    except ConnectionError:
        return True


def healthy(service: Served) -> bool:
    return httpx.get(f"{service.address}/health", timeout=10).status_code == 200


@pytest.mark.parametrize("data", SLOW.values(), ids=SLOW)
def test_more_stalled_clients_than_files_keep_nobody_out(tmp_path: Path, data: bytes) -> None:
    with limited(tmp_path) as service, ExitStack() as lines:
        for _ in range(3 * FILES):
            lines.enter_context(connect(service, data))
        assert healthy(service)
        assert service.get("/sessions") == []


def test_an_idle_connection_gives_way_after_the_stalled_ones(tmp_path: Path) -> None:
    with limited(tmp_path) as service, ExitStack() as lines:
        assert service.get("/sessions") == []  # this connection is kept
        for _ in range(FILES // 2):
            lines.enter_context(connect(service, HEAD))
        assert service.get("/sessions") == []


@pytest.mark.parametrize("data", [HEAD, BODY], ids=["head", "body"])
def test_a_client_that_does_not_finish_its_request_is_disconnected(tmp_path: Path, data: bytes) -> None:
    with limited(tmp_path, patience=IMPATIENT) as service, connect(service, data) as line:
        assert closed(line)


def test_so_is_one_that_sends_a_byte_at_a_time(tmp_path: Path) -> None:
    with limited(tmp_path, patience=IMPATIENT) as service, connect(service, HEAD) as line:
        assert eventually(lambda: refuses(line, b"x"))


def refuses(line: socket.socket, data: bytes) -> bool:
    try:
        line.sendall(data)
    except ConnectionError:
        return True
    return False


def test_a_client_that_does_not_read_its_response_is_disconnected(tmp_path: Path) -> None:
    with limited(tmp_path, patience=IMPATIENT) as service:
        text = "the harbour opens at six " * 40_000
        for _ in range(12):
            service.post("/sessions/s/messages", {"role": "user", "text": text[:90_000]})
        asks = b"GET /api/v1/sessions/s/export HTTP/1.1\r\nhost: localhost\r\n\r\n"
        with connect(service, asks * 30) as line:
            assert eventually(lambda: established(service, line) == 0)
        assert healthy(service)


def eventually(true: Callable[[], bool]) -> bool:
    return any(true() or time.sleep(0.1) for _ in range(200))


def established(service: Served, line: socket.socket) -> int:
    """How many sockets of the service have the other end of this connection."""
    port = f":{line.getsockname()[1]:04X} "
    rows = Path(f"/proc/{service.process.pid}/net/tcp").read_text(encoding="ascii").splitlines()[1:]
    return sum(row.split()[2].endswith(port.strip()) and row.split()[3] == "01" for row in rows)


def test_a_request_is_refused_once_too_many_of_its_tenant_are_open(tmp_path: Path) -> None:
    with limited(tmp_path) as service, ExitStack() as lines:
        listen = b"GET /api/v1/events HTTP/1.1\r\nhost: localhost\r\n\r\n"
        opened = [lines.enter_context(connect(service, listen)) for _ in range(FILES // 2)]
        first = [line.recv(12) for line in opened[: FILES // 2 - 2]]
        assert b"HTTP/1.1 429" in first
        assert healthy(service)
