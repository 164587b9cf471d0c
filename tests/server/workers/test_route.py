"""Long requests run in processes of their own: they delay nobody, report progress, and stop when told to."""

from __future__ import annotations

import json
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import quote, urlsplit

import httpx
import pytest

from serving import API, Served, served

NDJSON = {"accept": "application/x-ndjson"}
TOKENS = {"ACME_TOKEN": "acme-token-0123456789", "GLOBEX_TOKEN": "globex-token-0123456789"}
SETTINGS = '[serve.tokens]\nACME_TOKEN = "acme"\nGLOBEX_TOKEN = "globex"\n'


@pytest.fixture(scope="module")
def busy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("busy")) as service:
        fill(service.client)
        yield service


def fill(client: httpx.Client, messages: int = 500) -> None:
    """A session whose replay takes a while."""
    roles = ("user", "assistant")
    said = [{"role": roles[n % 2], "content": f"step {n}: the harbour opens at {n}"} for n in range(messages)]
    place = f"{API}/sessions/long"
    client.post(f"{place}/messages/import", json={"messages": said}).raise_for_status()
    client.post(f"{place}/build", json={"budget": 2_000}).raise_for_status()


@contextmanager
def replaying(client: httpx.Client) -> Iterator[Iterator[dict[str, object]]]:
    """The lines of a replay that has begun to work."""
    body = {"preset": "reploid", "budget": 2_000}
    with client.stream("POST", f"{API}/sessions/long/replay", json=body, headers=NDJSON) as response:
        lines = map(json.loads, response.iter_lines())
        assert any(line["progress"]["done"] for line in lines)
        yield lines


def workers(service: Served) -> list[str]:
    listed = subprocess.run(["ps", "-eo", "pid,ppid,args"], text=True, capture_output=True, check=True)
    rows = [line.split(None, 2) for line in listed.stdout.splitlines()[1:]]
    return [pid for pid, parent, args in rows if parent == str(service.process.pid) and "workers" in args]


def soon(true: Callable[[], bool]) -> bool:
    return any(true() or time.sleep(0.1) for _ in range(200))


def alive(pids: list[str]) -> list[str]:
    return [pid for pid in pids if Path(f"/proc/{pid}").exists()]


def test_other_requests_of_the_session_are_answered_while_it_is_replayed(busy: Served) -> None:
    with replaying(busy.client) as lines, httpx.Client(base_url=busy.address, timeout=60) as other:
        assert other.post(f"{API}/sessions/long/build", json={"budget": 500}).status_code == 200
        assert other.get(f"{API}/sessions/long/search", params={"query": "harbour"}).status_code == 200
        assert other.get("/health").status_code == 200
        assert "progress" in next(lines)


def test_many_long_requests_delay_no_other(busy: Served) -> None:
    with ThreadPoolExecutor(6) as clients:
        asked = [clients.submit(busy.post, "/sessions/long/compare", {"budget": 2_000}) for _ in range(6)]
        time.sleep(0.5)  # they have arrived
        busy.post("/sessions/long/build", {"budget": 500})
        assert sum(each.done() for each in asked) < 3


def test_progress_ends_with_the_result(busy: Served) -> None:
    body = {"presets": ["recent", "omar"], "budget": 2_000}
    with busy.client.stream("POST", f"{API}/sessions/long/compare", json=body, headers=NDJSON) as response:
        *before, last = map(json.loads, response.iter_lines())
    assert response.headers["content-type"].startswith("application/x-ndjson")
    assert all(set(line["progress"]) == {"done", "of", "seconds"} for line in before)
    assert (last["status"], len(last["result"]["presets"])) == (200, 2)


def test_progress_ends_with_the_problem(busy: Served) -> None:
    with busy.client.stream("GET", f"{API}/sessions/none/why/m1", headers=NDJSON) as response:
        *_, last = map(json.loads, response.iter_lines())
    assert (last["status"], last["problem"]["type"]) == (404, "urn:foveal:problem:not-found")


def test_a_response_from_a_worker_is_that_of_the_library(busy: Served) -> None:
    found = busy.get("/sessions/long/why/m7")
    assert (found["id"], found["place"]) == ("m7", 6)
    wrong = busy.client.post(f"{API}/sessions/long/compare", json={"bugdet": 1})
    assert (wrong.status_code, wrong.json()["field"]) == (422, "bugdet")
    assert wrong.headers["content-type"] == "application/problem+json"


def test_the_work_stops_when_the_client_leaves(busy: Served) -> None:
    with replaying(busy.client):
        working = workers(busy)
    assert soon(lambda: not set(working) <= set(alive(working)))
    assert busy.get("/sessions/long/why/m7")["id"] == "m7"


def test_an_upload_that_the_client_aborts_is_no_error_of_the_service(tmp_path: Path) -> None:
    body = "content-type: application/json\r\ncontent-length: 90\r\n\r\n{"
    with served(tmp_path) as service:
        for name in ("build", "compare"):
            head = f"POST {API}/sessions/long/{name} HTTP/1.1\r\nhost: localhost\r\n"
            with socket.create_connection(("127.0.0.1", urlsplit(service.address).port or 0)) as line:
                line.sendall((head + body).encode())
        assert soon(lambda: service.client.get("/metrics").text.count('status="499"') == 2)
    assert "failed" not in service.said.read_text(encoding="utf-8")


def test_a_large_body_is_read_by_a_worker_and_has_the_effects_of_a_small_one(tmp_path: Path) -> None:
    said = [{"role": "user", "content": f"{n} " + "x" * 5_000} for n in range(100)]
    with served(tmp_path) as service, service.client.stream("GET", f"{API}/events") as stream:
        small = service.client.post(f"{API}/fit", json={"messages": said[:1], "budget": 900})
        assert (small.status_code, workers(service)) == (200, [])
        stored = service.client.post(f"{API}/sessions/new/messages/import", json={"messages": said})
        assert (stored.json()["stored"], len(workers(service))) == (100, 1)
        lines = iter(stream.iter_lines())
        names = [next(line for line in lines if line.startswith("event: ")) for _ in range(2)]
        assert set(names) == {"event: session.created", "event: messages.added"}
        assert service.get("/sessions/new/stats")["messages"] == 100
        wrong = service.client.post(f"{API}/fit", json={"messages": said, "bugdet": 1})
        assert (wrong.status_code, wrong.json()["field"]) == (422, "bugdet")


def test_a_large_first_import_announces_its_session_whatever_its_name(tmp_path: Path) -> None:
    said = [{"role": "user", "content": f"{n} " + "x" * 5_000} for n in range(100)]
    with served(tmp_path) as service, service.client.stream("GET", f"{API}/events") as stream:
        lines = iter(stream.iter_lines())
        for name in ("team/a", "50%"):
            place = f"{API}/sessions/{quote(name, safe='')}"
            service.client.post(f"{place}/messages/import", json={"messages": said}).raise_for_status()
            assert next(line for line in lines if line.startswith("event: ")) == "event: session.created"
            assert json.loads(next(lines).removeprefix("data: ")) == {"session": name}
            assert next(line for line in lines if line.startswith("event: ")) == "event: messages.added"


def test_no_worker_outlives_the_service(tmp_path: Path) -> None:
    with served(tmp_path) as service:
        fill(service.client, messages=4)
        service.get("/sessions/long/search", query="harbour")
        stopped = workers(service)
        assert stopped
    assert soon(lambda: not alive(stopped))


def test_no_worker_outlives_a_service_that_is_killed(tmp_path: Path) -> None:
    with served(tmp_path) as service:
        fill(service.client)
        with suppress(httpx.TransportError), replaying(service.client) as lines:
            working = workers(service)
            service.kill()
            list(lines)
    assert working
    assert soon(lambda: not alive(working))


def test_a_worker_that_dies_is_replaced(tmp_path: Path) -> None:
    with served(tmp_path) as service:
        fill(service.client)
        with replaying(service.client) as lines:
            subprocess.run(["kill", "-9", *workers(service)], check=True)
            *_, last = lines
        assert last["status"] == 500
        assert service.get("/sessions/long/search", query="harbour")


def test_a_tenant_does_not_wait_for_the_long_requests_of_another(tmp_path: Path) -> None:
    (tmp_path / "foveal.toml").write_text(SETTINGS, encoding="utf-8")
    with served(tmp_path, token=TOKENS["ACME_TOKEN"], **TOKENS) as service:
        fill(service.client)
        headers = {"authorization": f"Bearer {TOKENS['GLOBEX_TOKEN']}"}
        with httpx.Client(base_url=service.address, headers=headers, timeout=60) as other:
            fill(other, messages=4)
            with replaying(service.client) as lines:
                assert other.get(f"{API}/sessions/long/why/m3").status_code == 200
                assert "progress" in next(lines)


def test_a_store_in_memory_is_inspected_in_the_service_itself(tmp_path: Path) -> None:
    with served(tmp_path, FOVEAL_STORE=":memory:") as service:
        fill(service.client, messages=40)
        with service.client.stream("GET", f"{API}/sessions/long/why/m7", headers=NDJSON) as response:
            *_, last = map(json.loads, response.iter_lines())
        assert last["result"]["id"] == "m7"
        assert workers(service) == []


def test_a_store_in_memory_stops_working_when_the_client_leaves(tmp_path: Path) -> None:
    with served(tmp_path, FOVEAL_STORE=":memory:") as service:
        fill(service.client)
        with replaying(service.client):
            pass
        assert service.get("/sessions/long/why/m7")["id"] == "m7"
