"""Search for better numbers of the preset `foveal`, one at a time, on recorded agent runs.

    python benchmarks/tune.py [--most N] [--rounds N] [--only worth.asked reach …] [--json FILE]

It maximizes the mean of recall and strict recall at 25% and 50% of the tokens, plus landmarks at a tenth of
their share, less a tenth of the bill relative to the sliding window's on the same runs. A step is taken only
where it gains more than the noise of a single fact. Only recordings meant for development are used.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import judge
import measure
from foveal.presets.foveal.select import FovealNumbers

STEPS: Mapping[str, tuple[float, ...]] = {
    "worth.bent": (0.5, 0.6, 0.7, 0.8, 0.9, 1.0),
    "worth.asked": (0.0, 2.0, 4.0, 6.0, 9.0, 14.0),
    "worth.failed": (0.0, 2.0, 4.0, 6.0, 9.0),
    "worth.used": (1.0, 2.0, 3.0, 4.0, 6.0),
    "worth.fades": (1.0, 2.0, 3.0, 5.0, 8.0),
    "worth.faded": (0.1, 0.3, 0.5, 1.0),
    "near_share": (0.0, 0.05, 0.1, 0.2, 0.3),
    "asked_share": (0.0, 0.15, 0.3, 0.5),
    "gist_share": (0.0, 0.1, 0.2, 0.3),
    "asked_for_share": (0.0, 0.08, 0.15, 0.25),
    "reach": (2.0, 4.0, 8.0, 16.0),
    "marks.worth": (5.0, 7.6, 10.0, 14.0),
    "marks.slack": (4.0, 8.0, 16.0),
    "marks.few": (3.0, 7.0, 14.0),
}
"""What each number is tried at, in order; from where it stands, its neighbours on either side."""
LANDMARKS, MONEY = 0.1, 0.1
"""What a share of the landmarks and a bill as high as the sliding window's weigh beside all of the recall."""
NOISE = 0.0005


def standing(numbers: FovealNumbers) -> dict[str, float]:
    """Each number that is searched, as it stands."""
    found = {}
    for name in STEPS:
        value: Any = numbers
        for part in name.split("."):
            value = getattr(value, part)
        found[name] = value
    return found


def table(point: Mapping[str, float]) -> dict[str, Any]:
    """The numbers as a preset takes them: `worth.asked` is an entry of the table `worth`."""
    found: dict[str, Any] = {}
    for name, value in point.items():
        outer, _, inner = name.rpartition(".")
        (found.setdefault(outer, {}) if outer else found)[inner] = value
    return found


def neighbours(name: str, value: float) -> Iterator[float]:
    """The next lower and the next higher value to try."""
    yield from sorted((each for each in STEPS[name] if each < value), reverse=True)[:1]
    yield from sorted(each for each in STEPS[name] if each > value)[:1]


class Hill:
    """How good points are; each is measured once."""

    def __init__(self, runs: measure.Runs, window: measure.Make) -> None:
        self._runs, self._seen = runs, dict[str, float]()
        self._window = {share: row["bill"] for share, row in measure.quality(window, runs).items()}

    def height(self, point: Mapping[str, float]) -> float:
        key = json.dumps(point, sort_keys=True)
        if key not in self._seen:
            make = type("Tried", (measure.Layout,), {"numbers": {"foveal": table(point)}})
            rows = measure.quality(make, self._runs)
            self._seen[key] = sum(self._worth(share, row) for share, row in rows.items()) / len(rows)
        return self._seen[key]

    def _worth(self, share: str, row: Mapping[str, Any]) -> float:
        recall = ((row["recall"] or 0.0) + (row["strict"] or 0.0)) / 2
        marks = measure.marks(row) or 0.0
        return float(recall + LANDMARKS * marks - MONEY * row["bill"] / self._window[share])


def search(hill: Hill, point: dict[str, float], names: Sequence[str], rounds: int) -> dict[str, float]:
    """Climb along one number after the other until a whole round gains nothing."""
    best = hill.height(point)
    print(f"{'as it stands':40}{best:.4f}", flush=True)
    for _ in range(rounds):
        before = best
        for name in names:
            stood = point[name]
            for value in neighbours(name, stood):
                tried = {**point, name: value}
                height = hill.height(tried)
                taken = height > best + NOISE
                print(f"{name:20}{stood:>8} → {value:<9}{height:.4f}{'  taken' * taken}", flush=True)
                if taken:
                    point, best = tried, height
        if best == before:
            break
    return point


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--most", type=int, default=8, help="the most recordings of a domain; 8 by default")
    parser.add_argument("--rounds", type=int, default=1, help="over all numbers; 1 by default")
    parser.add_argument("--only", nargs="+", choices=STEPS, default=tuple(STEPS), help="these numbers")
    asked = parser.parse_args()
    runs = measure.prepared(asked.most, names=("none",))
    start = standing(FovealNumbers())
    hill = Hill(runs, judge.window(runs.source))
    best = search(hill, start, asked.only, asked.rounds)
    changed = {name: value for name, value in best.items() if value != start[name]}
    print(f"better than the preset's own: {changed or 'nothing'}; {hill.height(best):.4f}")
    if asked.json:
        heights = {"as it stands": hill.height(start), "best": hill.height(best)}
        sample = {"source": runs.source, "most": asked.most}
        results = {
            "commit": measure.commit(),
            "sample": sample,
            "numbers": best,
            "changed": changed,
            **heights,
        }
        asked.json.write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
