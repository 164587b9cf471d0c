"""Pools over HTTP: created, joined, left and deleted; private messages are a field of messages."""

from __future__ import annotations

from serving import API, Served


def names(service: Served) -> list[str]:
    """Of all pools; other tests create some too."""
    return [pool["name"] for pool in service.get("/pools")]


def test_agents_of_a_pool_share_what_is_not_private(service: Served) -> None:
    assert service.client.put(f"{API}/pools/repo", json={"budget": 8_000}).json()["budget"] == 8_000
    service.post("/sessions", {"name": "pooled-api", "pool": "repo"})
    say = "/sessions/pooled-api/messages"
    service.post(say, {"role": "user", "text": "We decided: src/a.py has no cache."})
    service.post(say, {"role": "user", "text": "We decided: src/a.py has key K-90417.", "private": True})
    service.post("/sessions/pooled-db/messages", {"role": "user", "text": "Test src/a.py."})
    found = service.post("/pools/repo/join", {"session": "pooled-db"})
    assert [agent["session"] for agent in found["agents"]] == ["pooled-api", "pooled-db"]
    window = str(service.post("/sessions/pooled-db/build", {}))
    assert "has no cache" in window
    assert "90417" not in window
    left = service.post("/pools/repo/leave", {"session": "pooled-db"})
    assert [agent["session"] for agent in left["agents"]] == ["pooled-api"]
    assert service.client.delete(f"{API}/pools/repo").json() == {"name": "repo", "change": "deleted"}
    assert "repo" not in names(service)


def test_a_budget_of_null_removes_it_and_without_one_it_stays(service: Served) -> None:
    def saved(body: dict[str, int | None]) -> int | None:
        budget: int | None = service.client.put(f"{API}/pools/limited", json=body).json()["budget"]
        return budget

    assert [saved({"budget": 8_000}), saved({}), saved({"budget": None})] == [8_000, 8_000, None]
    service.client.delete(f"{API}/pools/limited")


def test_a_slash_in_a_name_is_escaped(service: Served) -> None:
    service.client.put(f"{API}/pools/c%2Fd", json={})
    assert "c/d" in names(service)
    assert service.client.delete(f"{API}/pools/c%2Fd").json() == {"name": "c/d", "change": "deleted"}


def test_what_is_not_there_is_a_404(service: Served) -> None:
    for path, body in (("/pools/none/join", {"session": "x"}), ("/pools/none/leave", {"session": "x"})):
        assert service.client.post(f"{API}{path}", json=body).status_code == 404
