"""Two tenants on one service: whatever they do at once, neither ever reads a word of the other's."""

from __future__ import annotations

import os
import random
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import httpx
import pytest

from serving import API, served

TOKENS = {"acme": "acme-token-0123456789", "globex": "globex-token-0123456789"}
SETTINGS = '[serve.tokens]\nACME_TOKEN = "acme"\nGLOBEX_TOKEN = "globex"\n'
NAMES = ("plan", "notes", "log")


def mixed(address: str, tenant: str, operations: int) -> tuple[int, list[str]]:
    """Do all sorts of things as one tenant; how often they read their own words, and where another's."""
    dice, own, foreign = random.Random(tenant), 0, list[str]()
    other = next(each for each in TOKENS if each != tenant)
    headers = {"authorization": f"Bearer {TOKENS[tenant]}", "x-tenant": other}
    with httpx.Client(base_url=address, headers=headers, timeout=60) as client:
        for number in range(operations):
            answer = one(client, tenant, number, dice)
            assert answer.status_code < 500, answer.text
            own += f"{tenant}-word" in answer.text
            if f"{other}-word" in answer.text:
                foreign.append(str(answer.url))
    return own, foreign


def one(client: httpx.Client, tenant: str, number: int, dice: random.Random) -> httpx.Response:
    place = f"{API}/sessions/{dice.choice(NAMES)}"
    text = f"{tenant}-word {number % 50}: shared words about the harbour"
    read = [
        f"{place}/search?query=harbour+word&everywhere=true",
        f"{place}/messages?limit=50",
        f"{place}/recall/m{dice.randrange(1, 40)}",
        f"{place}/manifest",
        f"{API}/profile",
    ]
    written = [
        (f"{place}/messages", {"role": "user", "text": text}),
        (f"{place}/messages", {"role": "user", "text": text, "pin": True}),
        (f"{place}/build", {"budget": 400}),
        (f"{API}/profile", {"text": f"I am the {tenant}-word {number % 7}."}),
    ]
    if number % 50 == 49:
        return client.delete(place)
    if dice.random() < 0.5:
        return client.get(dice.choice(read))
    where, body = dice.choice(written)
    return client.post(where, json=body)


def cross_reads(folder: Path, operations: int) -> list[str]:
    (folder / "foveal.toml").write_text(SETTINGS, encoding="utf-8")
    tokens = {f"{name.upper()}_TOKEN": token for name, token in TOKENS.items()}
    with served(folder, **tokens) as service, ThreadPoolExecutor() as pool:
        runs = [pool.submit(mixed, service.address, tenant, operations // 2) for tenant in TOKENS]
        read = [run.result() for run in runs]
    assert sum(own for own, _ in read) > operations // 5
    return [each for _, foreign in read for each in foreign]


def test_of_a_thousand_mixed_operations_none_reads_across(tmp_path: Path) -> None:
    assert cross_reads(tmp_path, 1_000) == []


def test_a_blocked_store_delays_no_request_that_does_not_need_it(tmp_path: Path) -> None:
    (tmp_path / "foveal.toml").write_text(SETTINGS, encoding="utf-8")
    tokens = {f"{name.upper()}_TOKEN": token for name, token in TOKENS.items()}
    with served(tmp_path, **tokens) as service, ThreadPoolExecutor() as pool:
        assert httpx.get(f"{service.address}/health", timeout=60).status_code == 200  # it is up
        with closing(sqlite3.connect(service.store)) as other:
            other.execute("BEGIN IMMEDIATE")  # the place of a tenant who is new cannot be made meanwhile
            headers = {"authorization": f"Bearer {TOKENS['globex']}"}
            asked = pool.submit(httpx.get, f"{service.address}{API}/sessions", headers=headers, timeout=30)
            with pytest.raises(TimeoutError):
                asked.result(timeout=0.5)
            assert httpx.get(f"{service.address}/health", timeout=3).status_code == 200
        assert asked.result().status_code == 200


@pytest.mark.soak
@pytest.mark.skipif("FOVEAL_SOAK" not in os.environ, reason="takes minutes; set FOVEAL_SOAK=1")
def test_of_a_hundred_thousand_none_does_either(tmp_path: Path) -> None:
    assert cross_reads(tmp_path, 100_000) == []
