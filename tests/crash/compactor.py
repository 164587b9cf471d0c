"""Writes messages and compacts them in the background until it is killed: PATH NAME.

Each message is said once it is stored. Every four messages are summarized, and every four of those summaries.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import random
import struct
import sys
import time
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

from foveal.jobs import Job, Pace, Worker, soon
from foveal.pipeline.summarize.extract import extractive_summary
from foveal.pipeline.summarize.values import Ask, Passage
from foveal.store import Content, Store, SummaryRecord, open_store
from foveal.testing import draft

EMBEDDER, BLOCK, SESSION = "crash", 4, "kept"


def jobs_of(store: Store) -> dict[str, Job]:
    def embed() -> float | None:
        found = store.unembedded(EMBEDDER, limit=5)
        store.save_vectors({content.digest: vector_of(content) for content in found}, EMBEDDER)
        return soon(more=bool(found))

    def mine() -> float | None:
        session = store.session(SESSION, now=0.0).id
        found = store.unmined(session, limit=5)
        store.save_records(session, {content.digest: [("decision", content.body)] for content in found})
        return soon(more=bool(found))

    def summarize() -> float | None:
        ask = next(wanting(store), None)
        if ask is None:
            return None
        return soon(more=store.save_summary(summary_of(ask), [p.digest for p in ask.passages]))

    return {"embed": embed, "mine": mine, "summarize": summarize}


def wanting(store: Store) -> Iterator[Ask]:
    """The summaries that are still to be made, lower levels first."""
    everything = asks(store)
    known = store.summaries([ask.key for ask in everything])
    return (ask for ask in everything if ask.key not in known)


def asks(store: Store) -> list[Ask]:
    contents = store.messages(store.session(SESSION, now=0.0).id)
    said = [passage(json.loads(content.body)["content"], content.digest) for content in contents if content]
    below = grouped(said, level=1)
    return below + grouped([passage(summary_of(ask).text, ask.key) for ask in below], level=2)


def grouped(passages: Sequence[Passage], *, level: int) -> list[Ask]:
    starts = range(0, len(passages) - BLOCK + 1, BLOCK)
    return [Ask(passages=tuple(passages[at : at + BLOCK]), tokens=64, level=level) for at in starts]


def passage(text: str, digest: str) -> Passage:
    return Passage(first=0, last=0, role="user", text=text, digest=digest)


@cache
def summary_of(ask: Ask) -> SummaryRecord:
    """Always the same for the same request, so that a reader can check that it is complete."""
    made = extractive_summary(ask, lambda text: len(text.split()))
    return SummaryRecord(
        key=ask.key, text=made.text, tokens=made.tokens, by=made.by, level=ask.level, created_at=0.0
    )


def vector_of(content: Content) -> bytes:
    return struct.pack("<8f", *(byte / 255 for byte in hashlib.sha256(content.body.encode()).digest()[:8]))


def main(path: str, name: str) -> None:
    store = open_store(Path(path))
    session = store.session(SESSION, now=0.0).id
    worker = Worker(
        jobs_of(store), on_error=lambda job, error: sys.exit(f"{job}: {error}"), pace=Pace(quiet=0.0)
    )
    for number in itertools.count():
        text = f"{name}/{number} We decided to use port {number}. " + "It works. " * random.randrange(60)
        store.append(session, [draft(text)], counter="words")
        sys.stdout.write(f"{text.split()[0]}\n")
        sys.stdout.flush()
        worker.wake()
        time.sleep(0.01)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
