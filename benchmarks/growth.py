"""A growing session in → what one more message and one more window cost at 1 000 and at 20 000 messages.

The same workload at every length: a tool turn of the same size, appended and built, budget 32 000 tokens,
in a file on disk. Beside it, in the same run, langchain's `trim_messages` with an exact counter.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import foveal
from foveal.pipeline.count import tokenizer

SIZES = (1_000, 5_000, 20_000)
BUDGET = 32_000
SAMPLES = 200
OUTPUT = "\n".join(f"src/module_{n}.py:{n}: found a match for the pattern" for n in range(12))


def turn(number: int) -> list[dict[str, Any]]:
    """Three messages: a question, a call, its answer."""
    call = {"name": "grep", "arguments": json.dumps({"pattern": f"name_{number}", "path": "src"})}
    id = f"call_{number}"
    return [
        {"role": "user", "content": f"Where is name_{number} used?"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": id, "type": "function", "function": call}],
        },
        {"role": "tool", "tool_call_id": id, "content": f"{number}\n{OUTPUT}"},
    ]


def ours(folder: Path) -> dict[int, float]:
    """Median seconds of one append and one build, at each length."""
    found = {}
    with foveal.Foveal(folder / "growth.db") as fov:
        session = fov.session("growth", model="gpt-4o")
        number = 0
        for size in SIZES:
            while 3 * number < size - SAMPLES:
                session.extend([m for n in range(number, number + 50) for m in turn(n)])
                number += 50
            times = []
            for _ in range(SAMPLES):
                messages = turn(number)
                number += 1
                times.append(_timed(lambda m=messages: _step(session, m)))
            found[size] = statistics.median(times)
    return found


def _step(session: foveal.Session, messages: list[dict[str, Any]]) -> None:
    session.extend(messages)
    assert session.build(budget=BUDGET).messages


def theirs(size: int) -> float | None:
    """Median seconds of langchain's trim at that length; None where it is not installed."""
    try:
        from langchain_core.messages import BaseMessage, convert_to_messages, trim_messages
    except ImportError:
        return None
    count = tokenizer("o200k_base").count

    def exact(messages: list[BaseMessage]) -> int:
        calls = [call for m in messages for call in getattr(m, "tool_calls", ())]
        spoken = sum(4 + count(str(m.content)) for m in messages)
        return 3 + spoken + sum(3 + count(c["name"]) + count(json.dumps(c["args"])) for c in calls)

    history = convert_to_messages([m for n in range(size // 3) for m in turn(n)])
    trim = {"max_tokens": BUDGET, "token_counter": exact, "strategy": "last", "include_system": True}
    return statistics.median(
        _timed(lambda: trim_messages(history, start_on="human", **trim)) for _ in range(3)
    )


def _timed(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = ours(Path(folder))
    growth = found[SIZES[-1]] / found[SIZES[0]]
    for size, seconds in found.items():
        print(f"{size:>7,} messages: append + build {1000 * seconds:8.2f} ms (median of {SAMPLES})")
    print(f"growth from {SIZES[0]:,} to {SIZES[-1]:,}: {growth:.2f}×, limit 1.3×")
    peer = theirs(SIZES[-1])
    faster = None if peer is None else peer / found[SIZES[-1]]
    if faster is None:
        print("langchain-core is not installed: no comparison")
    else:
        print(
            f"langchain trim_messages, exact counter: {1000 * peer:,.0f} ms, {faster:,.0f}× ours; limit 100×"
        )
    if options.json:
        figures = {"seconds": found, "growth": growth, "langchain_seconds": peer, "faster": faster}
        options.json.write_text(json.dumps(figures, indent=2) + "\n")
    return int(growth > 1.3 or (faster is not None and faster < 100))


if __name__ == "__main__":
    sys.exit(main())
