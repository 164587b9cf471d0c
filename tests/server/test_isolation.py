"""What a tenant sees does not show how much the others do."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from foveal.config import load
from foveal.errors import ConfigError
from foveal.server.settings import serving
from serving import API, Served, served

TOKENS = {"ACME_TOKEN": "acme-token-0123456789", "GLOBEX_TOKEN": "globex-token-0123456789"}
OPERATOR = "operator-token-0123456789"
SETTINGS = '[serve.tokens]\nACME_TOKEN = "acme"\nGLOBEX_TOKEN = "globex"\n'


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("shared")
    (folder / "foveal.toml").write_text(SETTINGS, encoding="utf-8")
    with served(folder, FOVEAL_METRICS_TOKEN=OPERATOR, **TOKENS) as service:
        for number in range(20):
            message = {"role": "user", "text": f"step {number}"}
            asked(service, "ACME_TOKEN", "POST", f"{API}/sessions/a/messages", message)
        asked(service, "GLOBEX_TOKEN", "POST", f"{API}/sessions/b/messages", {"role": "user", "text": "hi"})
        yield service


def asked(service: Served, token: str, method: str, path: str, body: object = None) -> httpx.Response:
    headers = {"authorization": f"Bearer {TOKENS.get(token, OPERATOR)}"}
    return service.client.request(method, path, headers=headers, json=body)


def numbers(service: Served, token: str) -> dict[str, float]:
    lines = asked(service, token, "GET", "/metrics").text.splitlines()
    pairs = [line.rpartition(" ") for line in lines if not line.startswith("#")]
    return {name: float(value) for name, _, value in pairs}


ADDED = 'foveal_requests_total{method="POST",route="/sessions/{name}/messages",status="201"}'


def test_a_token_sees_the_metrics_of_its_own_tenant_only(shared: Served) -> None:
    found = numbers(shared, "GLOBEX_TOKEN")
    assert found[ADDED] == 1
    assert {"process_resident_memory_bytes", "foveal_tenants_open"}.isdisjoint(found)


def test_the_token_of_the_metrics_sees_those_of_all_tenants_and_nothing_else(shared: Served) -> None:
    found = numbers(shared, "operator")
    assert (found[ADDED], found["foveal_tenants_open"]) == (21, 2)
    assert asked(shared, "operator", "GET", f"{API}/sessions").status_code == 401


def test_event_ids_count_the_events_of_the_tenant(shared: Served) -> None:
    headers = {"authorization": f"Bearer {TOKENS['GLOBEX_TOKEN']}", "last-event-id": "0"}
    with shared.client.stream("GET", f"{API}/events", headers=headers) as response:
        first = next(line for line in response.iter_lines() if line.startswith("id:"))
    assert first == "id: 1"


def test_the_token_of_the_metrics_is_not_that_of_a_tenant(tmp_path: Path) -> None:
    (tmp_path / "foveal.toml").write_text(SETTINGS, encoding="utf-8")
    same = {**TOKENS, "FOVEAL_METRICS_TOKEN": TOKENS["ACME_TOKEN"]}
    with pytest.raises(ConfigError) as refused:
        serving(load({}, same, tmp_path), {}, same)
    assert "FOVEAL_METRICS_TOKEN" in refused.value.remedy
