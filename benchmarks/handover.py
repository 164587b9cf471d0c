"""Measure what a successor could take over from a window: requests, actions, outcomes, sources, state.

    python benchmarks/handover.py [--json FILE] [--every N]

The harness judges four turns of each recording at 25% and 50% of its tokens, building at every turn as a live
session does. A sliding window is judged in the same run.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterator
from multiprocessing import Pool
from pathlib import Path
from typing import Any

from harness import ABSENT, Stored, trajectories

FRACTIONS = (0.25, 0.5)
SETS = {"airline": (50, 100), "coding": (30, 700), "swe": (14, 100), "shell": (24, 100)}
"""By domain: how many recordings, and messages of the longest."""
MODEL = "gpt-4o"
BESIDE = ("sourced", "fragments", "looked", "contradictions")

Job = tuple[str, str, dict[str, Any]]


def judged(job: Job) -> list[tuple[str, str, float, Any]]:
    """The judged turns of one recording under one system, by share of its tokens."""
    from systems.naive import SlidingWindow
    from trajbench import handover
    from trajbench.quality import Case

    system, domain, record = job
    make = Stored if system == "foveal" else SlidingWindow
    found, index = [], None
    for fraction in FRACTIONS:
        case = Case(record["id"], record["messages"], fraction=fraction, index=index)
        index = case.index
        if fraction == FRACTIONS[0] and case.room < handover.MIN_ROOM:
            break
        if pasts := handover.past_of(case):
            found.append((system, domain, fraction, handover.replay(make(), case, pasts, MODEL)))
    return found


def jobs(every: int) -> Iterator[Job]:
    from trajbench.data import load

    for domain, (most, longest) in SETS.items():
        chosen = [each for each in load("dev", domain) if len(each["messages"]) <= longest][:most:every]
        yield from ((system, domain, each) for system in ("foveal", "sliding window") for each in chosen)


def measure(every: int) -> dict[str, Any]:
    from trajbench import handover, tokens

    tokens.memoize = True
    scores: dict[tuple[str, str], Any] = {}
    with Pool(os.cpu_count()) as pool:
        for rows in pool.imap_unordered(judged, jobs(every)):
            for system, domain, fraction, turns in rows:
                key = (system, f"{domain}@{int(100 * fraction)}")
                scores.setdefault(key, handover.HandoverScore()).add(turns)
    results: dict[str, Any] = {}
    for system in ("foveal", "sliding window"):
        rows = {name: score.row() for (whose, name), score in scores.items() if whose == system}
        results[system] = {
            share: {
                name: round(100 * (handover.overall(rows, share, name) or 0.0), 1)
                for name in ("handover", *handover.MEASURES, *BESIDE)
            }
            for share in ("25", "50")
        }
    return results


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--json", type=Path)
    parser.add_argument("--every", type=int, default=1, help="every Nth recording")
    asked = parser.parse_args()
    if not trajectories():
        print(ABSENT)
        return 0
    results = measure(asked.every)
    for system, shares in results.items():
        for share, row in shares.items():
            print(f"{system} at {share}%: " + ", ".join(f"{name} {value}" for name, value in row.items()))
    if asked.json:
        asked.json.write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
