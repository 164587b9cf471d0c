"""Run every preset on recorded agent runs: refused requests (there must be none), and needed facts kept.

Every turn at 25% and 50% of the tokens, through a session. Recall is the harness's: the share of values in
the next recorded tool call that are in the window with two words of their surroundings (strict: four).

    python benchmarks/presets.py [--only recent "recent, short forms"] [--most N] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import foveal
from foveal import presets
from foveal.config import Tables
from harness import ABSENT, Stored, trajectories

FRACTIONS = (0.25, 0.5)
SHORT = "recent, short forms"
ROWS = (*sorted(presets.PRESETS), SHORT)
NUMBERS: Mapping[str, Tables] = {SHORT: {"recent": {"short_forms": True}}}
"""Of rows that are a preset with other numbers than its own."""


def measure(name: str, most: int | None) -> dict[str, Any]:
    from trajbench.data import load
    from trajbench.quality import Case, Score, replay

    class System(Stored):
        chosen = name.partition(",")[0]
        numbers = NUMBERS.get(name)

        def build(self) -> list[dict[str, Any]]:
            try:
                return super().build()
            except foveal.BudgetError:  # the harness knows which turns cannot fit
                return []

    records = load("dev")
    picked = records if most is None else records[:: max(1, len(records) // most)]
    rows = {}
    for fraction in FRACTIONS:
        score = Score()
        for record in picked:
            replay(System(), Case(record["id"], record["messages"], fraction=fraction), score)
        rows[f"{fraction:.0%}"] = score.row()
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--most", type=int, help="so many recordings instead of all")
    parser.add_argument("--only", nargs="+", choices=ROWS, default=ROWS, help="these rows instead of all")
    options = parser.parse_args()
    if not trajectories():
        print(ABSENT)
        return 0
    figures = {name: measure(name, options.most) for name in options.only}
    print(f"{'preset':20}{'budget':>7}{'turns':>8}{'invalid':>9}{'over':>6}{'recall':>8}{'strict':>8}")
    bad = 0
    for name, rows in figures.items():
        for fraction, row in rows.items():
            invalid = row["invalid_openai"] + row["invalid_anthropic"]
            bad += invalid + row["over_budget"] + row["errors"]
            recall, strict = row["recall_usable"] or 0, row["recall_strict"] or 0
            line = f"{name:20}{fraction:>7}{row['turns']:>8}{invalid:>9}{row['over_budget']:>6}"
            print(f"{line}{recall:>8.1%}{strict:>8.1%}")
    if options.json:
        options.json.write_text(json.dumps(figures, indent=2) + "\n")
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
