"""Measure greedy selection of 50 000 scored chunks, compared with a bare sort.

Both get the same chunks, and the sort uses the same key: priority, time, position. The selection also places
every chunk, records what was left for each that did not fit, and the conflicts; its reasons are rendered when
they are read, which is not timed here. Exits 1 when it takes over three times the sort.
"""

from __future__ import annotations

import argparse
import gc
import json
import math
import random
import sys
import time
from collections.abc import Callable
from pathlib import Path

from foveal.pipeline.kinds import KINDS
from foveal.pipeline.values import Item, Scene, Unit
from foveal.presets.omar.greedy import greedy
from foveal.presets.omar.score import priorities

MOST = 3.0
NOW = 1_750_000_000.0
ROOMS = {"greedy, half of them fit": 2, "greedy, one in fifty fits": 50}
"""The fewer fit, the more conflicts there are to record."""


def chunks(count: int) -> list[Unit]:
    chance = random.Random(7)
    kinds = list(KINDS)
    items = [
        Item(
            index=place,
            id=f"c{place}",
            role="user",
            kind=chance.choice(kinds),
            text="",
            tokens=int(chance.lognormvariate(5, 1)) + 1,
            timestamp=NOW - chance.uniform(0, 30 * 86_400),
        )
        for place in range(count)
    ]
    scores = priorities(items, Scene(now=NOW))
    return [
        Unit(turn=item.index, items=(item,), tokens=item.tokens, score=score, by_slot={"pool": item.tokens})
        for item, score in zip(items, scores, strict=True)
    ]


def key(unit: Unit) -> tuple[float, float, int]:
    item = unit.items[0]
    stamp = item.timestamp
    return (-unit.score.total, math.inf if stamp is None else -stamp, item.index)


def milliseconds(work: Callable[[], object]) -> float:
    gc.collect()
    start = time.perf_counter()
    work()
    return (time.perf_counter() - start) * 1000


def measure(count: int, rounds: int) -> dict[str, float]:
    units = chunks(count)
    total = sum(unit.tokens for unit in units)
    sorts: list[float] = []
    picks: dict[str, list[float]] = {name: [] for name in ROOMS}
    for _ in range(rounds):
        sorts.append(milliseconds(lambda: sorted(units, key=key)))
        for name, share in ROOMS.items():
            picks[name].append(milliseconds(lambda room=total // share: greedy(units, room)))
    figures = {"sort": min(sorts)} | {name: min(times) for name, times in picks.items()}
    return {name: round(ms, 1) for name, ms in figures.items()} | {
        "ratio": round(max(figures.values()) / min(sorts), 2)
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chunks", type=int, default=50_000)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--json", type=Path, help="write the figures to this file too")
    options = parser.parse_args()
    figures = measure(options.chunks, options.rounds)
    for name, ms in figures.items():
        if name != "ratio":
            print(f"{name:<32}{ms:>8.1f} ms")
    print(f"at most {figures['ratio']:.2f} times the sort, {MOST:g} allowed; {options.chunks:,} chunks")
    if options.json:
        options.json.write_text(json.dumps({"chunks": options.chunks, **figures}, indent=2) + "\n")
    return int(figures["ratio"] > MOST)


if __name__ == "__main__":
    sys.exit(main())
