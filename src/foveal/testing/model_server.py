"""Serve scripted replies over HTTP like a model's provider, and record the requests.

    with ModelServer(Reply(status=429), Reply(text="It works.")) as server:
        ...  # send requests to server.url; then look at server.received

It implements OpenAI's `/chat/completions` and `/embeddings` and Anthropic's `/messages`. The last reply is
repeated for ever. A reply can also hang, send a byte now and then, or reset the connection.
"""

from __future__ import annotations

import json
import socket
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Lock, Thread
from types import TracebackType
from typing import Any, Literal

DIMENSIONS = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """The response to one request."""

    text: str = "An answer."
    """What the model says; vectors of `/embeddings` depend only on the texts in the request."""
    end: str = ""
    """The stop reason, such as `length`; empty for the usual one."""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None
    """Sent as it is, instead of a body in the provider's format."""
    seconds: float = 0.0
    """How long to wait before responding."""
    trouble: Literal["", "hang", "trickle", "reset"] = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    """One request as it was received."""

    path: str
    headers: Mapping[str, str]
    """Names in lower case."""
    body: Mapping[str, Any]


class ModelServer:
    """A context manager that serves until it exits; requests that hang are released then."""

    def __init__(self, *replies: Reply) -> None:
        self.received: list[Received] = []
        self.busiest = 0
        """The largest number of requests handled at the same time."""
        self._active = 0
        self._replies = list(replies) or [Reply()]
        self._lock = Lock()
        self._stopped = Event()
        self._server = _Server(("127.0.0.1", 0), _handler(self))
        self._thread = Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)

    @property
    def url(self) -> str:
        """The base URL of `/chat/completions`, `/embeddings` and `/messages`."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def __enter__(self) -> ModelServer:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._stopped.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def take(self, received: Received) -> Reply:
        """Record the request and return its reply."""
        with self._lock:
            self.received.append(received)
            self._active += 1
            self.busiest = max(self.busiest, self._active)
            return self._replies.pop(0) if len(self._replies) > 1 else self._replies[0]

    def done(self) -> None:
        """Count a request as finished."""
        with self._lock:
            self._active -= 1

    def wait(self, seconds: float | None = None) -> bool:
        """Wait for the server to stop, at most this long; returns whether it has."""
        return self._stopped.wait(seconds)


class _Server(ThreadingHTTPServer):
    def handle_error(self, request: object, client_address: object) -> None:
        """Ignore clients that disconnect: tests do that on purpose."""


def _handler(server: ModelServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            headers = {name.lower(): value for name, value in self.headers.items()}
            received = Received(path=self.path, headers=headers, body=body)
            _respond(self, server, received, server.take(received))

        def log_message(self, format: str, *args: object) -> None:
            """Print nothing."""

    return Handler


def _respond(handler: BaseHTTPRequestHandler, server: ModelServer, received: Received, reply: Reply) -> None:
    server.wait(reply.seconds)
    server.done()
    match reply.trouble:
        case "hang":
            server.wait()
        case "trickle":
            handler.wfile.write(b"HTTP/1.1 200 OK\r\nX-Slow: ")
            while not server.wait(0.02):
                handler.wfile.write(b"x")
        case "reset":
            # A linger time of zero makes the client see a reset instead of an orderly close.
            handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            handler.connection.close()
        case _:
            _send(handler, reply, _body(received, reply) if reply.body is None else reply.body)


def _send(handler: BaseHTTPRequestHandler, reply: Reply, body: bytes) -> None:
    handler.send_response(reply.status)
    headers = {"content-type": "application/json", "content-length": str(len(body)), **reply.headers}
    for name, value in headers.items():
        handler.send_header(name, value)
    handler.end_headers()
    handler.wfile.write(body)


def _body(received: Received, reply: Reply) -> bytes:
    """The reply in the format of the API that the path belongs to."""
    if reply.status != 200:
        return json.dumps({"error": {"type": "api_error", "message": reply.text}}).encode()
    if received.path.endswith("/embeddings"):
        rows = [
            {"index": index, "embedding": vector_of(text)}
            for index, text in enumerate(received.body["input"])
        ]
        return json.dumps({"object": "list", "data": rows}).encode()
    if received.path.endswith("/messages"):
        end = reply.end or "end_turn"
        return json.dumps({"content": [{"type": "text", "text": reply.text}], "stop_reason": end}).encode()
    message = {"role": "assistant", "content": reply.text}
    choice = {"index": 0, "message": message, "finish_reason": reply.end or "stop"}
    return json.dumps({"object": "chat.completion", "choices": [choice]}).encode()


def vector_of(text: str) -> list[float]:
    """A vector that depends only on the text."""
    return [byte / 255 for byte in sha256(text.encode()).digest()[:DIMENSIONS]]
