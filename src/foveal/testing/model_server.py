"""Replies in → a model's HTTP server on loopback that gives them one by one, and remembers what was asked.

    with ModelServer(Reply(status=429), Reply(text="It works.")) as server:
        ...  # ask at server.url; then look at server.received

It speaks OpenAI's `/chat/completions` and `/embeddings` and Anthropic's `/messages`. The last reply is given
for ever; it can also hang, send a byte now and then, or break the connection off.
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
    """What is answered to one request."""

    text: str = "An answer."
    """What the model says; for `/embeddings` the vectors follow from the texts alone."""
    end: str = ""
    """The reason for the end, such as `length`; empty: the usual one."""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None
    """In place of everything a protocol would say."""
    seconds: float = 0.0
    """To wait before answering."""
    trouble: Literal["", "hang", "trickle", "reset"] = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    """One request as it came."""

    path: str
    headers: Mapping[str, str]
    """Names in lower case."""
    body: Mapping[str, Any]


class ModelServer:
    """Serves from the moment it is entered until it is left; those that hang are let go then."""

    def __init__(self, *replies: Reply) -> None:
        self.received: list[Received] = []
        self.busiest = 0
        """The most requests that were in hand at one moment."""
        self._in_hand = 0
        self._replies = list(replies) or [Reply()]
        self._lock = Lock()
        self._over = Event()
        self._server = _Server(("127.0.0.1", 0), _handler(self))
        self._thread = Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)

    @property
    def url(self) -> str:
        """The base address; `/chat/completions`, `/embeddings` and `/messages` stand under it."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def __enter__(self) -> ModelServer:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._over.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def take(self, received: Received) -> Reply:
        """Remember the request; the reply that is due."""
        with self._lock:
            self.received.append(received)
            self._in_hand += 1
            self.busiest = max(self.busiest, self._in_hand)
            return self._replies.pop(0) if len(self._replies) > 1 else self._replies[0]

    def done(self) -> None:
        """A request is no longer in hand."""
        with self._lock:
            self._in_hand -= 1

    def wait(self, seconds: float | None = None) -> bool:
        """Whether the server is over by then."""
        return self._over.wait(seconds)


class _Server(ThreadingHTTPServer):
    def handle_error(self, request: object, client_address: object) -> None:
        """Callers that hang up are what a test is about, not a fault of the server's."""


def _handler(server: ModelServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            headers = {name.lower(): value for name, value in self.headers.items()}
            received = Received(path=self.path, headers=headers, body=body)
            _give(self, server, received, server.take(received))

        def log_message(self, format: str, *args: object) -> None:
            """Tests print nothing."""

    return Handler


def _give(handler: BaseHTTPRequestHandler, server: ModelServer, received: Received, reply: Reply) -> None:
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
            # Zero seconds of lingering: the other side sees a reset and no orderly end.
            handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            handler.connection.close()
        case _:
            _send(handler, reply, _said(received, reply) if reply.body is None else reply.body)


def _send(handler: BaseHTTPRequestHandler, reply: Reply, body: bytes) -> None:
    handler.send_response(reply.status)
    headers = {"content-type": "application/json", "content-length": str(len(body)), **reply.headers}
    for name, value in headers.items():
        handler.send_header(name, value)
    handler.end_headers()
    handler.wfile.write(body)


def _said(received: Received, reply: Reply) -> bytes:
    """The reply in the words of the protocol that the path belongs to."""
    if reply.status != 200:
        return json.dumps({"error": {"type": "api_error", "message": reply.text}}).encode()
    if received.path.endswith("/embeddings"):
        rows = [
            {"index": place, "embedding": vector_of(text)}
            for place, text in enumerate(received.body["input"])
        ]
        return json.dumps({"object": "list", "data": rows}).encode()
    if received.path.endswith("/messages"):
        end = reply.end or "end_turn"
        return json.dumps({"content": [{"type": "text", "text": reply.text}], "stop_reason": end}).encode()
    message = {"role": "assistant", "content": reply.text}
    choice = {"index": 0, "message": message, "finish_reason": reply.end or "stop"}
    return json.dumps({"object": "chat.completion", "choices": [choice]}).encode()


def vector_of(text: str) -> list[float]:
    """The same for the same text, another for another."""
    return [byte / 255 for byte in sha256(text.encode()).digest()[:DIMENSIONS]]
