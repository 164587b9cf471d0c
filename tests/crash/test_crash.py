"""Nothing that was acknowledged is lost, however the process ends and however many write."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from foveal.store import Store, open_store

WRITER = Path(__file__).with_name("writer.py")


def started(path: Path, name: str, *, count: int = 0) -> subprocess.Popen[bytes]:
    command = [sys.executable, str(WRITER), str(path), name, str(count)]
    return subprocess.Popen(command, stdout=subprocess.PIPE)


def killed_after(path: Path, name: str, seconds: float) -> list[str]:
    """What a writer acknowledged before it was killed, that long after its first word."""
    with started(path, name) as writer:
        assert writer.stdout is not None
        first = writer.stdout.readline()
        time.sleep(seconds)
        writer.kill()
        *lines, _ = (first + writer.stdout.read()).decode().split("\n")
    return lines


def kept(store: Store) -> Iterator[str]:
    for content in store.messages(store.session("kept", now=0.0).id):
        assert content is not None
        yield json.loads(content.body)["content"].split()[0]


def survives(path: Path, *, rounds: int, dice: random.Random) -> None:
    acknowledged: list[str] = []
    for number in range(rounds):
        acknowledged += killed_after(path, str(number), dice.uniform(0, 0.15))
        with closing(open_store(path)) as store:
            promised = set(acknowledged)
            assert [text for text in kept(store) if text in promised] == acknowledged
            if number % 5 == 4:
                assert store.verify().faults == ()
    assert len(acknowledged) >= rounds


def test_nothing_acknowledged_is_lost_when_the_process_is_killed(tmp_path: Path) -> None:
    survives(tmp_path / "a.db", rounds=20, dice=random.Random(7))


@pytest.mark.soak
@pytest.mark.skipif("FOVEAL_SOAK" not in os.environ, reason="takes minutes; set FOVEAL_SOAK=1")
def test_nothing_acknowledged_is_lost_in_two_hundred_kills(tmp_path: Path) -> None:
    survives(tmp_path / "a.db", rounds=200, dice=random.Random())


def test_processes_that_write_one_session_lose_nothing_and_never_fail(tmp_path: Path) -> None:
    writers = [started(tmp_path / "a.db", name, count=60) for name in "abc"]
    said = [writer.communicate()[0].decode().split() for writer in writers]
    assert [writer.returncode for writer in writers] == [0, 0, 0]
    with closing(open_store(tmp_path / "a.db")) as store:
        entries = store.entries(store.session("kept", now=0.0).id)
        assert [entry.seq for entry in entries] == list(range(sum(map(len, said))))
        for name, lines in zip("abc", said, strict=True):
            assert [text for text in kept(store) if text.startswith(f"{name}/")] == lines
        assert store.verify().faults == ()


def test_a_process_killed_while_another_writes_disturbs_nothing(tmp_path: Path) -> None:
    with started(tmp_path / "a.db", "a", count=80) as writer:
        acknowledged = [
            line for number in range(3) for line in killed_after(tmp_path / "a.db", f"b{number}", 0.05)
        ]
        assert writer.stdout is not None
        acknowledged += writer.stdout.read().decode().split()
    assert writer.returncode == 0
    with closing(open_store(tmp_path / "a.db")) as store:
        assert set(acknowledged) <= set(kept(store))
        assert store.verify().faults == ()
