"""Send one request and read its JSON response, within a limit of seconds and bytes.

Redirects are not followed: a key is sent only to the address it was given for. A failure quotes only the
status of the response and an error code of plain letters.
"""

from __future__ import annotations

import json
import re
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from threading import Timer
from typing import TYPE_CHECKING, Any

from foveal.errors import ConfigError
from foveal.upstream.protocols import Request, error_code

if TYPE_CHECKING:
    from ssl import SSLContext

    import httpx

CONNECT_TIMEOUT = 10.0
"""Seconds to connect: a host that is up answers soon."""
_CODE = re.compile(r"[a-z_]{3,40}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    json: object


@dataclass(frozen=True, slots=True, kw_only=True)
class CallFailure:
    """Why there is no response."""

    what: str
    """What the host did: the rest of a sentence that begins with its name."""
    remedy: str
    retryable: bool = False
    retry_after: str = ""


def require_httpx() -> None:
    """Raise an error unless `httpx` is installed."""
    if find_spec("httpx") is None:
        raise ConfigError(
            "calling a model needs the package `httpx`, which is not installed",
            remedy="`pip install 'foveal[llm]'`",
        )


def post(request: Request, *, seconds: float, most: int) -> Response | CallFailure:
    """Send a request and read the whole response, for at most `seconds` and `most` bytes."""
    require_httpx()
    import httpx

    deadline = _Deadline()
    try:
        with deadline.after(seconds), _client(seconds) as client:
            headers, extensions = dict(request.headers), {"trace": deadline.trace}
            with client.stream(
                "POST", request.url, headers=headers, content=request.body, extensions=extensions
            ) as response:
                return _read(response, most)
    except (httpx.ReadTimeout, httpx.WriteTimeout):
        return _timed_out(seconds)
    except (httpx.HTTPError, httpx.InvalidURL, OSError) as error:
        return _timed_out(seconds) if deadline.passed else _failed(error)


class _Deadline:
    """Closes the connection when the time is up, also on a host that keeps sending single bytes."""

    def __init__(self) -> None:
        self.passed = False
        self._socket: socket.socket | None = None

    def trace(self, event: str, info: dict[str, Any]) -> None:
        """Remember the connection; httpx calls this at every step."""
        if event.endswith((".connect_tcp.complete", ".start_tls.complete")):
            self._socket = info["return_value"].get_extra_info("socket")

    @contextmanager
    def after(self, seconds: float) -> Iterator[None]:
        timer = Timer(seconds, self._hang_up)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()

    def _hang_up(self) -> None:
        self.passed = True
        if self._socket is not None:
            with suppress(OSError):
                # Of the plain socket: that of a TLS socket changes state that its reader is using.
                socket.socket.shutdown(self._socket, socket.SHUT_RDWR)


def _client(seconds: float) -> httpx.Client:
    import httpx

    return httpx.Client(
        verify=_trusted(), timeout=httpx.Timeout(seconds, connect=min(CONNECT_TIMEOUT, seconds))
    )


@cache
def _trusted() -> SSLContext:
    """The trusted certificates, cached: reading them takes longer than a call on loopback."""
    import httpx

    return httpx.create_ssl_context()


def _read(response: httpx.Response, most: int) -> Response | CallFailure:
    body = _body(response, most)
    if not response.is_success:
        return _refused(response, body)
    media = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    if body is None:
        return CallFailure(what=f"answered more than {most:,} bytes", remedy="use another model or address")
    if not (media == "application/json" or media.endswith("+json")) or _compressed(response):
        return CallFailure(what="answered something other than JSON", remedy="check the address")
    try:
        return Response(json=json.loads(body))
    except (ValueError, RecursionError):
        return CallFailure(what=f"answered {len(body):,} bytes of broken JSON", remedy="check the address")


def _compressed(response: httpx.Response) -> bool:
    return bool(response.headers.get("content-encoding", "identity").lower() != "identity")


def _body(response: httpx.Response, most: int) -> bytes | None:
    """The raw body; None when it is too long."""
    body = bytearray()
    for piece in response.iter_raw():
        body += piece
        if len(body) > most:
            return None
    return bytes(body)


def _refused(response: httpx.Response, body: bytes | None) -> CallFailure:
    status = response.status_code
    retryable = status in (408, 429) or status >= 500
    return CallFailure(
        what=f"answered {status}{_code(body)}",
        remedy=_remedy(status),
        retryable=retryable,
        retry_after=response.headers.get("retry-after", "") if retryable else "",
    )


def _code(body: bytes | None) -> str:
    """The error's code, if it is a plain word: longer texts may repeat the key or the prompt."""
    try:
        word = error_code(json.loads(body or b"null"))
    except (ValueError, RecursionError):
        return ""
    return f" ({word})" if _CODE.fullmatch(word) else ""


def _remedy(status: int) -> str:
    if status in (401, 403):
        return "check the key, and that it may use this model"
    if 300 <= status < 400:
        return "use the address it redirects to: redirects are not followed"
    if status in (408, 429) or status >= 500:
        return "try again later"
    return "check the address and the name of the model"


def _failed(error: Exception) -> CallFailure:
    """By the type of the error alone: its text may repeat a header."""
    import httpx

    if isinstance(error, httpx.ConnectError | httpx.ConnectTimeout | httpx.ProxyError):
        return CallFailure(
            what="cannot be reached", remedy="check the address and the network", retryable=True
        )
    if isinstance(error, httpx.NetworkError | httpx.RemoteProtocolError):
        return CallFailure(what="closed the connection", remedy="try again later", retryable=True)
    return CallFailure(
        what=f"cannot be called ({type(error).__name__})", remedy="check the address and the key"
    )


def _timed_out(seconds: float) -> CallFailure:
    return CallFailure(
        what=f"did not answer within {seconds:,.1f} s", remedy="raise `timeout`, or use a faster model"
    )
