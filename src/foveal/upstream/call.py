"""Request a completion or vectors from an endpoint, with retries, one timeout and limited concurrency.

Failures are `UpstreamError`s that name the host, what it did and the number of attempts, never the key and
never a word of the prompt or the response.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from threading import BoundedSemaphore

from foveal.errors import ConfigError, UpstreamError
from foveal.upstream.endpoint import Endpoint
from foveal.upstream.http import CallFailure, Response, post, require_httpx
from foveal.upstream.protocols import (
    Request,
    completion_request,
    embedding_request,
    read_completion,
    read_vectors,
)

Sleep = Callable[[float], object]

BATCH = 100
"""Texts in one request for vectors."""
BATCH_PAUSE = 0.1
"""Seconds between two such requests."""
FIRST_PAUSE = 0.5
"""Seconds before the first retry; twice as long before each further one."""
LONGEST_PAUSE = 30.0
MAX_TEXT_BYTES = 1 << 20
MAX_VECTOR_BYTES = 1 << 24
"""Limits of one response. A hundred vectors of 3 072 numbers are about six million bytes."""

_slots: dict[tuple[str, int], BoundedSemaphore] = {}


def check(endpoint: Endpoint, key: str = "") -> None:
    """Raise now what every call would raise: a missing package, an invalid address or key."""
    require_httpx()
    completion_request(endpoint, "", system="", max_tokens=1, key=_sendable(endpoint, key))


def reach(endpoint: Endpoint, *, key: str = "", sleep: Sleep = time.sleep) -> None:
    """Request one word to see that the model answers; the text of the response does not matter."""
    request = completion_request(
        endpoint, "Say yes.", system="Answer in one word.", max_tokens=16, key=_sendable(endpoint, key)
    )
    _send(endpoint, request, most=MAX_TEXT_BYTES, sleep=sleep)


def complete(
    endpoint: Endpoint, text: str, *, system: str, max_tokens: int, key: str = "", sleep: Sleep = time.sleep
) -> str:
    """The model's reply to `text`; a truncated reply is an error."""
    request = completion_request(
        endpoint, text, system=system, max_tokens=max_tokens, key=_sendable(endpoint, key)
    )
    completion = read_completion(endpoint, _send(endpoint, request, most=MAX_TEXT_BYTES, sleep=sleep))
    if completion is None:
        raise UpstreamError(f"{endpoint.host} answered no text", remedy="check the name of the model")
    if not completion.complete:
        raise UpstreamError(
            f"{endpoint.host} did not finish within {max_tokens:,} tokens",
            remedy="raise `max_tokens`, or use another model",
        )
    return completion.text


def embed(
    endpoint: Endpoint, texts: Sequence[str], *, key: str = "", sleep: Sleep = time.sleep
) -> list[list[float]]:
    """One vector for each text, in order. The caller must not pass empty texts."""
    if endpoint.protocol == "anthropic":
        raise ConfigError(
            f"the endpoint at {endpoint.host} uses a protocol without embeddings",
            remedy="use the address of an OpenAI-compatible endpoint",
        )
    found: list[list[float]] = []
    for start in range(0, len(texts), BATCH):
        if start:
            sleep(BATCH_PAUSE)
        batch = texts[start : start + BATCH]
        request = embedding_request(endpoint, batch, key=_sendable(endpoint, key))
        rows = read_vectors(_send(endpoint, request, most=MAX_VECTOR_BYTES, sleep=sleep), len(batch))
        if rows is None:
            raise UpstreamError(
                f"{endpoint.host} did not return one vector for each of {len(batch)} texts",
                remedy="check that the model is an embedding model",
            )
        found += rows
    return found


def _sendable(endpoint: Endpoint, key: str) -> str:
    """The key, if a header can carry it; the error never quotes it."""
    if key.isascii() and key.isprintable() and " " not in key:
        return key
    raise ConfigError(
        f"the key for {endpoint.host} contains spaces or other characters that no key has",
        remedy=f"set the variable `{endpoint.key_variable}` to the key alone"
        if endpoint.key_variable
        else "pass the key alone",
    )


def _send(endpoint: Endpoint, request: Request, *, most: int, sleep: Sleep) -> object:
    """The JSON of the first attempt that succeeds."""
    deadline = time.monotonic() + endpoint.timeout
    attempt = 1
    while isinstance(outcome := _attempt(endpoint, request, deadline=deadline, most=most), CallFailure):
        pause = _pause(attempt, outcome.retry_after)
        in_time = time.monotonic() + pause < deadline
        if not outcome.retryable or attempt > endpoint.retries or not in_time:
            raise _upstream_error(endpoint, outcome, attempt)
        sleep(pause)
        attempt += 1
    return outcome.json


def _attempt(endpoint: Endpoint, request: Request, *, deadline: float, most: int) -> Response | CallFailure:
    # Two threads that arrive first at once both get the semaphore that was stored.
    key = endpoint.url, endpoint.concurrency
    slots = _slots.setdefault(key, BoundedSemaphore(endpoint.concurrency))
    if not slots.acquire(timeout=max(0.0, deadline - time.monotonic())):
        return CallFailure(
            what=f"was busy with {endpoint.concurrency} other calls for {endpoint.timeout:,.1f} s",
            remedy="raise `concurrency` or `timeout`",
        )
    try:
        return post(request, seconds=max(0.001, deadline - time.monotonic()), most=most)
    finally:
        slots.release()


def _pause(attempt: int, retry_after: str) -> float:
    """Seconds to the next attempt: exponential backoff with jitter, at least what the host requested."""
    own = FIRST_PAUSE * (1 << min(attempt - 1, 10)) * random.uniform(0.5, 1.0)  # noqa: S311 — no secret
    return min(LONGEST_PAUSE, max(own, _retry_after(retry_after)))


def _retry_after(header: str) -> float:
    """The seconds of a `Retry-After` header, which is a number or a date.

    >>> _retry_after("7"), _retry_after(""), _retry_after("soon")
    (7.0, 0.0, 0.0)
    >>> _retry_after("Mon, 01 Jan 2001 00:00:00 GMT")
    0.0
    """
    from email.utils import parsedate_to_datetime

    try:
        seconds = float(header)
    except ValueError:
        try:
            seconds = parsedate_to_datetime(header).timestamp() - time.time()
        except (TypeError, ValueError, OverflowError):
            return 0.0
    return max(0.0, seconds)


def _upstream_error(endpoint: Endpoint, failure: CallFailure, attempts: int) -> UpstreamError:
    tries = "" if attempts == 1 else f", {attempts} times"
    return UpstreamError(f"{endpoint.host} {failure.what}{tries}", remedy=failure.remedy)
