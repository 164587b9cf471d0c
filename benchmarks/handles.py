"""Every handle of windows of recorded agent runs → the original it brings back, byte for byte, or a fault.

    python benchmarks/handles.py [--json FILE] [--most N]

Each recording is a session in a file. Every so many turns, and at the last one, windows are built under each
preset with 25% and 50% of the tokens beside the system prompt. Each handle of each decision must bring back
the message as it went in, the same text of JSON; and again when the store was closed and reopened.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from foveal import BudgetError, Foveal, Session
from foveal.config import Tables
from harness import ABSENT, trajectories

FRACTIONS = (0.25, 0.5)
PRESETS = ("recent", "openscroll", "fifth")
NUMBERS: Tables = {"recent": {"short_forms": True}}
MOMENTS = 4
"""Windows of one recording under each preset and budget."""
MODEL = "gpt-5"


class Tally:
    """What was found, by preset and in all."""

    def __init__(self) -> None:
        self.rows: dict[str, Counter[str]] = {preset: Counter() for preset in PRESETS}
        self.reopened: Counter[str] = Counter()

    def ask(self, session: Session, row: Counter[str], wanted: Mapping[str, str]) -> None:
        for handle, text in wanted.items():
            row["handles"] += 1
            row["differ"] += _text(session.recall(handle)) != text

    @property
    def differ(self) -> int:
        return sum(row["differ"] for row in (*self.rows.values(), self.reopened))


def measure(messages: list[dict[str, Any]], file: Path, tally: Tally) -> None:
    """Replay one recording into a store, build windows on the way, and ask for everything they name."""
    from trajbench.data import turns

    due = _moments(turns(messages))
    wanted: dict[str, str] = {}
    with opened(file) as session:
        for at, message in enumerate(messages):
            if at in due:
                _windows(session, messages[:at], tally, wanted)
            session.extend([message], format="openai")
    with opened(file) as session:
        tally.ask(session, tally.reopened, wanted)


@contextmanager
def opened(file: Path) -> Iterator[Session]:
    with Foveal(file, numbers=NUMBERS, embedder="none") as store:
        yield store.session("bench", model=MODEL)


def _moments(turns: list[int]) -> set[int]:
    return {turns[len(turns) * nth // MOMENTS - 1] for nth in range(1, MOMENTS + 1)}


def _windows(session: Session, history: list[dict[str, Any]], tally: Tally, wanted: dict[str, str]) -> None:
    system, talk = _tokens(session, "system"), _tokens(session, "user", "assistant", "tool")
    for preset in PRESETS:
        row = tally.rows[preset]
        for fraction in FRACTIONS:
            try:
                window = session.build(budget=system + int(fraction * talk), preset=preset, now=0.0)
            except BudgetError:
                row["refused"] += 1
                continue
            row["windows"] += 1
            named = {}
            for decision in window.manifest.decisions:
                handles = window.handles(decision)
                row["decisions"] += 1
                row["shortened"] += decision.verdict == "kept" and decision.detail != "full"
                named |= dict(zip(handles, map(_text, history[decision.first :]), strict=False))
            row["uncovered"] += set(named.values()) != set(map(_text, history))
            tally.ask(session, row, named)
            wanted |= named


def _tokens(session: Session, *roles: str) -> int:
    return sum(entry.tokens for entry in session.entries() if entry.role in roles)


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
    for record in picked:
        with tempfile.TemporaryDirectory() as folder:
            measure(record["messages"], Path(folder) / "store.db", tally)
    shown = ("windows", "refused", "decisions", "shortened", "uncovered", "handles", "differ")
    print(f"{len(picked)} recordings\n{'':12}" + "".join(f"{name:>11}" for name in shown))
    for name, row in (*tally.rows.items(), ("reopened", tally.reopened)):
        print(f"{name:12}" + "".join(f"{row[each]:>11,}" for each in shown))
    if options.json:
        figures = {**tally.rows, "reopened": tally.reopened, "recordings": len(picked)}
        options.json.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
    return int(tally.differ or any(row["uncovered"] for row in tally.rows.values()))


if __name__ == "__main__":
    sys.exit(main())
