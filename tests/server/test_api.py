"""A few requests compute at once, and none waits for one that is itself waiting."""

from __future__ import annotations

import asyncio
from typing import Any

from foveal.server import api
from foveal.server.api import turn


async def most_at_once(requests: int, seconds: float, turns: int = 2) -> int:
    """How many of these requests were ever at work together."""
    free, working, most = asyncio.Semaphore(turns), 0, 0

    async def work() -> None:
        nonlocal working, most
        async with turn(free):
            working += 1
            most = max(most, working)
            await asyncio.sleep(seconds)
            working -= 1

    await asyncio.gather(*(work() for _ in range(requests)))
    assert not free.locked()
    await free.acquire()
    await free.acquire()
    assert free.locked()  # as many turns as there were before, no more
    return most


def test_only_a_few_requests_compute_at_once() -> None:
    assert asyncio.run(most_at_once(20, 0.001)) == 2


def test_who_waits_long_lets_the_next_one_begin(monkeypatch: Any) -> None:
    monkeypatch.setattr(api, "TURN", 0.01)
    assert asyncio.run(most_at_once(20, 1.0)) == 20
