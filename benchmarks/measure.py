"""Measure what the windows of a system keep and cost, over recorded agent runs or generated ones.

Quality: single runs at 25% and 50% of their tokens, as the harness draws them. Cost: long sessions, every
turn sent, at Anthropic's prices for cached and written tokens. A run is prepared once for all systems. Runs
are generated where the recorded ones are missing.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import foveal
import generated_runs
from harness import ABSENT, Stored, trajectories

FRACTIONS = (0.25, 0.5)
SETS = {"airline": (50, 100), "coding": (8, 220), "swe": (8, 100), "shell": (12, 100)}
"""By domain: how many recordings, and messages of the longest."""
SESSIONS = {
    "coding-200@128k": ("coding", 200, 128_000),
    "coding-1000@32k": ("coding", 1_000, 32_000),
    "airline-1000@16k": ("airline", 1_000, 16_000),
}
"""By name: the domain, how many messages, the budget."""
GENERATED = {"generated-long@8k": 8_000}
MODEL = "claude-sonnet-4-5"
"""Ours: its prices are those of the bill."""

Make = Callable[[], Any]


class Layout(Stored):
    """One session of Foveal, the preset `foveal` unless another is chosen."""

    chosen = "foveal"

    def open(self, model: str, budget: int) -> None:  # noqa: ARG002 — prices are those of our model
        self.budget = budget
        store = foveal.Foveal(":memory:", numbers=self.numbers, embedder="none", counter="o200k_base")
        self.session = store.session("bench", model=MODEL)

    def append(self, message: dict[str, Any]) -> None:
        self.session.extend([message], format="openai")

    def build(self) -> list[dict[str, Any]]:
        try:
            return super().build()
        except foveal.BudgetError:  # the harness knows which turns cannot fit
            return []


@dataclass(frozen=True, slots=True, kw_only=True)
class Runs:
    """What systems are measured on, and the judge that goes with it."""

    source: str
    """`recorded` or `generated`."""
    judge: Any
    """Has `Score` and `replay`."""
    cases: Mapping[float, Mapping[str, Sequence[Any]]]
    """By share of the tokens and domain."""
    sessions: Mapping[str, Any]


def prepared(most: int | None = None, *, length: int | None = None, names: Sequence[str] = ()) -> Runs:
    """Recordings, at most so many of a domain; sessions, at most so long, those of these names or all."""
    if not trajectories():
        print(f"{ABSENT}\nFigures below are of generated runs.\n")
        return _generated(most)
    from trajbench import data, quality, tokens

    tokens.memoize = True  # peers that count everything at every turn get the same numbers sooner
    records = data.load("dev")
    cases: dict[float, dict[str, list[Any]]] = {fraction: {} for fraction in FRACTIONS}
    for domain, (count, longest) in SETS.items():
        chosen = [r for r in records if r["domain"] == domain and len(r["messages"]) <= longest][:count]
        for domain_cases, each in _at_each_share(quality.Case, chosen[:most]):
            cases[domain_cases].setdefault(domain, []).append(each)
    sessions = {}
    for name, (domain, size, budget) in SESSIONS.items():
        if not names or name in names:
            own = [record for record in records if record["domain"] == domain]
            messages = data.long_session(own, min(size, length or size))
            sessions[name] = quality.Case(name, messages, budget=budget)
    return Runs(source="recorded", judge=quality, cases=cases, sessions=sessions)


def _at_each_share(make: Any, records: Sequence[Mapping[str, Any]]) -> Iterator[tuple[float, Any]]:
    for record in records:
        index = None
        for fraction in FRACTIONS:
            case = make(record["id"], record["messages"], fraction=fraction, index=index)
            index = case.index
            yield fraction, case


def _generated(most: int | None) -> Runs:
    import judge

    runs = generated_runs.recordings(most or 12)
    cases: dict[float, dict[str, list[Any]]] = {fraction: {"generated": []} for fraction in FRACTIONS}
    for fraction, case in _at_each_share(judge.Case, runs):
        cases[fraction]["generated"].append(case)
    long = generated_runs.recordings(1, size="long")[0]["messages"]
    sessions = {name: judge.Case(name, long, budget=budget) for name, budget in GENERATED.items()}
    return Runs(source="generated", judge=judge, cases=cases, sessions=sessions)


def quality(make: Make, runs: Runs) -> dict[str, Any]:
    """By share of the tokens: recall over all domains, landmarks as their mean, what is wrong."""
    return {f"{fraction:.0%}": _quality(make, runs, cases) for fraction, cases in runs.cases.items()}


def _quality(make: Make, runs: Runs, domains: Mapping[str, Sequence[Any]]) -> dict[str, Any]:
    sums: Counter[str] = Counter()
    kept: dict[str, list[float]] = {}
    for cases in domains.values():
        score = runs.judge.Score()
        for case in cases:
            runs.judge.replay(make(), case, score)
        sums.update(needed=score.needed, usable=score.usable, strict=score.strict)
        sums.update(_wrong(score))
        sums["bill"] += score.cost["anthropic"]
        for name, share in score.row()["kept"].items():
            kept.setdefault(name, []).extend([] if share is None else [share])
    return {
        "facts": sums["needed"],
        "recall": sums["usable"] / sums["needed"] if sums["needed"] else None,
        "strict": sums["strict"] / sums["needed"] if sums["needed"] else None,
        "kept": {name: sum(each) / len(each) for name, each in kept.items() if each},
        "bill": sums["bill"],
        **{name: sums[name] for name in WRONG},
    }


def cost(make: Make, runs: Runs) -> dict[str, Any]:
    """By session: the bill in input tokens, recall, how much of a window stood in the one before."""
    rows = {}
    for name, case in runs.sessions.items():
        score = runs.judge.Score()
        runs.judge.replay(make(), case, score, seconds=3_600)
        rows[name] = {
            "bill": score.cost["anthropic"],
            "recall": score.row()["recall_usable"],
            "prefix hit": score.cost["prefix_tokens"] / max(1, score.cost["tokens"]),
            **_wrong(score),
        }
    return rows


WRONG = ("turns", "invalid", "over", "errors", "stopped")


def _wrong(score: Any) -> dict[str, int]:
    """Requests, those a provider refuses, those over their budget, those that failed to be built."""
    invalid = score.invalid + score.invalid_anthropic
    found = (score.turns, invalid, score.over, score.errors, score.stopped)
    return dict(zip(WRONG, found, strict=True))


def marks(part: Mapping[str, Any]) -> float | None:
    """Landmarks kept, the mean over their kinds."""
    kept = part["kept"].values()
    return sum(kept) / len(kept) if kept else None


def bad(row: Mapping[str, Any]) -> int:
    """Of one system: its requests that are wrong in any way."""
    parts = (*row.get("quality", {}).values(), *row.get("cost", {}).values())
    return sum(part[name] for part in parts for name in WRONG[1:])


def options(parser: argparse.ArgumentParser) -> argparse.Namespace:
    """What a script that measures row by row is asked."""
    parser.add_argument("--json", type=Path)
    parser.add_argument("--only", nargs="+", default=(), metavar="ROW", help="these rows instead of all")
    parser.add_argument("--most", type=int, help="so many recordings of a domain")
    parser.add_argument("--length", type=int, help="so many messages of a session")
    return parser.parse_args()


class File:
    """The figures by row, kept from one run to the next. Generated runs have a file of their own."""

    def __init__(self, asked: argparse.Namespace, runs: Runs, method: str) -> None:
        self._only, self._place = asked.only, asked.json
        if self._place and runs.source == "generated":
            self._place = self._place.with_stem(f"{self._place.stem}_generated")
        sample = {"source": runs.source, "most": asked.most, "length": asked.length}
        there = self._place is not None and self._place.exists()
        self.found: dict[str, Any] = json.loads(self._place.read_text(encoding="utf-8")) if there else {}
        if self.found.get("sample") != sample:
            self.found = {}
        self.found |= {"method": method, "sample": sample, "versions": {"python": sys.version.split()[0]}}
        self.found["versions"]["foveal"] = installed("foveal")
        self.rows: dict[str, Any] = self.found.setdefault("rows", {})

    def wants(self, name: str, origin: str) -> bool:
        """Is a row to be measured: asked for by its name, not there yet, or of something else?"""
        due = name in self._only if self._only else self.rows.get(name, {}).get("of") != origin
        if due:
            print(f"… {name}", file=sys.stderr, flush=True)
        return due

    def save(self) -> None:
        if self._place:
            self._place.write_text(json.dumps(self.found, indent=2) + "\n", encoding="utf-8")


@contextmanager
def swapped(place: Any, name: str, other: object) -> Iterator[None]:
    """While this lasts, a name of a module means something else."""
    before = getattr(place, name)
    setattr(place, name, other)
    try:
        yield
    finally:
        setattr(place, name, before)


@cache
def commit() -> str:
    """The commit this is; with a `+` where the package differs from it."""
    root = Path(__file__).parents[1]
    ask = ["git", "-C", str(root)]
    found = subprocess.run(
        [*ask, "rev-parse", "--short=12", "HEAD"], capture_output=True, text=True, check=False
    )
    same = subprocess.run([*ask, "diff", "--quiet", "HEAD", "--", "src"], capture_output=True, check=False)
    return (found.stdout.strip() or "unknown") + ("" if same.returncode == 0 else "+")


def installed(package: str) -> str:
    """The version of a package; empty where it is not there."""
    try:
        return version(package)
    except PackageNotFoundError:
        return ""
