"""One request in → the JSON that came back, or a `Fault`: within the seconds and bytes it may take.

Redirects are not followed: a key goes to the address it was given for, and nowhere else. A fault holds no
words of the answer beyond its status and a code of plain letters.
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

CONNECT = 10.0
"""Seconds to reach a host: one that is there answers soon."""
_CODE = re.compile(r"[a-z_]{3,40}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    json: object


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """Why there is no answer."""

    what: str
    """What the host did: the rest of a sentence that begins with its name."""
    remedy: str
    again: bool = False
    """Another attempt may help."""
    retry_after: str = ""


def required() -> None:
    """Refuse to go on without the package that speaks HTTP."""
    if find_spec("httpx") is None:
        raise ConfigError(
            "asking a model needs the package `httpx`, which is not installed",
            remedy="`pip install 'foveal[llm]'`",
        )


def post(request: Request, *, seconds: float, most: int) -> Answered | Fault:
    """Send, and take in the whole answer: for so many seconds at most, and so many bytes."""
    required()
    import httpx

    watch = _Watch()
    try:
        with watch.over(seconds), _client(seconds) as client:
            headers, seen = dict(request.headers), {"trace": watch.see}
            with client.stream(
                "POST", request.url, headers=headers, content=request.body, extensions=seen
            ) as response:
                return _judged(response, most)
    except (httpx.ReadTimeout, httpx.WriteTimeout):
        return _late(seconds)
    except (httpx.HTTPError, httpx.InvalidURL, OSError) as broken:
        return _late(seconds) if watch.late else _unreached(broken)


class _Watch:
    """Hangs up when the time is over, also on somebody who keeps sending a byte now and then."""

    def __init__(self) -> None:
        self.late = False
        self._socket: socket.socket | None = None

    def see(self, event: str, info: dict[str, Any]) -> None:
        """Remember the connection. The HTTP library tells every step it takes."""
        if event.endswith((".connect_tcp.complete", ".start_tls.complete")):
            self._socket = info["return_value"].get_extra_info("socket")

    @contextmanager
    def over(self, seconds: float) -> Iterator[None]:
        timer = Timer(seconds, self._hang_up)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()

    def _hang_up(self) -> None:
        self.late = True
        if self._socket is not None:
            with suppress(OSError):
                # The plain socket's own way: that of an encrypted one changes what its reader is using.
                socket.socket.shutdown(self._socket, socket.SHUT_RDWR)


def _client(seconds: float) -> httpx.Client:
    import httpx

    return httpx.Client(verify=_trusted(), timeout=httpx.Timeout(seconds, connect=min(CONNECT, seconds)))


@cache
def _trusted() -> SSLContext:
    """The certificates to trust: reading them takes longer than a call on loopback."""
    import httpx

    return httpx.create_ssl_context()


def _judged(response: httpx.Response, most: int) -> Answered | Fault:
    body = _body(response, most)
    if not response.is_success:
        return _refused(response, body)
    media = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    if body is None:
        return Fault(what=f"answered more than {most:,} bytes", remedy="name another model or address")
    if not (media == "application/json" or media.endswith("+json")) or _packed(response):
        return Fault(what="answered something other than JSON", remedy="check the address: is it an API?")
    try:
        return Answered(json=json.loads(body))
    except (ValueError, RecursionError):
        return Fault(what=f"answered {len(body):,} bytes of broken JSON", remedy="check the address")


def _packed(response: httpx.Response) -> bool:
    return bool(response.headers.get("content-encoding", "identity").lower() != "identity")


def _body(response: httpx.Response, most: int) -> bytes | None:
    """The answer as it came; None when it is too long."""
    body = bytearray()
    for piece in response.iter_raw():
        body += piece
        if len(body) > most:
            return None
    return bytes(body)


def _refused(response: httpx.Response, body: bytes | None) -> Fault:
    status = response.status_code
    again = status in (408, 429) or status >= 500
    return Fault(
        what=f"answered {status}{_code(body)}",
        remedy=_remedy(status),
        again=again,
        retry_after=response.headers.get("retry-after", "") if again else "",
    )


def _code(body: bytes | None) -> str:
    """The error's own code, where it is a plain word: longer texts may repeat the key or the question."""
    try:
        word = error_code(json.loads(body or b"null"))
    except (ValueError, RecursionError):
        return ""
    return f" ({word})" if _CODE.fullmatch(word) else ""


def _remedy(status: int) -> str:
    if status in (401, 403):
        return "check the key, and that it may use this model"
    if 300 <= status < 400:
        return "give the address that it points to: redirects are not followed"
    if status in (408, 429) or status >= 500:
        return "try again later"
    return "check the address and the name of the model"


def _unreached(broken: Exception) -> Fault:
    """By the kind of fault alone: its words may repeat a header."""
    import httpx

    if isinstance(broken, httpx.ConnectError | httpx.ConnectTimeout | httpx.ProxyError):
        return Fault(what="cannot be reached", remedy="check the address and the network", again=True)
    if isinstance(broken, httpx.NetworkError | httpx.RemoteProtocolError):
        return Fault(what="broke the connection off", remedy="try again later", again=True)
    return Fault(what=f"cannot be asked ({type(broken).__name__})", remedy="check the address and the key")


def _late(seconds: float) -> Fault:
    return Fault(
        what=f"did not answer within {seconds:,.1f} s", remedy="raise `timeout`, or name a faster model"
    )
