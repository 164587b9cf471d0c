"""Measure what one more turn and one more window cost at 1 000 and at 20 000 messages.

The session is that of an agent: a call and its result, 400 tokens, about the median in recordings of coding
agents, and before every tenth a question of the user. At each length, turns are appended and a window of
32 000 tokens is built after each, in a file on disk. In the same run, turn by turn, it measures what counting
a new turn takes, exactly and for the first time; and langchain's `trim_messages` with an exact counter.

Time is processor time of the calling thread: a busy machine changes its medians and ratios little.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import foveal
from foveal.pipeline.tokens.count import tokenizer

SIZES = (1_000, 5_000, 20_000)
BUDGET = 32_000
SAMPLES = 300
"""Turns that are looked at before each length."""
PRESETS = ("foveal", "recent")
COUNTERS = ("o200k_base", "claude", "words")
"""The exact one, and two estimates."""
KINDS = ("still", "asked", "refocus")
"""Builds after a turn of tools, after a new user message, and those that refocused."""
EXPONENT_MOST, COUNTS_MOST, FASTER_LEAST = 0.1, 10.0, 100.0


def turns() -> Iterator[list[dict[str, Any]]]:
    """Without an end: a call and its answer, after a question at times."""
    number = 0
    while True:
        question = [{"role": "user", "content": f"Where is name_{number} used, and who calls it?"}]
        yield [*(question if number % 10 == 0 else ()), *turn(number)]
        number += 1


def turn(number: int) -> list[dict[str, Any]]:
    call = {"name": "grep", "arguments": json.dumps({"pattern": f"name_{number}", "path": "src"})}
    id = f"call_{number}"
    lines = [f"src/part_{number}/module_{n}.py:{3 * n}: result = name_{number}(value)" for n in range(20)]
    asked = {"role": "assistant", "content": None}
    return [
        {**asked, "tool_calls": [{"id": id, "type": "function", "function": call}]},
        {"role": "tool", "tool_call_id": id, "content": "\n".join(lines)},
    ]


def ours(folder: Path, preset: str) -> dict[str, Any]:
    """At each length: milliseconds of an append and of a build, and the memory of the process."""
    found: dict[str, Any] = {}
    with foveal.Foveal(folder / f"{preset}.db") as fov:
        session = fov.session("growth", model="gpt-4o", preset=preset)
        new, length = turns(), 0
        for size in SIZES:
            while length < size - 2.1 * SAMPLES:
                many = [message for _ in range(20) for message in next(new)]
                session.extend(many)
                length += len(many)
            session.build(budget=BUDGET)
            sampled = list(islice(new, SAMPLES))
            length += sum(map(len, sampled))
            rows = [_step(session, messages) for messages in sampled]
            found[str(size)] = {**_summed(rows), "resident_mb": _resident()}
    return found


def _step(session: foveal.Session, messages: list[dict[str, Any]]) -> dict[str, Any]:
    texts = [json.dumps(message) for message in messages[-2:]]
    row = {f"counting {name}": _timed(lambda n=name: _counted(n, texts)) for name in COUNTERS}
    append = _timed(lambda: session.extend(messages))
    built: list[foveal.Window] = []
    start = time.perf_counter()
    build = _timed(lambda: built.append(session.build(budget=BUDGET)))
    wall = time.perf_counter() - start
    metrics = built[0].manifest.metrics
    kind = "refocus" if "marginal_value" in metrics else "asked" if len(messages) > 2 else "still"
    return {**row, "append": append, "build": build, "wall": wall, "kind": kind}


def _counted(counter: str, texts: list[str]) -> int:
    return sum(map(tokenizer(counter).count, texts))


def _summed(rows: list[dict[str, Any]]) -> dict[str, Any]:
    builds = sorted(row["build"] for row in rows)
    kinds = {kind: [row["build"] for row in rows if row["kind"] == kind] for kind in KINDS}
    return {
        "append_ms": _ms(row["append"] for row in rows),
        "build_ms": _ms(builds),
        "build_p95_ms": 1000 * builds[int(0.95 * len(builds))],
        "build_max_ms": 1000 * builds[-1],
        "build_mean_ms": 1000 * statistics.mean(builds),
        "build_wall_ms": _ms(row["wall"] for row in rows),
        "turn_ms": _ms(row["append"] + row["build"] for row in rows),
        "by_kind_ms": {kind: {"n": len(each), "median": _ms(each)} for kind, each in kinds.items() if each},
        "counting_ms": {name: _ms(row[f"counting {name}"] for row in rows) for name in COUNTERS},
    }


def theirs(size: int) -> float | None:
    """Milliseconds of langchain's trim at that length; None where it is not installed."""
    try:
        from langchain_core.messages import BaseMessage, convert_to_messages, trim_messages
    except ImportError:
        return None
    count = tokenizer("o200k_base").count

    def exact(messages: list[BaseMessage]) -> int:
        calls = [call for m in messages for call in getattr(m, "tool_calls", ())]
        spoken = sum(4 + count(str(m.content)) for m in messages)
        return 3 + spoken + sum(3 + count(c["name"]) + count(json.dumps(c["args"])) for c in calls)

    given: list[dict[str, Any]] = []
    for new in turns():
        given += new
        if len(given) >= size:
            break
    history = convert_to_messages(given)
    trim = {"max_tokens": BUDGET, "token_counter": exact, "strategy": "last", "include_system": True}
    return _ms(_timed(lambda: trim_messages(history, start_on="human", **trim)) for _ in range(3))


def _ms(seconds: Any) -> float:
    return 1000 * statistics.median(seconds)


def _timed(work: Callable[[], object]) -> float:
    start = time.thread_time()
    work()
    return time.thread_time() - start


def _resident() -> float | None:
    """Megabytes; None where the system does not report them."""
    status = Path("/proc/self/status")
    lines = status.read_text().splitlines() if status.exists() else []
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS")), None)


def judged(found: dict[str, Any], peer: float | None) -> dict[str, Any]:
    """The promises, in numbers."""
    first, last = found[str(SIZES[0])], found[str(SIZES[-1])]
    growth = last["turn_ms"] / first["turn_ms"]
    return {
        "sizes": found,
        "growth": growth,
        "exponent": math.log(growth) / math.log(SIZES[-1] / SIZES[0]),
        "counts": last["build_ms"] / last["counting_ms"]["o200k_base"],
        "faster": None if peer is None else peer / last["turn_ms"],
    }


def _print(preset: str, row: dict[str, Any]) -> None:
    print(f"{preset}: milliseconds of processor time, medians")
    print("  messages   append    build      p95      max     mean     wall counting      MB")
    for size, at in row["sizes"].items():
        names = ("append", "build", "build_p95", "build_max", "build_mean", "build_wall")
        cells = " ".join(f"{at[f'{name}_ms']:8.2f}" for name in names)
        print(
            f"  {int(size):>8,} {cells} {at['counting_ms']['o200k_base']:8.3f} {at['resident_mb'] or 0:7.0f}"
        )
        kinds = (f"{kind} {each['median']:.2f} ({each['n']})" for kind, each in at["by_kind_ms"].items())
        print(f"           {', '.join(kinds)}")
    print(f"  a turn from {SIZES[0]:,} to {SIZES[-1]:,}: {row['growth']:.2f}×, n^{row['exponent']:.3f}")
    print(f"  a build takes as long as counting the new turn {row['counts']:.1f} times")
    if row["faster"] is not None:
        print(f"  langchain trim_messages with an exact counter takes {row['faster']:,.0f} times as long")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--preset", action="append", choices=PRESETS)
    options = parser.parse_args()
    rows, peer = {}, theirs(SIZES[-1])
    for preset in options.preset or PRESETS:
        with tempfile.TemporaryDirectory() as folder:
            rows[preset] = judged(ours(Path(folder), preset), peer)
        _print(preset, rows[preset])
    if options.json:
        options.json.write_text(json.dumps({"langchain_ms": peer, "presets": rows}, indent=2) + "\n")
    return int(not all(map(_kept, rows.values())))


def _kept(row: dict[str, Any]) -> bool:
    faster = row["faster"] is None or row["faster"] >= FASTER_LEAST
    return row["exponent"] <= EXPONENT_MOST and row["counts"] <= COUNTS_MOST and faster


if __name__ == "__main__":
    sys.exit(main())
