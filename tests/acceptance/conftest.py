"""A folder with its own home and store for every test."""

from __future__ import annotations

from pathlib import Path

import pytest

from commands import CommandLine


@pytest.fixture
def shell(tmp_path: Path) -> CommandLine:
    return CommandLine(folder=tmp_path)
