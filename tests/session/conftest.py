"""A store on disk and a session in it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from foveal import Foveal, Session


@pytest.fixture
def fov(tmp_path: Path) -> Iterator[Foveal]:
    with Foveal(tmp_path / "foveal.db") as fov:
        yield fov


@pytest.fixture
def session(fov: Foveal) -> Session:
    return fov.session("work", model="gpt-5")
