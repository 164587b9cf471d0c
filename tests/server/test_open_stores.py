"""What one tenant's tenant promises when several requests come at once."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest

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
