"""Values in → text on stdout for people, JSON for programs; warnings, errors and notes on stderr.

Work in → the same work, with a bar or a note where it is long and somebody watches.
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, is_dataclass
from pathlib import Path
from textwrap import wrap
from threading import Timer
from typing import IO

import typer

from foveal.config import coloured

WIDTH = 80
_CONTROL = dict.fromkeys((*range(9), *range(11, 32), *range(127, 160)), "\N{REPLACEMENT CHARACTER}")


def prepare(*streams: IO[str]) -> None:
    """UTF-8 wherever it is not a terminal's own affair; no character may stop the work."""
    for stream in streams:
        if hasattr(stream, "reconfigure"):
            terminal = stream.isatty()
            stream.reconfigure(encoding=None if terminal else "utf-8", errors="replace")


def say(text: str = "") -> None:
    """A line of the result."""
    sys.stdout.write(f"{text}\n")


def note(text: str) -> None:
    """A line for the person who watches."""
    _aside("foveal: ", text)


def fail(what: str, remedy: str) -> None:
    """What went wrong and what to do: one line each."""
    note(what)
    _aside("  try: ", remedy)


def _aside(head: str, text: str) -> None:
    """One line on stderr; on a terminal, as many as its width needs."""
    line = head + " ".join(text.split())
    if sys.stderr.isatty():
        width = max(40, shutil.get_terminal_size().columns - 1)
        line = "\n".join(
            wrap(
                line, width, subsequent_indent=" " * len(head), break_long_words=False, break_on_hyphens=False
            )
        )
    sys.stderr.write(f"{line}\n")


def counted(number: int, thing: str) -> str:
    """A number of things, as one says it.

    >>> counted(1, "message"), counted(1_200, "message")
    ('1 message', '1,200 messages')
    """
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def tell(value: object) -> None:
    """A result for programs."""
    found = asdict(value) if is_dataclass(value) and not isinstance(value, type) else value
    say(json.dumps(found, ensure_ascii=False, indent=2))


def tell_list(values: Iterable[object]) -> None:
    """A JSON array, one value a line: long histories stay quick to write and easy to compare."""
    rows = [json.dumps(value, ensure_ascii=False) for value in values]
    say("[\n" + ",\n".join(rows) + "\n]" if rows else "[]")


def tell_lines(values: Iterable[object]) -> None:
    for value in values:
        say(json.dumps(value, ensure_ascii=False))


def in_colour() -> bool:
    """Whether what is said may be in colour."""
    return coloured(sys.stdout)


def styled(text: str, colour: str = "", *, dim: bool = False, bold: bool = False) -> str:
    """The text in colour, where colour belongs."""
    if not in_colour():
        return text
    return typer.style(text, fg=colour or None, dim=dim or None, bold=bold or None)


def harmless(text: str) -> str:
    """Text as it is; on a terminal without the characters that would steer it."""
    return text.replace("\r\n", "\n").translate(_CONTROL) if sys.stdout.isatty() else text


def snippet(text: str, words: Sequence[str] = (), *, width: int = WIDTH - 4) -> str:
    """One line of a text, around as many of the words as one line can show."""
    flat = " ".join(text.split()).translate(_CONTROL)
    lower = flat.lower()
    hits = [at for word in words if (at := lower.find(word.lower())) >= 0] or [0]
    last = max(0, len(flat) - width)
    starts = [min(last, max(0, hit - width // 4)) for hit in hits]
    start = max(starts, key=lambda at: sum(at <= hit < at + width for hit in hits))
    shown = flat[start : start + width]
    before, after = "…" if start else "", "…" if start + width < len(flat) else ""
    return before + shown[len(before) : len(shown) - len(after)] + after


def bar(share: float, *, width: int = 40) -> str:
    """How full something is; full is as good as empty."""
    full = min(width, max(0, round(share * width)))
    return styled("█" * full, "green") + styled("░" * (width - full), dim=True)


def columns(rows: Sequence[Sequence[str]], *, right: Sequence[int] = ()) -> Iterable[str]:
    """Rows as aligned text; the columns named in `right` end flush."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = [
            cell.rjust(width) if at in right else cell.ljust(width)
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        yield "  ".join(cells).rstrip()


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
    timer = Timer(LATE, note, (what,))
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
