"""The preset `foveal` on recorded agent runs → needed facts and landmarks kept, and the prompt-cache bill.

    python benchmarks/foveated.py [--json FILE] [--most N]

Quality: single recordings at 25% and 50% of their tokens, as the harness draws them. Cost: long sessions at
Anthropic's prices, beside the harness's sliding window and block eviction in the same run. The session is
one for a Claude model, so that its marks follow from those prices; tokens are counted as the harness does.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import foveal
from harness import ABSENT, Stored, trajectories

FRACTIONS = (0.25, 0.5)
SETS = {"airline": (50, 100), "coding": (8, 220), "swe": (8, 100), "shell": (12, 100)}
"""By domain: how many recordings, and messages of the longest."""
SESSIONS = {
    "coding-200@128k": ("coding", 200, 128_000),
    "coding-1000@32k": ("coding", 1_000, 32_000),
    "airline-1000@16k": ("airline", 1_000, 16_000),
}
LANDMARKS = ("user", "error", "decision")


class Held(Stored):
    """One session, windows that hold still."""

    chosen = "foveal"

    def open(self, model: str, budget: int) -> None:  # noqa: ARG002 — prices are those of the one below
        self.budget = budget
        store = foveal.Foveal(":memory:", embedder="none", counter="o200k_base")
        self.session = store.session("bench", model="claude-sonnet-4-5")

    def append(self, message: dict[str, Any]) -> None:
        self.session.extend([message], format="openai")

    def build(self) -> list[dict[str, Any]]:
        try:
            return super().build()
        except foveal.BudgetError:  # the harness knows which turns nobody can fit
            return []


def quality(most: int | None) -> dict[str, Any]:
    """Recall over all domains, landmarks as the mean of the domains, refused requests."""
    from trajbench.data import load
    from trajbench.quality import Case, Score, replay

    rows = {}
    for fraction in FRACTIONS:
        sums: Counter[str] = Counter()
        kept: dict[str, list[float]] = {name: [] for name in LANDMARKS}
        for domain, (count, longest) in SETS.items():
            records = [r for r in load("dev", domain) if len(r["messages"]) <= longest][:count]
            score = Score()
            for record in records[:most]:
                replay(Held(), Case(record["id"], record["messages"], fraction=fraction), score)
            sums.update(needed=score.needed, usable=score.usable, strict=score.strict, turns=score.turns)
            sums.update(bad=score.invalid + score.invalid_anthropic + score.over + score.errors)
            for name, share in score.row()["kept"].items():
                kept[name] += [] if share is None else [share]
        rows[f"{fraction:.0%}"] = {
            "facts": sums["needed"],
            "recall": sums["usable"] / sums["needed"] if sums["needed"] else None,
            "strict": sums["strict"] / sums["needed"] if sums["needed"] else None,
            "kept": {name: sum(each) / len(each) for name, each in kept.items() if each},
            "turns": sums["turns"],
            "bad": sums["bad"],
        }
    return rows


def cost(most: int | None) -> dict[str, Any]:
    """Each session's bill against those of the sliding window and of block eviction."""
    from systems.naive import SlidingWindow
    from systems.reference import BlockEviction
    from trajbench.data import load, long_session
    from trajbench.quality import Case, Score, replay

    rows: dict[str, Any] = {}
    for name, (domain, length, budget) in SESSIONS.items():
        messages = long_session(load("dev", domain), min(length, most * 20) if most else length)
        case, bills = Case(name, messages, budget=budget), {}
        for system in (Held(), SlidingWindow(), BlockEviction()):
            score = Score()
            replay(system, case, score, seconds=3_600)
            bills[type(system).__name__] = score
        ours = bills["Held"]
        rows[name] = {
            "bill": ours.cost["anthropic"],
            "against the window": ours.cost["anthropic"] / bills["SlidingWindow"].cost["anthropic"],
            "against block eviction": ours.cost["anthropic"] / bills["BlockEviction"].cost["anthropic"],
            "recall": ours.row()["recall_usable"],
            "prefix hit": ours.cost["prefix_tokens"] / ours.cost["tokens"],
            "bad": ours.invalid + ours.invalid_anthropic + ours.over + ours.errors,
        }
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--most", type=int, help="so many recordings of a domain, and shorter sessions")
    options = parser.parse_args()
    if not trajectories():
        print(ABSENT)
        return 0
    figures = {"quality": quality(options.most), "cost": cost(options.most)}
    print(json.dumps(figures, indent=2))
    if options.json:
        options.json.write_text(json.dumps(figures, indent=2) + "\n")
    return int(any(row["bad"] for part in figures.values() for row in part.values()))


if __name__ == "__main__":
    sys.exit(main())
