"""Measure planned features against the numbers in effect: learned numbers, and importance by meaning.

    python benchmarks/planned.py [--json FILE] [--only learned semantic] [--most N]

Learned: every second recording of a kind of work is in a store, from which `learn` fits each preset. The
other recordings, which it never sees, are replayed with the numbers before and after, at a quarter of their
tokens. Recall is the harness's: the share of values in the next recorded call that are in the window with two
words of their surroundings. Rejected numbers are replayed too: that shows what reserving turns is worth.

Semantic: a message that says nearly what a later one says counts less, one unlike all others counts more. In
`reploid` these are points of its score, in `foveal` factors of the value of excerpts. Only this script has
them.

The recorded runs are the harness's. Generated runs are a second kind of data, with a judge of their own. Rows
that the file has are not measured again.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from multiprocessing import Pool
from pathlib import Path
from typing import Any

import numpy as np

import foveal
import generated_runs
import judge
from foveal import presets
from foveal.config import Tables
from foveal.pipeline.recipe import Recipe
from foveal.pipeline.values import Item, Scene
from foveal.presets import reploid
from foveal.presets.foveal import digest
from foveal.presets.tunable import TUNABLE, nested
from foveal.search.embed.static import static
from foveal.window import Score
from harness import ABSENT, Stored, trajectories
from measure import swapped

FRACTION = 0.25
GENERATED = 24
RECORDED = {"operations": ("airline", 100, 25), "coding": ("coding", 260, 7)}
"""By kind of work: the domain, the messages of the longest recording, and how many are in each half."""
BOTH = "both"
SEMANTIC = {"near-duplicates": (0.5, 0.0), "outliers, little": (0.0, 0.15), "outliers": (0.0, 0.5)}
"""What a near-duplicate loses and what the greatest outlier gains, as a share: of `POINTS`, or of a value."""
SCORED = ("reploid", "foveal")
POINTS = 40.0
"""As many as `reploid` gives for recency."""
ALIKE = 0.9
"""Similarity from which on two messages say nearly the same."""

Record = Mapping[str, Any]
Halves = tuple[Sequence[Record], Sequence[Record]]
"""The recordings that are learned from, and the others."""


def halves(kind: str, most: int | None) -> Halves:
    if kind == "generated":
        found = generated_runs.recordings(GENERATED)
        return found[::2][:most], found[1::2][:most]
    if kind == BOTH:
        pairs = [halves(each, most) for each in RECORDED]
        return [r for known, _ in pairs for r in known], [r for _, unseen in pairs for r in unseen]
    from trajbench.data import load

    domain, longest, count = RECORDED[kind]
    found = [record for record in load("dev", domain) if len(record["messages"]) <= longest]
    return found[::2][: most or count], found[1::2][: most or count]


def recall(kind: str, records: Sequence[Record], preset: str, numbers: Tables) -> dict[str, Any]:
    """Of recordings replayed at a quarter of their tokens: facts kept, of all and by recording."""

    class System(Stored):
        chosen = preset

        def build(self) -> list[dict[str, Any]]:
            try:
                return super().build()
            except foveal.BudgetError:  # the judge knows which turns cannot fit
                return []

    System.numbers = numbers
    judged: Any = judge
    if kind != "generated":
        from trajbench import quality, tokens

        judged, tokens.memoize = quality, True
    scores = []
    started = time.perf_counter()
    for record in records:
        scores.append(judged.Score())
        case = judged.Case(record["id"], record["messages"], fraction=FRACTION)
        judged.replay(System(), case, scores[-1])
    facts, kept = sum(score.needed for score in scores), [score.usable for score in scores]
    turns = sum(score.turns for score in scores)
    return {
        "facts": facts,
        "recall": round(sum(kept) / facts, 4) if facts else None,
        "kept": kept,
        "wrong": sum(score.invalid + score.over for score in scores),
        "ms a turn": round(1000 * (time.perf_counter() - started) / max(1, turns), 2),
    }


def learned(kind: str, preset: str, most: int | None) -> dict[str, Any]:
    known, unseen = halves(kind, most)
    started = time.perf_counter()
    with foveal.Foveal(":memory:", embedder="none") as fov:
        for record in known:
            fov.session(record["id"], model="gpt-4o").extend(record["messages"], format="openai")
        try:
            found = fov.learn(preset=preset)
        except foveal.InputError as error:
            return {"refused": error.what}
    seconds = time.perf_counter() - started
    fitted = {key: new for step in found.steps for key, (_, new) in step.changed.items()}
    row: dict[str, Any] = {
        "accepted": found.accepted,
        "fitted": [round(found.fitted.before, 4), round(found.fitted.after, 4)],
        "held back": [round(found.reserved.before, 4), round(found.reserved.after, 4)],
        "numbers": fitted,
        "seconds": round(seconds, 1),
        "unseen": {},
    }
    for other in RECORDED if kind == BOTH else (kind,):
        records = unseen if kind != BOTH else halves(other, most)[1]
        before = recall(other, records, preset, {})
        after = recall(other, records, preset, {preset: nested(fitted)}) if fitted else before
        row["unseen"][other] = {"before": before, "after": after}
    return row


def semantic(kind: str, name: str, most: int | None) -> dict[str, Any]:
    known, unseen = halves(kind, most)
    preset, _, variant = name.partition(" ")
    added = partial(by_meaning, duplicate=SEMANTIC[variant][0], outlier=SEMANTIC[variant][1])
    before = recall(kind, [*known, *unseen], preset, {})
    with swapped(*(_points(added) if preset == "reploid" else _factors(added))):
        after = recall(kind, [*known, *unseen], preset, {})
    return {"before": before, "after": after}


def _points(added: Callable[[Sequence[str]], list[float]]) -> tuple[Any, str, object]:
    """The score of `reploid` with a further term."""
    plain = reploid.score_importance

    def score(items: Sequence[Item], scene: Scene, *, numbers: Any = None) -> Sequence[Score]:
        pairs = zip(plain(items, scene, numbers=numbers), added([item.text for item in items]), strict=True)
        return [replace(old, total=old.total + POINTS * more) for old, more in pairs]

    return presets, "PRESETS", {**presets.PRESETS, "reploid": _scored_by(score)}


def _scored_by(score: Any) -> presets.Preset:
    plain = presets.PRESETS["reploid"]
    assert isinstance(plain.select, Recipe)
    return replace(plain, select=replace(plain.select, score=score))


def _factors(added: Callable[[Sequence[str]], list[float]]) -> tuple[Any, str, object]:
    """The values of excerpts in `foveal` with a further factor."""

    class Weighted(digest._Values):
        def __init__(self, entries: Sequence[Any], *rest: Any) -> None:
            super().__init__(entries, *rest)
            texts: dict[int, str] = {}
            for entry in entries:
                texts[entry.seq] = f"{texts.get(entry.seq, '')}\n{entry.excerpts.text}"
            for seq, more in zip(texts, added(list(texts.values())), strict=True):
                self._fade[seq] *= 1.0 + more

    return digest, "_Values", Weighted


_VECTORS: dict[str, Any] = {}


def by_meaning(texts: Sequence[str], *, duplicate: float, outlier: float) -> list[float]:
    """Less for what a later text nearly says too, more for what is unlike the others."""
    if not texts:
        return []
    missing = list(dict.fromkeys(text for text in texts if text not in _VECTORS))
    if missing:
        _VECTORS.update(zip(missing, static().embed(missing), strict=True))
    rows = np.stack([_VECTORS[text] for text in texts])
    alike = rows @ rows.T
    later = np.triu(alike, k=1).max(axis=1, initial=0.0)
    mean = (alike.sum(axis=1) - 1.0) / max(1, len(texts) - 1)
    apart = (mean.max() - mean) / max(1e-9, mean.max() - mean.min())
    return [
        float(outlier * far - duplicate * (near >= ALIKE)) for far, near in zip(apart, later, strict=True)
    ]


Job = tuple[str, str, str, int | None]


def jobs(only: Sequence[str], most: int | None, *, recorded: bool) -> Iterator[Job]:
    kinds = ("generated", *RECORDED) if recorded else ("generated",)
    if "learned" in only:
        yield from (("learned", kind, preset, most) for kind in kinds for preset in TUNABLE)
    if "semantic" in only:
        names = [f"{preset} {variant}" for preset in SCORED for variant in SEMANTIC]
        yield from (("semantic", kind, name, most) for kind in kinds for name in names)
    if "learned" in only and recorded:
        yield from (("learned", BOTH, preset, most) for preset in TUNABLE)


def measured(job: Job) -> tuple[Job, dict[str, Any]]:
    part, kind, name, most = job
    if kind != "generated":
        trajectories()
    return job, (learned if part == "learned" else semantic)(kind, name, most)


def line(job: Job, row: Mapping[str, Any]) -> str:
    part, kind, name, _ = job
    head = f"{part:9}{kind:16}{name:25}"
    if "refused" in row:
        return f"{head}refused: {row['refused']}"
    if part == "semantic":
        return f"{head}{_change(row)}"
    unseen = "; ".join(f"{other} {_change(each)}" for other, each in row["unseen"].items())
    reserved = " → ".join(f"{share:.1%}" for share in row["held back"])
    verdict = "accepted" if row["accepted"] else "rejected"
    return f"{head}{verdict} {reserved}; unseen {unseen}; {row['seconds']} s"


def _change(row: Mapping[str, Any]) -> str:
    before, after = row["before"], row["after"]
    if before["recall"] is None:
        return "no facts"
    pairs = list(zip(before["kept"], after["kept"], strict=True))
    better, worse = sum(new > old for old, new in pairs), sum(new < old for old, new in pairs)
    times = f"{better} better, {worse} worse, {before['ms a turn']:.1f} → {after['ms a turn']:.1f} ms"
    return f"{before['recall']:.1%} → {after['recall']:.1%} of {before['facts']} ({times})"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--only", nargs="+", choices=("learned", "semantic"), default=("learned", "semantic"))
    parser.add_argument("--most", type=int, help="so many recordings in each half")
    asked = parser.parse_args()
    recorded = trajectories()
    if not recorded:
        print(ABSENT)
    sample = {"recordings in each half": asked.most, "share of the tokens": FRACTION}
    there = asked.json is not None and asked.json.exists()
    results: dict[str, Any] = json.loads(asked.json.read_text(encoding="utf-8")) if there else {}
    if any(results.get(name) != value for name, value in sample.items()):
        results = {**sample}
    every = jobs(asked.only, asked.most, recorded=recorded)
    missing = [job for job in every if job[2] not in results.get(job[0], {}).get(job[1], {})]
    with Pool(min(2, os.cpu_count() or 1)) as pool:
        for job, row in pool.imap(measured, missing, 1):
            print(line(job, row), flush=True)
            results.setdefault(job[0], {}).setdefault(job[1], {})[job[2]] = row
            if asked.json:
                asked.json.write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
