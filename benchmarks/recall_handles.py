"""Check that every handle in every window of recorded agent runs returns its original, byte for byte.

    python benchmarks/recall_handles.py [--json FILE] [--most N]

Each recording is a session in a file. Before every call of its model, windows are built under each preset
with 25% and 50% of the tokens in addition to the system prompt. Every handle in every window is checked: that
of each decision, and those in the text. When a handle is first seen in a session, it must return the message
as it was added, the same JSON text; when it is seen again, it must be the one that this message had before.
All of them are recalled once more after the store was closed and reopened.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from foveal import BudgetError, Foveal, Session, Window
from foveal.config import Tables
from harness import ABSENT, trajectories

FRACTIONS = (0.25, 0.5)
PRESETS = ("recent", "openscroll", "fifth")
NUMBERS: Tables = {"recent": {"short_forms": True}}
MODEL = "gpt-5"
HANDLE = re.compile("fv-[0-9a-f]{8,64}")
SEEN = ("windows", "refused", "decisions", "shortened", "handles seen", "shown in text")
RECALLED = "distinct handles recalled"
ERRORS = ("uncovered", "changed", "unknown", "differ")
"""Windows without one decision for each message; messages with another handle than before; handles in a text
that belong to no message; originals that differ from what was added."""


class Tally:
    """What was found, by preset and in all."""

    def __init__(self) -> None:
        self.rows = {name: Counter[str]() for name in (*PRESETS, "first seen", "reopened")}

    @property
    def errors(self) -> int:
        return sum(row[name] for row in self.rows.values() for name in ERRORS)

    def show(self) -> None:
        self._table((*SEEN, *ERRORS[:3]), PRESETS)
        self._table((RECALLED, "differ"), ("first seen", "reopened"))

    def _table(self, columns: Sequence[str], names: Sequence[str]) -> None:
        print(f"{'':12}" + "".join(f"{column:>{len(column) + 2}}" for column in columns))
        for name in names:
            figures = (f"{self.rows[name][column]:>{len(column) + 2},}" for column in columns)
            print(f"{name:12}" + "".join(figures))


class Recording:
    """One run: its messages as they went in, and the handle that each had in the first window with it."""

    def __init__(self, messages: Sequence[Any]) -> None:
        self.texts = [_text(message) for message in messages]
        self.handles: list[str] = []

    def look(self, window: Window, length: int, row: Counter[str]) -> None:
        """Check what a window says of the first `length` messages; take the handles that are new."""
        decisions = window.manifest.decisions
        found = [handle for decision in decisions for handle in window.handles(decision)]
        row["windows"] += 1
        row["decisions"] += len(decisions)
        row["shortened"] += sum(each.verdict == "kept" and each.detail != "full" for each in decisions)
        row["handles seen"] += len(found)
        row["uncovered"] += [at for d in decisions for at in range(d.first, d.last + 1)] != [*range(length)]
        row["changed"] += sum(one != other for one, other in zip(self.handles, found, strict=False))
        self.handles += found[len(self.handles) :]
        shown = {handle for piece in window.pieces for handle in HANDLE.findall(piece)}
        row["shown in text"] += len(shown)
        row["unknown"] += len(shown - {*found})

    def recall(self, session: Session, row: Counter[str], *, start: int = 0) -> None:
        """Recall the messages from `start` on that have a handle."""
        for handle, text in zip(self.handles[start:], self.texts[start:], strict=False):
            row["differ"] += _text(session.recall(handle)) != text
        row[RECALLED] += len({*self.handles} - {*self.handles[:start]})


def measure(messages: Sequence[Any], file: Path, tally: Tally) -> None:
    """Replay one recording into a store, build windows on the way, and ask for everything they name."""
    from trajbench.data import turns

    due = {*turns(messages)}
    recording = Recording(messages)
    with opened(file) as session:
        for at, message in enumerate(messages):
            if at in due:
                known = len(recording.handles)
                _windows(session, recording, at, tally)
                recording.recall(session, tally.rows["first seen"], start=known)
            session.extend([message], format="openai")
    with opened(file) as session:
        recording.recall(session, tally.rows["reopened"])


@contextmanager
def opened(file: Path) -> Iterator[Session]:
    with Foveal(file, numbers=NUMBERS, embedder="none") as store:
        yield store.session("bench", model=MODEL)


def _windows(session: Session, recording: Recording, length: int, tally: Tally) -> None:
    entries = session.entries()
    system = sum(entry.tokens for entry in entries if entry.role == "system")
    talk = sum(entry.tokens for entry in entries) - system
    for preset in PRESETS:
        row = tally.rows[preset]
        for fraction in FRACTIONS:
            try:
                window = session.build(budget=system + int(fraction * talk), preset=preset, now=0.0)
            except BudgetError:
                row["refused"] += 1
            else:
                recording.look(window, length, row)


def _text(message: object) -> str:
    """As JSON, with its keys in their order."""
    return json.dumps(message, ensure_ascii=False)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    parser.add_argument("--most", type=int, help="so many recordings instead of all")
    options = parser.parse_args()
    if not trajectories():
        print(ABSENT)
        return 0
    from trajbench.data import load

    records = load("dev")
    picked = records if options.most is None else records[:: max(1, len(records) // options.most)]
    tally = Tally()
    for number, record in enumerate(picked, 1):
        with tempfile.TemporaryDirectory() as folder:
            measure(record["messages"], Path(folder) / "store.db", tally)
        spent = time.process_time()
        print(f"{number} of {len(picked)} recordings, {spent:,.0f} s", end="\r", file=sys.stderr, flush=True)
    print(f"{len(picked)} recordings")
    tally.show()
    if options.json:
        figures = {**tally.rows, "recordings": len(picked)}
        options.json.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
    return int(tally.errors > 0)


if __name__ == "__main__":
    sys.exit(main())
