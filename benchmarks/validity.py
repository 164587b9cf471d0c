"""Count the requests built from recorded agent runs that a provider would refuse: there must be none.

Every turn of every recording, at 25% and 50% of its tokens, judged by the harness's own validators and
counter in OpenAI chat and Anthropic form. Turns whose system prompt and newest unit alone exceed the budget
are left out, as the harness does.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import foveal
from harness import ABSENT, SYSTEMS, trajectories

FRACTIONS = (0.25, 0.5)


class NoFacts:
    """This benchmark judges requests, not what they recall."""

    def score(self, *_: object) -> tuple[int, int, int, int]:
        return 0, 0, 0, 0


def cases(most: int | None) -> Iterator[Any]:
    from trajbench.data import load
    from trajbench.quality import Case

    records = load("dev")
    for record in records if most is None else records[:: max(1, len(records) // most)]:
        for fraction in FRACTIONS:
            yield Case(record["id"], record["messages"], fraction=fraction, index=NoFacts())


def measure(name: str, most: int | None, preset: str = "") -> dict[str, Any]:
    from trajbench.quality import Score, replay

    class System(SYSTEMS[name]):  # type: ignore[misc]
        chosen = preset

        def build(self) -> list[dict[str, Any]]:
            try:
                return super().build()  # type: ignore[no-any-return]
            except foveal.BudgetError:  # the harness knows which turns cannot fit
                return []

    score = Score()
    for case in cases(most):
        replay(System(), case, score)
    keys = ("turns", "skipped_turns", "invalid_openai", "invalid_anthropic", "over_budget", "errors")
    return {key: score.row()[key] for key in (*keys, "violations")}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--most", type=int, help="so many recordings instead of all")
    options = parser.parse_args()
    if not trajectories():
        print(ABSENT)
        return 0
    figures = {name: measure(name, options.most) for name in SYSTEMS}
    print(f"{'':10}{'turns':>8}{'OpenAI':>8}{'Anthropic':>11}{'over':>6}{'errors':>8}   (refused requests)")
    for name, row in figures.items():
        bad = (row["invalid_openai"], row["invalid_anthropic"], row["over_budget"], row["errors"])
        print(
            f"{name:10}{row['turns']:>8}{bad[0]:>8}{bad[1]:>11}{bad[2]:>6}{bad[3]:>8}   {row['violations']}"
        )
    if options.json:
        options.json.write_text(json.dumps(figures, indent=2) + "\n")
    return int(any(row["violations"] or row["over_budget"] or row["errors"] for row in figures.values()))


if __name__ == "__main__":
    sys.exit(main())
