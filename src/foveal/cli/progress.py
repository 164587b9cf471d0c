"""Work in → the same work, with a bar or a note where it is long and somebody watches."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Timer

from foveal.cli import output

LONG = 4_000_000
"""Bytes below which a bar would be gone before it is seen."""
LATE = 1.0
"""Seconds."""


@contextmanager
def progress(files: Sequence[str | None]) -> Iterator[Iterable[str | None]]:
    """The files to iterate over; `None` is stdin."""
    if not sys.stderr.isatty() or sum(map(_size, files)) < LONG:
        yield files
        return
    from rich.console import Console
    from rich.progress import Progress

    # On one terminal both must share the bar's line; a pipe must get its results untouched.
    shared = sys.stdout.isatty()
    with Progress(console=Console(stderr=True), transient=True, redirect_stdout=shared) as bar:
        # A single file has no middle to report: the bar only shows that something moves.
        yield bar.track(files, total=len(files) if len(files) > 1 else None, description="importing")


def _size(file: str | None) -> int:
    try:
        return Path(file or "").stat().st_size
    except OSError:
        return 0


@contextmanager
def noted(what: str) -> Iterator[None]:
    """A note on stderr, where somebody watches, once the work has taken longer than one waits for."""
    timer = Timer(LATE, output.note, (what,))
    timer.daemon = True
    if sys.stderr.isatty():
        timer.start()
    try:
        yield
    finally:
        timer.cancel()
