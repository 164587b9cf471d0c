"""Measure how often windows of 12, 20 and 30 turns are refocused, and what that costs.

    python benchmarks/small_windows.py [--json FILE]

Sessions of 800 recorded messages; a window is as large as so many average turns. The bill is at Anthropic's
prices for cached and written tokens, and given as a ratio to that of a sliding window in the same run.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from harness import ABSENT, Stored, trajectories

SIZES = (12, 20, 30)
MESSAGES = 800
MODEL = "gpt-4o"


def measure(domain: str, turns: int) -> dict[str, Any]:
    from systems.naive import SlidingWindow
    from trajbench.cache import CacheMeter
    from trajbench.data import load, long_session
    from trajbench.data import turns as built_at
    from trajbench.tokens import message_tokens, request_tokens

    messages = long_session(load("dev", domain), MESSAGES)
    due = set(built_at(messages))
    system = message_tokens(messages[0]) if messages[0]["role"] == "system" else 0
    budget = system + int(turns * (request_tokens(messages) - system) / len(due))
    ours, sliding = Stored(), SlidingWindow()
    bills = CacheMeter(), CacheMeter()
    refocused = 0
    for each in (ours, sliding):
        each.open(MODEL, budget)
    for at, message in enumerate(messages):
        if at in due:
            window = ours.session.build(budget=budget)
            refocused += bool(window.manifest.metrics.get("refocused"))
            bills[0].request(window.messages)
            bills[1].request(sliding.build())
        ours.append(message)
        sliding.append(message)
    cost, other = (bill.result()["anthropic"] for bill in bills)
    return {
        "budget": budget,
        "builds": len(due),
        "builds per refocus": round(len(due) / max(1, refocused), 1),
        "cost of a sliding window": round(cost / other, 2),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    if not trajectories():
        print(ABSENT)
        return 0
    results = {
        f"{domain}, {turns} turns": measure(domain, turns)
        for domain in ("coding", "airline")
        for turns in SIZES
    }
    for name, row in results.items():
        print(f"{name}: {row}")
    if asked.json:
        asked.json.write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
