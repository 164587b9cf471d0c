"""Measure how long a window takes when bundles are compiled for it (cold), or are ready (warm).

    python benchmarks/warmup.py [--json FILE] [--messages 500]

One session that mentions 10 topics and 50 entities, windows of 12 000 tokens under `openscroll`. Cold: there
are no bundles, as after something was forgotten. Warm: all of them exist. Nothing else changes between
windows. Best of seven runs each of processor time, in turn; also the knowledge alone, without the rest of the
build, and the time to list all things.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections.abc import Callable
from pathlib import Path

import foveal
from foveal.pipeline.tokens.count import tokenizer
from foveal.store import Mention, Store

RUNS = 7
FASTER = 5.0
"""What a warm window must be at least, times."""
TOPICS = [
    f"{first} {second}"
    for first in ("login", "billing")
    for second in ("page", "test", "audit", "plan", "log")
]
PEOPLE = [
    f"{first} {last}" for first in ("Maya", "Ivan", "Noor", "Lena", "Otis") for last in ("Lind", "Moreau")
]
TOOLS = [
    f"{first}{second}"
    for first in ("Fox", "Kite", "Moss", "Rune")
    for second in ("Base", "Sync", "Flow", "Mesh", "Gate")
]
PLACES = [
    f"{first}{second}"
    for first in ("Nor", "Sol", "Val", "Est")
    for second in ("heim", "burg", "dale", "mont", "port")
]
SENTENCES = (
    "We decided that {a} moves to {b} before the release of {c}.",
    "The {c} still fails for {a}: error 4{n} after {n} seconds.",
    "I asked {a} about the {c} and the answer was that {b} must not change.",
    "Is {b} ready for the {c}, or does {a} need another week?",
    "{a} wrote {n} tests for the {c} and ran them on {b}.",
)


def things() -> list[Mention]:
    made = [Mention(kind="topic", slug=name.replace(" ", "-"), name=name, type="") for name in TOPICS]
    for names, type in ((PEOPLE, "person"), (TOOLS, "tool"), (PLACES, "place")):
        made += [Mention(kind="entity", slug=n.lower().replace(" ", "-"), name=n, type=type) for n in names]
    return made


def talk(size: int) -> list[str]:
    source = random.Random(5)
    others = [*TOOLS, *PLACES]
    return [
        " ".join(
            line.format(
                a=source.choice(PEOPLE),
                b=source.choice(others),
                c=source.choice(TOPICS),
                n=source.randrange(10, 99),
            )
            for line in source.choices(SENTENCES, k=4)
        )
        for _ in range(size)
    ]


def add_all(store: Store, session: foveal.Session, texts: list[str]) -> None:
    """Add the messages and record what they mention: finding names is another benchmark's subject."""
    session.extend([{"role": ("user", "assistant")[n % 2], "content": text} for n, text in enumerate(texts)])
    known = things()
    digests = [entry.digest for entry in session.entries()]
    store.knowledge.save_mentions(
        session._state.id,
        {
            digest: [each for each in known if each.name in text]
            for digest, text in zip(digests, texts, strict=True)
        },
    )


def seconds(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def figures(size: int) -> dict[str, float]:
    """Milliseconds."""
    count = tokenizer("o200k_base").count
    with foveal.Foveal(":memory:", embedder="none") as fov:
        store, session = fov._store, fov.session("bench", model="gpt-5", preset="openscroll")
        add_all(store, session, talk(size))
        fov.settle()
        # A first window about something else: what a process does only once counts for neither.
        session.build(budget=12_000)

        def forget() -> None:
            fov.forget_memory(fov.remember(f"I own {time.perf_counter_ns()} marbles.").id)

        def known() -> object:
            return known(session._state, task="", count=count, now=time.time())

        def build() -> object:
            return session.build(budget=12_000)

        rows: dict[str, list[float]] = {}
        for _ in range(RUNS):
            for name, work in (("known", known), ("build", build)):
                forget()
                rows.setdefault(f"cold {name}", []).append(seconds(work))
                rows.setdefault(f"warm {name}", []).append(seconds(work))
            rows.setdefault("things", []).append(seconds(store.knowledge.things))
        served = len(known(session._state, task="", count=count, now=time.time()))
        assert served == 60, f"{served} bundles were served, not those of 10 topics and 50 entities"
    return {name: min(each) * 1000 for name, each in rows.items()}


def main() -> int:
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("--json", type=Path, help="write the figures to this file")
    options.add_argument("--messages", type=int, default=500)
    asked = options.parse_args()
    rows = figures(asked.messages)
    for name, each in rows.items():
        print(f"{name:14}{each:>9.1f} ms")
    faster = {name: rows[f"cold {name}"] / rows[f"warm {name}"] for name in ("known", "build")}
    for name, times in faster.items():
        print(f"{name:14}{times:>9.1f} × faster warm")
    if asked.json:
        found = {
            "messages": asked.messages,
            "milliseconds": {name: round(each, 2) for name, each in rows.items()},
            "times_faster": {name: round(times, 1) for name, times in faster.items()},
            "asked_for": FASTER,
        }
        asked.json.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
    return int(faster["build"] < FASTER)


if __name__ == "__main__":
    sys.exit(main())
