"""Frame what the service and its workers send each other: one line of JSON, then the bytes it announces."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, BinaryIO

LINE_MOST = 1024 * 1024
"""Bytes of a line of JSON: a request's path and headers have at most 64 kB."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One request that a worker process runs."""

    tenant: str
    method: str
    path: str
    query: str
    headers: tuple[tuple[str, str], ...]
    body: bytes

    def packed(self) -> bytes:
        head = {name: value for name, value in asdict(self).items() if name != "body"}
        return packed(head, self.body)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The response to a job."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    last: bool = False
    """Whether the worker ends now: it has used much memory, or has run many jobs."""

    def packed(self) -> bytes:
        return packed({"status": self.status, "headers": dict(self.headers), "last": self.last}, self.body)


def packed(head: Mapping[str, object], body: bytes = b"") -> bytes:
    return json.dumps({**head, "size": len(body)}).encode() + b"\n" + body


def read_job(file: BinaryIO) -> Job | None:
    """The next job; None at the end of the file."""
    line = file.readline(LINE_MOST)
    if not line.endswith(b"\n"):
        return None
    head: dict[str, Any] = json.loads(line)
    body = file.read(head.pop("size"))
    headers = tuple((name, value) for name, value in head.pop("headers"))
    return Job(**head, headers=headers, body=body)
