"""Work in → the same work, with a bar or a note where it is long and somebody watches."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from threading import Timer

from foveal.cli import output

LONG = 4_000_000
"""Bytes below which a bar would be gone before it is seen."""
MANY = 100
"""Files, the same."""
LATE = 1.0
"""Seconds."""
READING = "reading files"
"""Those of a workspace."""


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


@contextmanager
def counting(what: str) -> Iterator[Callable[[int, int], None] | None]:
    """What to call with the files that are done and how many there are; None where nobody watches."""
    if not sys.stderr.isatty():
        yield None
        return
    with ExitStack() as until:
        yield _Counting(what, until)


class _Counting:
    """A bar that is there from the first call on, if there is much to do."""

    def __init__(self, what: str, until: ExitStack) -> None:
        self._what, self._until = what, until
        self._advance: Callable[[int], None] | None = None

    def __call__(self, done: int, of: int) -> None:
        if of < MANY:
            return
        if self._advance is None:
            from rich.console import Console
            from rich.progress import Progress

            bar = self._until.enter_context(Progress(console=Console(stderr=True), transient=True))
            task = bar.add_task(self._what, total=of)
            self._advance = lambda done: bar.update(task, completed=done)
        self._advance(done)
