"""One service for the tests that only need one to be there."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from serving import Served, served


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("service")) as found:
        yield found
