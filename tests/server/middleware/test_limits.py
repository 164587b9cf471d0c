"""What takes too long or fails is answered, and says nothing of the inside."""

from __future__ import annotations

import asyncio
import logging

import httpx
import pytest
from starlette.types import ASGIApp, Receive, Scope, Send

from foveal.server.middleware.limits import Limits

SECRET = "what the user said"


def asked(app: ASGIApp, *, seconds: float = 5.0) -> httpx.Response:
    async def once() -> httpx.Response:
        transport = httpx.ASGITransport(app=Limits(app, seconds_most=seconds))
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            return await client.get("/")

    return asyncio.run(once())


async def slow(scope: Scope, receive: Receive, send: Send) -> None:
    await asyncio.sleep(0.3)
    await send({"type": "http.response.start", "status": 200, "headers": []})


async def broken(scope: Scope, receive: Receive, send: Send) -> None:
    raise RuntimeError(SECRET)


async def streaming(scope: Scope, receive: Receive, send: Send) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await asyncio.sleep(0.2)
    await send({"type": "http.response.body", "body": b"in the end"})


def test_what_takes_too_long_is_answered() -> None:
    answer = asked(slow, seconds=0.05)
    assert (answer.status_code, answer.json()["type"]) == (504, "urn:foveal:problem:timeout")


def test_a_stream_that_has_begun_may_take_its_time() -> None:
    assert asked(streaming, seconds=0.05).text == "in the end"


def test_the_log_gets_the_place_of_an_error_and_never_its_message(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.ERROR):
        answer = asked(broken)
    assert (answer.status_code, SECRET in answer.text) == (500, False)
    assert "RuntimeError at broken" in caplog.text
    assert SECRET not in caplog.text


def test_a_body_with_two_lengths_is_refused_and_its_connection_closed() -> None:
    async def once() -> httpx.Response:
        transport = httpx.ASGITransport(app=Limits(streaming))
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            both = {"content-length": "2", "transfer-encoding": "chunked"}
            return await client.post("/", content=b"{}", headers=both)

    answer = asyncio.run(once())
    assert (answer.status_code, answer.headers["connection"]) == (400, "close")
