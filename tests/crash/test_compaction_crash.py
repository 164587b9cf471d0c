"""A process that is killed while it compacts leaves no half of anything, and the next one goes on."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from crash import compactor
from foveal.jobs import Worker
from foveal.store import Store, open_store


def started(path: Path, name: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, compactor.__file__, str(path), name], stdout=subprocess.PIPE)


def killed_after(path: Path, name: str, messages: int, seconds: float) -> list[str]:
    """What a compactor acknowledged before it was killed, that long after it had stored so many messages."""
    with started(path, name) as process:
        assert process.stdout is not None
        first = b"".join(process.stdout.readline() for _ in range(messages))
        time.sleep(seconds)
        process.kill()
        *lines, _ = (first + process.stdout.read()).decode().split("\n")
    return lines


def kept(store: Store) -> list[str]:
    contents = store.messages(store.session(compactor.SESSION, now=0.0).id)
    return [json.loads(content.body)["content"].split()[0] for content in contents if content]


def is_whole(store: Store) -> bool:
    """Every summary is what its sources make, every vector what its content makes."""
    asked = {ask.key: compactor.summary_of(ask) for ask in compactor.asks(store)}
    session = store.session(compactor.SESSION, now=0.0).id
    made = zip(store.vectors(session, compactor.EMBEDDER), store.messages(session), strict=True)
    assert all(vector in (None, compactor.vector_of(content)) for vector, content in made if content)
    return all(record == asked[key] for key, record in store.summaries(list(asked)).items())


def survives(path: Path, *, rounds: int, dice: random.Random) -> None:
    acknowledged: list[str] = []
    for number in range(rounds):
        acknowledged += killed_after(path, str(number), dice.randint(1, 20), dice.uniform(0, 0.03))
        with closing(open_store(path)) as store:
            assert [text for text in kept(store) if text in set(acknowledged)] == acknowledged
            assert is_whole(store)
            assert store.verify().faults == ()
    with closing(open_store(path)) as store:
        finishes(store)


def finishes(store: Store) -> None:
    made = len(store.summaries([ask.key for ask in compactor.asks(store)]))
    failed: list[str] = []
    with closing(Worker(compactor.jobs_of(store), on_error=lambda job, _: failed.append(job))) as worker:
        assert worker.drain(60)
    assert (failed, list(compactor.wanting(store))) == ([], [])
    session = store.session(compactor.SESSION, now=0.0).id
    assert list(store.unembedded(compactor.EMBEDDER, limit=1)) == list(store.unmined(session, limit=1)) == []
    assert len(compactor.asks(store)) >= made > 0
    assert is_whole(store)
    assert store.verify().faults == ()


def test_a_kill_during_compaction_leaves_no_half_and_the_work_goes_on(tmp_path: Path) -> None:
    survives(tmp_path / "a.db", rounds=5, dice=random.Random(7))


@pytest.mark.soak
@pytest.mark.skipif("FOVEAL_SOAK" not in os.environ, reason="takes minutes; set FOVEAL_SOAK=1")
def test_a_hundred_kills_during_compaction_leave_no_half(tmp_path: Path) -> None:
    for part in range(5):
        survives(tmp_path / f"{part}.db", rounds=20, dice=random.Random())


def test_two_processes_that_compact_the_same_disturb_nothing(tmp_path: Path) -> None:
    with started(tmp_path / "a.db", "a") as other:
        assert len(killed_after(tmp_path / "a.db", "b", 50, 0.0)) >= 50
        assert other.poll() is None
        other.kill()
    with closing(open_store(tmp_path / "a.db")) as store:
        finishes(store)
