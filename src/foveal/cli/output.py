"""Print results to stdout, as text or JSON, and notes, errors and progress to stderr."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, is_dataclass
from datetime import datetime
from secrets import randbelow
from textwrap import wrap
from threading import Timer
from typing import IO

import typer

from foveal.config import coloured
from foveal.errors import NAME_MOST, REMEDY_MOST, shortened

WIDTH = 80
NOTE_MOST = 2_000
"""Characters of a note."""
_CONTROL = dict.fromkeys(
    (*range(9), *range(11, 32), *range(127, 160), *range(0x202A, 0x202F), *range(0x2066, 0x206A)),
    "\N{REPLACEMENT CHARACTER}",
)
"""What could manipulate a terminal, and what changes the direction in which it shows text."""
_TERMINAL_ESCAPE = "\x1b"
_ESCAPE = chr(0xF0000 + randbelow(0xFFF0))
"""Begins our own colours until they are printed. No text that we print can know it."""


def prepare(*streams: IO[str]) -> None:
    """Write UTF-8 unless a stream is a terminal with its own encoding; no character may raise an error."""
    for stream in streams:
        if hasattr(stream, "reconfigure"):
            terminal = stream.isatty()
            stream.reconfigure(encoding=None if terminal else "utf-8", errors="replace")


def say(text: str = "") -> None:
    """Print a line of the result; on a terminal no control characters but our own colours."""
    sys.stdout.write(f"{without_control(text).replace(_ESCAPE, _TERMINAL_ESCAPE)}\n")


def note(text: str) -> None:
    """Print a line on stderr, of a long one its beginning and its end."""
    _to_stderr("foveal: ", shortened(text, NOTE_MOST))


def report(text: str) -> None:
    """Print text on stderr, without control characters."""
    sys.stderr.write(f"{printable(text)}\n")


def fail(what: str, remedy: str, *, kind: str, field: str = "", json: bool = False) -> None:
    """Print an error and its remedy, one line each; or as one line of JSON."""
    what, remedy, field = shortened(what), shortened(remedy, REMEDY_MOST), shortened(field, NAME_MOST)
    if json:
        error = {"error": kind, "what": what, "remedy": remedy, "field": field}
        report(_json(error))
        return
    note(what)
    _to_stderr("  try: ", remedy)


def _to_stderr(head: str, text: str) -> None:
    """Print one line on stderr, wrapped to the width of a terminal."""
    line = head + " ".join(printable(text).split())
    if sys.stderr.isatty():
        width = max(40, shutil.get_terminal_size().columns - 1)
        line = "\n".join(
            wrap(
                line, width, subsequent_indent=" " * len(head), break_long_words=False, break_on_hyphens=False
            )
        )
    sys.stderr.write(f"{line}\n")


def counted(number: int, thing: str) -> str:
    """A number with its noun, in the plural where needed.

    >>> counted(1, "message"), counted(1_200, "message")
    ('1 message', '1,200 messages')
    """
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def print_json(value: object) -> None:
    """Print a result as JSON."""
    plain = asdict(value) if is_dataclass(value) and not isinstance(value, type) else value
    say(_json(plain, indent=2))


def print_json_list(values: Iterable[object]) -> None:
    """Print a JSON array, one value a line: fast to write and easy to diff for long histories."""
    rows = list(map(_json, values))
    say("[\n" + ",\n".join(rows) + "\n]" if rows else "[]")


def print_json_lines(values: Iterable[object]) -> None:
    for value in values:
        say(_json(value))


def _json(value: object, *, indent: int | None = None) -> str:
    """JSON text in UTF-8, with lone surrogates as escapes, so that it reads back as the same."""
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    return text.encode("utf-8", "backslashreplace").decode()


def in_colour() -> bool:
    """Whether results are printed in colour."""
    return coloured(sys.stdout)


def styled(text: str, colour: str = "", *, dim: bool = False, bold: bool = False) -> str:
    """The text in colour, if results are printed in colour."""
    if not in_colour():
        return text
    plain = printable(text)
    style = typer.style(plain, fg=colour or None, dim=dim or None, bold=bold or None)
    return style.replace(_TERMINAL_ESCAPE, _ESCAPE)


def without_control(text: str) -> str:
    """The text; on a terminal without control characters, which could manipulate it."""
    return printable(text) if sys.stdout.isatty() else text


def printable(text: str) -> str:
    """The text without control characters, wherever it is printed."""
    return text.replace("\r\n", "\n").translate(_CONTROL)


def moment(at: float, form: str = "%Y-%m-%d %H:%M") -> str:
    """A time in the zone of this machine; a dash for one that its calendar does not have."""
    try:
        return f"{datetime.fromtimestamp(at):{form}}"
    except (ValueError, OverflowError, OSError):
        return "–"


SOUGHT = 50
"""Words of a query that a snippet is chosen for: the text is searched for each."""


def snippet(text: str, words: Sequence[str] = (), *, width: int = WIDTH - 4) -> str:
    """One line of a text, chosen to show as many of the words as possible; of many words the first count."""
    flat = " ".join(text.split()).translate(_CONTROL)
    lower = flat.lower()
    asked = dict.fromkeys(word.lower() for word in words[:SOUGHT])
    hits = [at for word in asked if (at := lower.find(word)) >= 0] or [0]
    last = max(0, len(flat) - width)
    starts = [min(last, max(0, hit - width // 4)) for hit in hits]
    start = max(starts, key=lambda at: sum(at <= hit < at + width for hit in hits))
    shown = flat[start : start + width]
    before, after = "…" if start else "", "…" if start + width < len(flat) else ""
    return before + shown[len(before) : len(shown) - len(after)] + after


def bar(share: float, *, width: int = 40) -> str:
    """A bar that is filled to a share from 0 to 1."""
    full = min(width, max(0, round(share * width)))
    return styled("█" * full, "green") + styled("░" * (width - full), dim=True)


def columns(rows: Sequence[Sequence[str]], *, right: Sequence[int] = ()) -> Iterable[str]:
    """Rows as aligned text; the columns in `right` are aligned right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = [
            cell.rjust(width) if at in right else cell.ljust(width)
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        yield "  ".join(cells).rstrip()


MANY = 100
"""Files or messages below which a bar could not be read before the work is done."""
LATE = 1.0
"""Seconds after which slow work is announced."""
READING = "reading files"


@contextmanager
def slow_note(what: str) -> Iterator[None]:
    """Print a note on a terminal once the work has taken `LATE` seconds."""
    timer = Timer(LATE, note, (what,))
    timer.daemon = True
    if sys.stderr.isatty():
        timer.start()
    try:
        yield
    finally:
        timer.cancel()


@contextmanager
def progress_bar(what: str) -> Iterator[Callable[[int, int], None] | None]:
    """A callback for the number of things done and their total; None where stderr is not a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    with ExitStack() as until:
        yield _ProgressBar(what, until)


class _ProgressBar:
    """A bar that appears with the first call, if there is much to do."""

    def __init__(self, what: str, until: ExitStack) -> None:
        self._what, self._until = what, until
        self._advance: Callable[[int], None] | None = None

    def __call__(self, done: int, of: int) -> None:
        if of < MANY:
            return
        if self._advance is None:
            from rich.console import Console
            from rich.progress import Progress

            # On a terminal, results must not overwrite the bar; a pipe must get them unchanged.
            shared, console = sys.stdout.isatty(), Console(stderr=True)
            bar = self._until.enter_context(Progress(console=console, transient=True, redirect_stdout=shared))
            task = bar.add_task(self._what, total=of)
            self._advance = lambda done: bar.update(task, completed=done)
        self._advance(done)
