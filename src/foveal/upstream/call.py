"""An endpoint and texts in → words or vectors out: with retries, one time limit, and not too many at once.

What fails is an `UpstreamError` that names the host, what it did and after how many attempts, never the key
and never a word of what was asked or answered.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from threading import BoundedSemaphore

from foveal.errors import ConfigError, UpstreamError
from foveal.upstream.endpoint import Endpoint
from foveal.upstream.exchange import Answered, Fault, post, required
from foveal.upstream.protocols import Request, asking, embedding, said, vectors

Sleep = Callable[[float], object]

BATCH = 100
"""Texts in one request for vectors."""
BETWEEN_BATCHES = 0.1
FIRST_PAUSE = 0.5
"""Seconds before the first retry; twice as long before each further one."""
LONGEST_PAUSE = 30.0
MOST_WORDS = 1 << 20
MOST_VECTORS = 1 << 24
"""Bytes of one answer. A hundred vectors of 3 072 numbers are about six million."""

_turns: dict[tuple[str, int], BoundedSemaphore] = {}


def check(endpoint: Endpoint, key: str = "") -> None:
    """Raise now what every call would: a package that is missing, an address or a key that cannot be used."""
    required()
    asking(endpoint, "", system="", max_tokens=1, key=_sendable(endpoint, key))


def reach(endpoint: Endpoint, *, key: str = "", sleep: Sleep = time.sleep) -> None:
    """Ask for one word, to see that somebody answers; whatever is said will do."""
    request = asking(
        endpoint, "Say yes.", system="Answer in one word.", max_tokens=16, key=_sendable(endpoint, key)
    )
    _answer(endpoint, request, most=MOST_WORDS, sleep=sleep)


def complete(
    endpoint: Endpoint, text: str, *, system: str, max_tokens: int, key: str = "", sleep: Sleep = time.sleep
) -> str:
    """What the model answers to `text`; stopped short for its length, it is no answer."""
    request = asking(endpoint, text, system=system, max_tokens=max_tokens, key=_sendable(endpoint, key))
    answer = said(endpoint, _answer(endpoint, request, most=MOST_WORDS, sleep=sleep))
    if answer is None:
        raise UpstreamError(f"{endpoint.host} answered no text", remedy="check the name of the model")
    if not answer.whole:
        raise UpstreamError(
            f"{endpoint.host} did not come to an end within {max_tokens:,} tokens",
            remedy="raise `max_tokens`, or name another model",
        )
    return answer.text


def embed(
    endpoint: Endpoint, texts: Sequence[str], *, key: str = "", sleep: Sleep = time.sleep
) -> list[list[float]]:
    """One vector for each text, in order. An empty text has none to give: leave it out."""
    if endpoint.protocol == "anthropic":
        raise ConfigError(
            f"the endpoint at {endpoint.host} speaks a protocol that has no vectors",
            remedy="give the address of an OpenAI-compatible one",
        )
    found: list[list[float]] = []
    for start in range(0, len(texts), BATCH):
        if start:
            sleep(BETWEEN_BATCHES)
        batch = texts[start : start + BATCH]
        request = embedding(endpoint, batch, key=_sendable(endpoint, key))
        rows = vectors(_answer(endpoint, request, most=MOST_VECTORS, sleep=sleep), len(batch))
        if rows is None:
            raise UpstreamError(
                f"{endpoint.host} did not answer one vector for each of {len(batch)} texts",
                remedy="check that the model is one for embeddings",
            )
        found += rows
    return found


def _sendable(endpoint: Endpoint, key: str) -> str:
    """The key, if a header can carry it; what it is, is told to nobody."""
    if key.isascii() and key.isprintable() and " " not in key:
        return key
    raise ConfigError(
        f"the key for {endpoint.host} holds spaces or characters that no key has",
        remedy=f"set the variable `{endpoint.key_variable}` to the key alone"
        if endpoint.key_variable
        else "give the key alone",
    )


def _answer(endpoint: Endpoint, request: Request, *, most: int, sleep: Sleep) -> object:
    """The JSON of the first attempt that brings some."""
    until = time.monotonic() + endpoint.timeout
    attempt = 1
    while isinstance(outcome := _attempt(endpoint, request, until=until, most=most), Fault):
        pause = _pause(attempt, outcome.retry_after)
        in_time = time.monotonic() + pause < until
        if not outcome.again or attempt > endpoint.retries or not in_time:
            raise _given_up(endpoint, outcome, attempt)
        sleep(pause)
        attempt += 1
    return outcome.json


def _attempt(endpoint: Endpoint, request: Request, *, until: float, most: int) -> Answered | Fault:
    # Of two threads that come first at once, both get the semaphore that was stored.
    place = endpoint.url, endpoint.concurrency
    turn = _turns.setdefault(place, BoundedSemaphore(endpoint.concurrency))
    if not turn.acquire(timeout=max(0.0, until - time.monotonic())):
        return Fault(
            what=f"had {endpoint.concurrency} other calls in hand for {endpoint.timeout:,.1f} s",
            remedy="raise `concurrency` or `timeout`",
        )
    try:
        return post(request, seconds=max(0.001, until - time.monotonic()), most=most)
    finally:
        turn.release()


def _pause(attempt: int, retry_after: str) -> float:
    """Seconds to the next attempt: what the host asked for, and ever longer, never quite the same."""
    own = FIRST_PAUSE * (1 << min(attempt - 1, 10)) * random.uniform(0.5, 1.0)  # noqa: S311 — no secret
    return min(LONGEST_PAUSE, max(own, _asked(retry_after)))


def _asked(retry_after: str) -> float:
    """The seconds of a `Retry-After`, which counts them or names a moment.

    >>> _asked("7"), _asked(""), _asked("soon"), _asked("Mon, 01 Jan 2001 00:00:00 GMT")
    (7.0, 0.0, 0.0, 0.0)
    """
    from email.utils import parsedate_to_datetime

    try:
        seconds = float(retry_after)
    except ValueError:
        try:
            seconds = parsedate_to_datetime(retry_after).timestamp() - time.time()
        except (TypeError, ValueError, OverflowError):
            return 0.0
    return max(0.0, seconds)


def _given_up(endpoint: Endpoint, fault: Fault, attempts: int) -> UpstreamError:
    tries = "" if attempts == 1 else f", {attempts} times"
    return UpstreamError(f"{endpoint.host} {fault.what}{tries}", remedy=fault.remedy)
