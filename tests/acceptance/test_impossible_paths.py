"""A path that no file system can have is refused like one that does not exist."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from foveal import Foveal, FovealError, assemble_smart_context, count_tokens

PATHS = {
    "long": "x" * 5_000,
    "with NUL": "a\0b",
    "with a lone surrogate": "\ud800",
    "a user's": f"~{'x' * 5_000}",
}


def _embedder(path: str) -> None:
    with Foveal(":memory:", embedder=path) as fov:
        fov.session().search("hello")


def _context(path: str) -> None:
    with Foveal(":memory:") as fov:
        fov.session().context(workspace=path, task="hello")


@pytest.mark.parametrize("path", PATHS.values(), ids=PATHS)
@pytest.mark.parametrize(
    "use",
    [
        _embedder,
        _context,
        assemble_smart_context,
        lambda path: count_tokens("hello", catalogue=Path(path)),
    ],
    ids=["embedder", "context", "workspace", "catalogue"],
)
def test_an_impossible_path_is_refused_as_one_of_ours(use: Callable[[str], object], path: str) -> None:
    with pytest.raises(FovealError):
        use(path)
