"""What one tenant's tenant promises when several requests come at once."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from foveal import Foveal
from foveal.config import Settings
from foveal.server.problems import Problem
from foveal.server.settings import Serving
from foveal.server.tenants import Setup, Tenant


@pytest.fixture
def tenant() -> Iterator[Tenant]:
    setup = Setup(settings=Settings(store=":memory:"), numbers={}, serving=Serving())
    with closing(asyncio.new_event_loop()) as loop:
        found = Tenant("default", setup, loop)
        with closing(found.fov):
            yield found


def test_of_two_who_make_the_same_session_at_once_one_is_refused(tenant: Tenant) -> None:
    def make() -> None:
        time.sleep(0.1)
        tenant.fov.session("plan")

    with ThreadPoolExecutor() as pool:
        made = [pool.submit(tenant.create, "plan", make) for _ in range(2)]
    refused = [each.exception() for each in made]
    assert sorted(map(type, refused), key=str) == [type(None), Problem]


def absent(fov: Foveal) -> int:
    return sum(bool(entry.absence) for entry in fov.open("talk").entries())


def eventually(condition: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + 20.0
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.4)
    return condition()


def test_a_service_compresses_what_came_due_and_what_a_worker_process_wrote(tmp_path: Path) -> None:
    setup = Setup(settings=Settings(store=str(tmp_path / "f.db")), numbers={}, serving=Serving())
    old = [{"role": "user", "content": 9 * f"{n}: the login flow. ", "timestamp": 1_000.0} for n in range(12)]
    with closing(asyncio.new_event_loop()) as loop:
        worker = Tenant("default", setup, loop, worker=True)
        with closing(worker.fov):
            session = worker.fov.session("talk", model="gpt-5", preset="fifth")
            session.extend(old, format="plain")
            session.add("user", "What is next?")
            serving = Tenant("default", setup, loop)
            with closing(serving.fov):
                assert eventually(lambda: absent(serving.fov) > 0)
                session.extend(old, format="plain")
                session.add("user", "And then?")
                serving.changed("talk", created=False)
                assert eventually(lambda: absent(serving.fov) > 12)
