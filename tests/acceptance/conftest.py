"""A desk for every test."""

from __future__ import annotations

from pathlib import Path

import pytest

from commands import Desk


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(folder=tmp_path)
