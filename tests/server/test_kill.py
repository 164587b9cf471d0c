"""What was acknowledged over HTTP is there, however the service ends."""

from __future__ import annotations

import os
import random
import threading
import time
from pathlib import Path

import httpx
import pytest

from foveal import Foveal
from serving import API, Served, served


def writing(service: Served, writer: int, acknowledged: list[str], round: int) -> None:
    """Add messages, singly and in batches, until the service is gone."""
    with httpx.Client(base_url=service.address, timeout=30) as client:
        for number in range(100_000):
            texts = [f"{round}/{writer}/{number}/{each}" for each in range(1 if number % 3 else 20)]
            many = {"messages": [{"role": "user", "content": text} for text in texts]}
            try:
                answer = client.post(f"{API}/sessions/w{writer}/messages/import", json=many)
            except httpx.TransportError:
                return
            assert answer.is_success, answer.text
            acknowledged.extend(texts)


def killed_under_load(folder: Path, round: int, dice: random.Random) -> list[str]:
    """What the service acknowledged before it was killed."""
    acknowledged: list[list[str]] = [[] for _ in range(4)]
    with served(folder) as service:
        args = [(service, writer, acknowledged[writer], round) for writer in range(4)]
        threads = [threading.Thread(target=writing, args=each) for each in args]
        for thread in threads:
            thread.start()
        while not all(acknowledged):
            time.sleep(0.01)
        time.sleep(dice.uniform(0, 0.5))
        service.kill()
        for thread in threads:
            thread.join()
    return [text for each in acknowledged for text in each]


def survives(folder: Path, *, rounds: int) -> None:
    dice, promised = random.Random(rounds), set[str]()
    for round in range(rounds):
        promised |= set(killed_under_load(folder, round, dice))
        with Foveal(folder / "store.db") as fov:
            kept = [message["content"] for r in fov.sessions() for message in fov.open(r.name).export()]
        assert promised <= set(kept)
        assert len(kept) == len(set(kept))
    with Foveal(folder / "store.db") as fov:
        assert fov.verify().clean


def test_nothing_acknowledged_is_lost_when_the_service_is_killed(tmp_path: Path) -> None:
    survives(tmp_path, rounds=2)


@pytest.mark.soak
@pytest.mark.skipif("FOVEAL_SOAK" not in os.environ, reason="takes minutes; set FOVEAL_SOAK=1")
def test_nothing_acknowledged_is_lost_in_fifty_kills(tmp_path: Path) -> None:
    survives(tmp_path, rounds=50)
