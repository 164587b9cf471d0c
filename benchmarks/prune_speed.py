"""Measure how long pruning a long history takes, compared with sorting its messages by score.

    python benchmarks/prune_speed.py [--json FILE] [--messages 10000]

Three rows: the sort alone; scoring and choosing over messages that are already counted; and `prune` from the
plain list, which reads every message again but counts none. Best of seven runs of processor time; the claim
to beat is 1 ms for 100 messages.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from foveal.operations.messages import counted, meter, units
from foveal.operations.reploid import TIMELESS, prune
from foveal.presets.reploid import pick_important as best_that_fit
from foveal.presets.reploid import score_importance

RUNS = 7
CLAIM = 10.0
"""Milliseconds a thousand messages."""
WORDS = "the eye keeps full detail where it looks error tool create and less further out"


def history(size: int) -> list[dict[str, Any]]:
    """A system prompt and a talk in which every seventh answer calls a tool."""
    source = random.Random(7)
    made: list[dict[str, Any]] = [{"role": "system", "content": "You fix bugs."}]
    while len(made) < size:
        said = " ".join(source.choices(WORDS.split(), k=source.randrange(5, 120)))
        if len(made) % 7 == 0:
            call = {"id": f"c{len(made)}", "type": "function"}
            call |= {"function": {"name": "look", "arguments": json.dumps({"at": said[:20]})}}
            made += [
                {"role": "assistant", "content": None, "tool_calls": [call]},
                {"role": "tool", "tool_call_id": call["id"], "content": said},
            ]
        else:
            made.append({"role": ("user", "assistant")[len(made) % 2], "content": said})
    return made[:size]


def best(work: Callable[[], object]) -> float:
    """Processor seconds of the quickest run."""
    times = []
    for _ in range(RUNS):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def figures(size: int) -> dict[str, float]:
    """Milliseconds of each way; nothing is counted in them."""
    messages = history(size)
    found = counted(messages)
    scores = score_importance(found.items, TIMELESS)
    budget = found.tokens // 2
    count = meter("o200k_base", found.format, "").text
    known = len(count)

    def choose() -> None:
        turns = units(found, score_importance(found.items, TIMELESS))
        best_that_fit(turns, budget - sum(unit.tokens for unit in turns if unit.forced))

    rows = {
        "bare sort": best(lambda: sorted(scores, key=lambda score: score.total)),
        "score and choose": best(choose),
        "prune": best(lambda: prune(messages, budget)),
    }
    assert len(count) == known, "a message was counted again"
    return {name: seconds * 1000 for name, seconds in rows.items()}


def main() -> int:
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("--json", type=Path, help="write the figures to this file")
    options.add_argument("--messages", type=int, default=10_000)
    asked = options.parse_args()
    rows = figures(asked.messages)
    sort = rows["bare sort"]
    print(f"{asked.messages:,} counted messages")
    for name, each in rows.items():
        print(f"{name:18}{each:>9.1f} ms{each / sort:>9.1f} × the sort")
    claim = CLAIM * asked.messages / 1000
    print(f"the claim to beat: {claim:.0f} ms")
    if asked.json:
        found = {
            "messages": asked.messages,
            "milliseconds": {name: round(each, 2) for name, each in rows.items()},
            "times_the_sort": {name: round(each / sort, 1) for name, each in rows.items()},
            "claim_milliseconds": claim,
        }
        asked.json.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
