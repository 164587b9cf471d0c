"""Measure a search over 100 000 stored messages, compared with its two bare halves.

Ours: words and vectors searched through the store, merged, with the messages that were found. Bare: the same
words as one FTS5 query for ten numbers, and one product of the vectors with the query's. Both run in turn in
one process; at the median ours may cost three times as much.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import apsw
import numpy as np
from numpy.typing import NDArray

from foveal.search.fusion import fused
from foveal.store import Store, open_store
from foveal.testing import draft

MESSAGES, SESSIONS, QUERIES, LIMIT, MOST = 100_000, 50, 100, 10, 3.0
DIMENSIONS, TOPICS = 256, 400
EMBEDDER = "random"
STARTS, ENDS = ("ba", "ce", "dio", "fu", "ga", "le", "mio", "nu"), ("ker", "lin", "mot", "sta", "ve", "rg")
WORDS = [a + b + c + d for a in STARTS for b in STARTS for c in STARTS for d in ENDS]
RARER = [1 / (place + 10) for place in range(len(WORDS))]
COMMON = (
    "the",
    "a",
    "we",
    "to",
    "of",
    "in",
    "is",
    "and",
    "that",
    "it",
    "for",
    "on",
    "was",
    "with",
    "so",
    "this",
)

Vectors = NDArray[np.float32]


def text(dice: random.Random, topic: int, number: int) -> str:
    """A message of some forty words: of its topic, of everybody, and a name of its own."""
    said = dice.choices(own(topic), k=8) + dice.choices(WORDS, RARER, k=12) + dice.choices(COMMON, k=20)
    dice.shuffle(said)
    return f"{' '.join(said)} src/{own(topic)[0]}_{number}.py"


def own(topic: int) -> list[str]:
    return [WORDS[(topic * 7 + number * 11) % len(WORDS)] for number in range(6)]


def directions(dice: np.random.Generator, topics: NDArray[np.int64]) -> Vectors:
    """A vector for each topic number: near its topic's centre, as embedders place texts about one thing."""
    centres = np.random.default_rng(1).standard_normal((TOPICS, DIMENSIONS))
    found = centres[topics] + 0.8 * dice.standard_normal((len(topics), DIMENSIONS))
    return (found / np.linalg.norm(found, axis=1, keepdims=True)).astype("<f4")


def filled(store: Store) -> Vectors:
    dice, topics = random.Random(7), np.random.default_rng(7).integers(0, TOPICS, MESSAGES)
    vectors = directions(np.random.default_rng(8), topics)
    for start in range(0, MESSAGES, 1_000):
        session = store.session(f"session {start // 1_000 % SESSIONS}", now=0.0).id
        places = range(start, start + 1_000)
        drafts = [draft(text(dice, int(topics[place]), place)) for place in places]
        store.append(session, drafts, counter="words")
        named = zip((each.message.digest for each in drafts), places, strict=True)
        store.save_vectors({digest: vectors[place].tobytes() for digest, place in named}, EMBEDDER)
    return vectors


def queries() -> list[tuple[str, Vectors]]:
    dice, topics = random.Random(9), np.random.default_rng(9).integers(0, TOPICS, QUERIES)
    vectors = directions(np.random.default_rng(10), topics)
    return [
        (" ".join(["where did we see", *dice.sample(own(int(topic)), 3), dice.choice(WORDS[:40])]), vector)
        for topic, vector in zip(topics, vectors, strict=True)
    ]


def ours(store: Store, query: str, vector: Vectors) -> int:
    near = store.nearest(vector.tobytes(), EMBEDDER, limit=20)
    return len(fused(store.search(query, limit=20), near, LIMIT))


def bare(db: apsw.Connection, query: str, vectors: Vectors, vector: Vectors) -> int:
    words = query.removeprefix("where did we ").split()
    sql = "SELECT rowid FROM words_1 WHERE words_1 MATCH ? ORDER BY rank LIMIT ?"
    found = db.execute(sql, (" OR ".join(f'"{word}"' for word in words), LIMIT)).fetchall()
    return len(found) + len(np.argpartition(vectors @ vector, -LIMIT)[-LIMIT:])


def timed(work: Callable[[], int]) -> float:
    start = time.perf_counter()
    assert work()
    return time.perf_counter() - start


def measured(path: Path) -> dict[str, list[float]]:
    store = open_store(path)
    vectors = filled(store)
    first = timed(lambda: ours(store, *queries()[0]))
    db = apsw.Connection(str(path))
    found: dict[str, list[float]] = {
        "first search": [first],
        "ours": [],
        "bare": [],
        "words": [],
        "vectors": [],
    }
    for query, vector in queries():
        found["ours"].append(timed(lambda q=query, v=vector: ours(store, q, v)))
        found["bare"].append(timed(lambda q=query, v=vector: bare(db, q, vectors, v)))
        found["words"].append(timed(lambda q=query: len(store.search(q, limit=20))))
        found["vectors"].append(timed(lambda v=vector: len(store.nearest(v.tobytes(), EMBEDDER, limit=20))))
    store.close()
    db.close()
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        seconds = measured(Path(folder) / "search.db")
    figures = {
        name: {"p50": statistics.median(times), "p95": sorted(times)[int(0.95 * len(times))]}
        for name, times in seconds.items()
    }
    ratio = figures["ours"]["p50"] / figures["bare"]["p50"]
    print(f"{MESSAGES:,} messages, {SESSIONS} sessions, {QUERIES} queries; milliseconds")
    for name, each in figures.items():
        print(f"{name:>13}: p50 {1000 * each['p50']:8.2f}   p95 {1000 * each['p95']:8.2f}")
    print(f"ours / bare at the median: {ratio:.2f}×, limit {MOST:g}×")
    if options.json:
        options.json.write_text(json.dumps({"seconds": figures, "ratio": ratio}, indent=2) + "\n")
    return int(ratio > MOST)


if __name__ == "__main__":
    sys.exit(main())
