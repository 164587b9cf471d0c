"""Each lane runs one job at a time, and lanes do not wait for each other."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from itertools import permutations

import pytest
from starlette.responses import Response

from foveal.config import Settings
from foveal.server.api import end, received
from foveal.server.problems import Problem
from foveal.server.settings import Serving, hashed
from foveal.server.tenants import Setup
from foveal.server.workers import route
from foveal.server.workers.pool import WAITING_MOST, Lane, Pool, Worker, environment

SETUP = Setup(settings=Settings(), numbers={}, serving=Serving())
A, B, C = ("acme", "work"), ("globex", "work"), ("initech", "work")
SEARCH_A, SEARCH_B = ("acme", "search"), ("globex", "search")


def started(lanes: Sequence[Lane], *, slots: int, most: int = 1) -> list[Lane]:
    """The lanes of the jobs in the order in which they start, each taking the same time."""

    async def all() -> list[Lane]:
        pool, order = Pool(SETUP, slots=slots, most=max(slots, most)), list[Lane]()

        async def job(lane: Lane) -> None:
            async with pool._turn(lane):
                order.append(lane)
                for _ in range(10):
                    await asyncio.sleep(0)

        await asyncio.gather(*map(job, lanes))
        return order

    return asyncio.run(all())


def test_a_lane_does_not_wait_behind_the_queue_of_another() -> None:
    assert started([A, A, A, B], slots=2) == [A, B, A, A]


def test_lanes_take_turns_when_there_are_more_of_them_than_slots() -> None:
    assert started([A, A, A, B, C], slots=1) == [A, B, C, A, A]


def test_a_tenant_that_runs_nothing_does_not_wait_for_tenants_that_hold_every_slot() -> None:
    assert started([A, SEARCH_A, B, SEARCH_B, C], slots=2, most=3) == [A, SEARCH_A, B, C, SEARCH_B]


def test_a_job_that_is_cancelled_while_it_waits_gives_its_place_to_the_next() -> None:
    async def cancelled() -> int:
        pool, done = Pool(SETUP, slots=1), 0

        async def job() -> None:
            nonlocal done
            async with pool._turn(A):
                await asyncio.sleep(0.01)
                done += 1

        tasks = [asyncio.ensure_future(job()) for _ in range(4)]
        await asyncio.sleep(0)
        tasks[0].cancel()
        tasks[2].cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        return done

    assert asyncio.run(cancelled()) == 2


@pytest.mark.parametrize("order", list(permutations(range(3))), ids=str)
def test_a_lane_goes_on_when_the_running_job_and_those_that_wait_are_cancelled_at_once(
    order: tuple[int, ...],
) -> None:
    async def went_on() -> bool:
        pool, ran = Pool(SETUP, slots=1), asyncio.Event()

        async def job(seconds: float) -> None:
            async with pool._turn(A):
                ran.set()
                await asyncio.sleep(seconds)

        tasks = [asyncio.ensure_future(job(60)) for _ in order]
        await ran.wait()
        for each in order:
            tasks[each].cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        async with asyncio.timeout(5):
            await asyncio.gather(job(0), job(0))
        return True

    assert asyncio.run(went_on())


def test_a_queue_that_is_too_long_is_refused() -> None:
    with pytest.raises(Problem) as refused:
        started([A] * (WAITING_MOST + 2), slots=1)
    assert (refused.value.kind.status, refused.value.headers["retry-after"]) == (429, "5")


def test_a_new_process_is_started_before_one_is_taken_from_another_lane(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Started:
        ended = False
        lane: Lane = ("", "")

    async def start(_: Setup) -> Started:
        return Started()

    monkeypatch.setattr(Worker, "start", start)

    async def workers() -> list[object]:
        pool, found = Pool(SETUP, slots=2), list[object]()
        for lane in (A, B, A, C):
            worker = await pool._worker(lane)
            pool._idle.append(worker)
            found.append(worker)
        return found

    first, second, third, fourth = asyncio.run(workers())
    assert first is third
    assert first is not second
    assert fourth in (first, second)


def test_a_worker_has_no_token_of_the_service(monkeypatch: pytest.MonkeyPatch) -> None:
    token = "0123456789abcdef" * 3
    monkeypatch.setenv("ACME_TOKEN", token)
    setup = replace(SETUP, serving=Serving(tokens={hashed(token): "acme"}))
    assert "PATH" in environment(setup)
    assert "ACME_TOKEN" not in environment(setup)


def test_a_request_that_is_stopped_late_may_have_been_completed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(route, "SECONDS_MOST", 0.01)

    async def late() -> None:
        work: asyncio.Future[Response] = asyncio.get_running_loop().create_future()
        await route._finished(work, route._Reports(), received(b"", end(asyncio.Event())))

    with pytest.raises(Problem) as stopped:
        asyncio.run(late())
    assert "may have been completed" in stopped.value.detail
