"""Measure how long pruning a history by importance takes: the function, the operation, and a session's.

    python benchmarks/prune_speed.py [--json FILE] [--baseline FOLDER] [--messages 100 1000 10000]

Four rows for each number of messages: `prune` of a list whose messages were all pruned before, the usual
case of a client that passes its history at every call; the same as an operation; `prune` of messages that
were never seen, which counts each of them; and `Session.prune` of a stored session. Best of seven runs of
processor time (three for new messages); the claim to beat is 1 ms for 100 messages.
`--baseline`: the `src` folder of another version, measured by the same script in the same run.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from foveal import Foveal, operations
from foveal.operations.reploid import prune

RUNS = 7
FEW_RUNS = 3
CLAIM = 0.01
"""Milliseconds a message."""
WORDS = "the eye keeps full detail where it looks error tool create and less further out"
Row = dict[str, float]


def history(size: int, *, start: str = "") -> list[dict[str, Any]]:
    """A system prompt and a talk in which every seventh answer calls a tool; texts begin with `start`."""
    source = random.Random(7)
    made: list[dict[str, Any]] = [{"role": "system", "content": "You fix bugs."}]
    while len(made) < size:
        said = start + " ".join(source.choices(WORDS.split(), k=source.randrange(5, 120)))
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


def best(work: Callable[[int], object], runs: int) -> float:
    """Milliseconds of processor time of the quickest run; `work` is given its number."""
    times = []
    for run in range(runs):
        start = time.process_time()
        work(run)
        times.append(time.process_time() - start)
    return round(min(times) * 1000, 3)


def figures(size: int) -> Row:
    """Milliseconds of each way of pruning a history to half its tokens."""
    messages = history(size)
    half = prune(messages, 1 << 40).original // 2
    request = {"messages": messages, "max_tokens": half}
    operations.run("history_prune", request)  # builds its types
    fresh = [history(size, start=f"{run} {size} ") for run in range(FEW_RUNS)]
    return {
        "prune": best(lambda _: prune(messages, half), RUNS),
        "history_prune": best(lambda _: operations.run("history_prune", request), RUNS),
        "prune, new messages": best(lambda run: prune(fresh[run], half), FEW_RUNS),
        "Session.prune": _session(messages, half),
    }


def _session(messages: Sequence[dict[str, Any]], budget: int) -> float:
    with Foveal(":memory:") as fov:
        session = fov.session("long", model="gpt-5", preset="reploid")
        session.extend(messages)
        session.prune(budget, dry_run=True)
        return best(lambda _: session.prune(budget, dry_run=True), RUNS)


def _baseline(folder: Path, sizes: Sequence[int]) -> dict[str, Row]:
    """The figures of another version, by a process that imports it."""
    command = [sys.executable, __file__, "--figures", "--messages", *map(str, sizes)]
    environment = os.environ | {"PYTHONPATH": str(folder)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    found: dict[str, Row] = json.loads(done.stdout)
    return found


def _print(found: dict[str, Row], before: dict[str, Row]) -> None:
    for size, rows in found.items():
        print(f"{int(size):,} messages; the claim to beat: {CLAIM * int(size):g} ms")
        for name, each in rows.items():
            old = before.get(size, {}).get(name)
            compared = f"{old:>10.2f} ms before, {old / each:.1f} times as long" if old else ""
            print(f"  {name:20}{each:>10.2f} ms{compared}")


def main() -> int:
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("--json", type=Path, help="write the figures to this file")
    options.add_argument("--baseline", type=Path, help="the `src` folder of another version")
    options.add_argument("--figures", action="store_true", help="print the figures as JSON")
    options.add_argument("--messages", type=int, nargs="+", default=[100, 1_000, 10_000])
    asked = options.parse_args()
    before = _baseline(asked.baseline, asked.messages) if asked.baseline else {}
    found = {str(size): figures(size) for size in asked.messages}
    if asked.figures:
        print(json.dumps(found))
        return 0
    _print(found, before)
    if asked.json:
        result = {"milliseconds": found, "baseline_milliseconds": before, "claim_per_message": CLAIM}
        asked.json.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
