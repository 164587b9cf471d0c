"""Check that decisions of recorded sessions flip at the tokens or the score that `why` reports.

Each sample is a message of a session cut at a call of the model, under one preset and one budget. The window
is built again with the reported number of tokens, and with one less; a score is given to the message as its
priority, where the preset supports that (`omar`), and the next lower one. Exits 1 where a number is wrong.
Without the recordings it runs on generated sessions.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import foveal
import harness
from foveal import wire
from foveal.model import Conversation
from foveal.pipeline import fit as pipeline
from foveal.pipeline.explain import decision_about
from foveal.presets import PRESETS, find
from foveal.session.fit import history_of
from foveal.session.inspect.why import Why
from foveal.session.target import target_for
from foveal.window import Manifest

MODEL = "gpt-5"
NOW = 1_750_000_000.0
SHARES = (0.1, 0.25, 0.5, 0.75)
"""Of the whole history's tokens: the budgets."""


def sessions() -> list[list[dict[str, Any]]]:
    if not harness.trajectories():
        print(harness.ABSENT)
        return [_generated(seed) for seed in range(20)]
    from trajbench import data

    return [record["messages"] for record in data.load("dev")]


def _generated(seed: int) -> list[dict[str, Any]]:
    chance = random.Random(seed)
    return [
        {"role": ("user", "assistant")[n % 2], "content": f"file_{n}.py " + "word " * chance.randint(1, 80)}
        for n in range(81)
    ]


def sampled(histories: Sequence[list[dict[str, Any]]], chance: random.Random) -> Conversation:
    """A session up to one of the calls of its model, all of it said at one moment."""
    while True:
        history = chance.choice(histories)
        ends = [at for at in range(8, len(history)) if history[at]["role"] == "assistant"]
        ends = [at for at in ends if history[at - 1]["role"] in ("user", "tool")]
        if ends:
            loaded = wire.load(history[: chance.choice(ends)], format="openai")
            return replace(loaded, messages=tuple(replace(m, created_at=NOW) for m in loaded.messages))


def flipped(found: Why, manifest: Manifest) -> bool:
    decision = decision_about(manifest, found.place)
    assert decision
    if found.decision.verdict == "left out":
        return decision.verdict == "kept"
    whole = (decision.verdict, decision.detail) == ("kept", "full")
    return whole if found.decision.detail != "full" else not whole


def by_tokens(session: foveal.Session, found: Why, budget: int) -> bool:
    """Is the number of tokens right?"""
    assert found.tokens is not None
    one = 1 if found.tokens > 0 else -1
    windows = [
        session.build(budget=budget + found.tokens - less, preset=found.preset, now=NOW).manifest
        for less in (0, one)
    ]
    return [flipped(found, manifest) for manifest in windows] == [True, False]


def by_score(given: Conversation, found: Why, budget: int) -> bool:
    """Is the score right, given to the message as its priority? Beside it, only recency counts here."""
    assert found.score is not None
    assert found.decision.score
    target, verdicts = target_for(MODEL, given.format), []
    for total in (found.score, found.score - 0.1):
        own = total - found.decision.score.parts["recency"]
        messages = [replace(m, priority=own) if n == found.place else m for n, m in enumerate(given.messages)]
        history = history_of(replace(given, messages=tuple(messages)), target)
        order = target.order(find("omar"), budget=budget, tools="", task="", now=NOW)
        verdicts.append(flipped(found, pipeline.fit(history, order).manifest))
    return verdicts == [True, False]


def measure(count: int, seeds: Sequence[int]) -> dict[str, Any]:
    histories = sessions()
    outcomes: dict[str, Counter[str]] = {name: Counter() for name in PRESETS}
    spent = [each for seed in seeds for each in _sampled(count, random.Random(seed), histories, outcomes)]
    counts = {name: dict(found) for name, found in outcomes.items()}
    return {"seeds": list(seeds), "presets": counts, **_summary(outcomes, spent)}


def _sampled(
    count: int,
    chance: random.Random,
    histories: Sequence[list[dict[str, Any]]],
    outcomes: dict[str, Counter[str]],
) -> list[float]:
    """Check so many decisions, and count what was found; the seconds that each `why` took."""
    spent: list[float] = []
    while len(spent) < count:
        preset, given = list(PRESETS)[len(spent) % len(PRESETS)], sampled(histories, chance)
        with foveal.Foveal(":memory:", embedder="none") as fov:
            session = fov.session("whys", model=MODEL)
            ids = session.extend(given)
            fov.settle()  # what is read in the background may stand in a window
            budget = int(chance.choice(SHARES) * sum(entry.tokens for entry in session.entries()))
            place = chance.randrange(len(ids))
            try:
                session.build(budget=budget, preset=preset, now=NOW)
            except foveal.BudgetError:  # a short session with a long system prompt: another one
                continue
            start = time.process_time()
            found = session.why(ids[place])
            spent.append(time.process_time() - start)
            outcomes[preset].update(_checked(session, given, found, budget))
    return spent


def _checked(session: foveal.Session, given: Conversation, found: Why, budget: int) -> Counter[str]:
    seen = Counter([found.decision.verdict, "samples"])
    if found.tokens is not None:
        seen += Counter(["tokens named"] + ["tokens right"] * by_tokens(session, found, budget))
    elif found.otherwise == "it is in with every budget":
        seen += Counter(["in with every budget"])
    else:
        seen += Counter(["no number"])
    if found.score is not None and found.preset == "omar":
        seen += Counter(["score named"] + ["score right"] * by_score(given, found, budget))
    return seen


def _summary(outcomes: dict[str, Counter[str]], spent: Sequence[float]) -> dict[str, Any]:
    total = sum(outcomes.values(), Counter())
    shares = {
        f"{what} that flip": round(total[f"{what} right"] / total[f"{what} named"], 4)
        for what in ("tokens", "score")
        if total[f"{what} named"]
    }
    ordered = sorted(spent)
    return {
        "total": dict(total),
        **shares,
        "median ms": round(1000 * ordered[len(ordered) // 2], 1),
        "slowest ms": round(1000 * ordered[-1], 1),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=200, help="decisions for each seed")
    parser.add_argument("--seeds", type=int, nargs="+", default=[11, 12, 13])
    parser.add_argument("--json", type=Path, help="write the figures to this file too")
    options = parser.parse_args()
    figures = measure(options.samples, options.seeds)
    for name, counts in {**figures["presets"], "total": figures["total"]}.items():
        print(f"{name:<12}" + ", ".join(f"{what} {number}" for what, number in sorted(counts.items())))
    rest = {key: value for key, value in figures.items() if key not in ("seeds", "presets", "total")}
    print(", ".join(f"{key}: {value}" for key, value in rest.items()))
    if options.json:
        options.json.write_text(json.dumps(figures, indent=2) + "\n")
    return int(any(figures.get(f"{what} that flip", 1.0) < 1.0 for what in ("tokens", "score")))


if __name__ == "__main__":
    sys.exit(main())
