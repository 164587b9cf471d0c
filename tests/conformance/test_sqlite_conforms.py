"""What every store promises, on SQLite in memory and in a file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from foveal.store import Store, open_store
from foveal.testing import STORE_CHECKS, OpenStore, check_store


@pytest.fixture(params=["memory", "file"])
def opener(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[OpenStore]:
    url = ":memory:" if request.param == "memory" else str(tmp_path / "store.db")
    opened: list[Store] = []

    def open_for(tenant: str) -> Store:
        opened.append(open_store(url, tenant=tenant))
        return opened[-1]

    yield open_for
    for store in opened:
        store.close()


@pytest.mark.parametrize("check", STORE_CHECKS, ids=lambda check: check.__name__)
def test_sqlite(check: Callable[[OpenStore], None], opener: OpenStore) -> None:
    check(opener)


def test_all_checks_pass_on_one_store(opener: OpenStore) -> None:
    check_store(opener)
