"""The stream of events: live, in order, resumed where a listener left off, and never delayed by one."""

from __future__ import annotations

import asyncio
import json
import socket
import sqlite3
import sys
from collections.abc import AsyncGenerator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from foveal import Foveal
from foveal.events import FileRefused
from foveal.server import event_stream as feeds
from foveal.server.event_stream import Feed
from foveal.session.inspect.builds import events_after
from serving import API, Served, served

Event = tuple[str, str, Any]
"""Its id, its name, its data."""


@contextmanager
def listening(service: Served, *, after: str = "", session: str = "") -> Iterator[Iterator[Event]]:
    headers = {"last-event-id": after} if after else {}
    asked = service.client.stream("GET", f"{API}/events", headers=headers, params={"session": session})
    with asked as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        lines = answer.iter_lines()
        assert next(lines).startswith("retry:")
        yield read(lines)


def read(lines: Iterator[str]) -> Iterator[Event]:
    found: dict[str, str] = {}
    for line in lines:
        name, _, value = line.partition(": ")
        if line and not line.startswith(":"):
            found[name] = value
        elif "event" in found:
            yield found.get("id", ""), found["event"], json.loads(found["data"])
            found = {}


def said(service: Served, session: str, *texts: str) -> None:
    for text in texts:
        service.post(f"/sessions/{session}/messages", {"role": "user", "text": text})


def test_events_are_sent_as_they_happen(service: Served) -> None:
    said(service, "live", "before")
    with listening(service, session="live") as events:
        said(service, "live", "now")
        service.post("/sessions/live/build", {"budget": 100})
        names = [next(events)[1] for _ in range(2)]
    assert names == ["messages.added", "window.built"]


def test_who_comes_back_hears_what_was_missed_and_nothing_twice(service: Served) -> None:
    with listening(service, session="back") as events:
        said(service, "back", "one", "two")
        assert next(events)[1] == "session.created"
        first, second = next(events), next(events)
    said(service, "back", "three")
    with listening(service, session="back", after=first[0]) as events:
        said(service, "back", "four")
        again = [next(events) for _ in range(3)]
    assert again[0] == second
    assert [ids for _, _, data in again for ids in data["ids"]] == ["m2", "m3", "m4"]


def test_events_of_other_processes_come_too(service: Served) -> None:
    with listening(service, session="other") as events, Foveal(service.store) as fov:
        fov.session("other").add("user", "from elsewhere")
        assert next(events)[2]["ids"] == ["m1"]


def test_a_restart_loses_nothing(tmp_path: Path) -> None:
    with served(tmp_path) as before, listening(before) as events:
        said(before, "kept", "one")
        assert next(events)[1] == "session.created"
        last = next(events)[0]
    with Foveal(tmp_path / "store.db") as fov:
        fov.session("kept").add("user", "while it was away")
    with served(tmp_path) as after, listening(after, after=last) as events:
        assert next(events)[2]["ids"] == ["m2"]


def test_an_unknown_event_id_is_answered_with_a_reset(service: Served) -> None:
    for strange in ("999999999", "soon"):
        with listening(service, after=strange) as events:
            assert next(events)[1] == "reset"


def test_a_deleted_session_is_announced(service: Served) -> None:
    said(service, "gone", "hello")
    with listening(service, session="gone") as events:
        service.client.delete(f"{API}/sessions/gone")
        assert next(events)[1:] == ("session.deleted", {"session": "gone"})


def test_a_client_that_does_not_read_delays_no_other(service: Served) -> None:
    place = urlsplit(service.address)
    with socket.create_connection((place.hostname, place.port)) as stuck, listening(service) as events:
        stuck.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        stuck.sendall(f"GET {API}/events HTTP/1.1\r\nhost: localhost\r\n\r\n".encode())
        for number in range(10):
            many = [{"role": "user", "content": f"{number} {each}"} for each in range(200)]
            service.post("/sessions/flood/messages/import", {"messages": many})
        heard = [next(events) for _ in range(11)]
        assert httpx.get(f"{service.address}/health").status_code == 200
    assert [name for _, name, _ in heard] == ["session.created", *["messages.added"] * 10]


def test_a_client_that_missed_too_much_is_sent_a_reset(monkeypatch: Any) -> None:
    monkeypatch.setattr(feeds, "MISSED_MOST", 5)

    async def heard() -> list[bytes]:
        with Foveal(":memory:") as fov:
            for number in range(10):
                fov.session("a").add("user", str(number))
            stream = Feed(fov, asyncio.get_running_loop()).listen(1, "")
            assert await anext(stream) == feeds.OPENING
            first = await anext(stream)
            fov.session("a").add("user", "on it goes")
            return [first, await anext(stream)]

    first, second = asyncio.run(heard())
    assert first.startswith(b"id: 10\nevent: reset")
    assert second.startswith(b"id: 11\nevent: messages.added")


def test_a_log_that_cannot_be_read_for_a_moment_ends_nothing(monkeypatch: Any) -> None:
    failures = [sqlite3.OperationalError("disk I/O error"), ValueError("not JSON")]

    def shaky(fov: Foveal, **asked: Any) -> Any:
        if failures:
            raise failures.pop()
        return events_after(fov, **asked)

    monkeypatch.setattr(feeds, "events_after", shaky)
    monkeypatch.setattr(feeds, "PAUSE", 0.01)

    async def heard() -> bytes:
        with Foveal(":memory:") as fov:
            stream = Feed(fov, asyncio.get_running_loop()).listen(None, "")
            assert await anext(stream) == feeds.OPENING
            fov.session("a").add("user", "still sent")
            async with asyncio.timeout(10):
                return await anext(stream)

    assert b"event: messages.added" in asyncio.run(heard())
    assert failures == []


def test_who_was_away_for_a_moment_needs_no_log(monkeypatch: Any) -> None:
    async def heard() -> list[bytes]:
        with Foveal(":memory:") as fov:
            feed = Feed(fov, asyncio.get_running_loop())
            there = feed.listen(0, "")
            assert await anext(there) == feeds.OPENING
            for number in range(3):
                fov.session("a").add("user", str(number))
            found = b""
            while b"id: 3\n" not in found:
                found += await anext(there)
            monkeypatch.delattr(feeds, "events_after")
            back = feed.listen(1, "")
            return [await anext(back) for _ in range(2)]

    _, missed = asyncio.run(heard())
    assert [line for line in missed.decode().splitlines() if line.startswith("id: ")] == ["id: 2", "id: 3"]


def test_who_is_slow_hears_everything_from_the_log(monkeypatch: Any) -> None:
    monkeypatch.setattr(feeds, "RING", 3)
    monkeypatch.setattr(feeds, "PAGE", 2)

    async def heard() -> list[str]:
        with Foveal(":memory:") as fov:
            stream, found = Feed(fov, asyncio.get_running_loop()).listen(0, ""), b""
            fov.session("a").add("user", "first")
            found += await anext(stream)
            for number in range(20):  # no listener reads meanwhile
                fov.session("a").add("user", str(number))
                await asyncio.sleep(0.01)
            while found.count(b"id: ") < 21:
                found += await anext(stream)
            return [line for line in found.decode().splitlines() if line.startswith("id: ")]

    assert asyncio.run(heard()) == [f"id: {number}" for number in range(1, 22)]


def test_who_falls_behind_after_what_is_in_no_log_hears_nothing_twice(monkeypatch: Any) -> None:
    monkeypatch.setattr(feeds, "RING", 4)

    async def heard() -> bytes:
        with Foveal(":memory:") as fov:
            feed, session = Feed(fov, asyncio.get_running_loop()), fov.session("a")
            stream = feed.listen(None, "")
            assert await anext(stream) == feeds.OPENING
            feed.announce("session.created", "b", {})
            found = await anext(stream)  # from now on it hears what the ring gets
            session.add("user", "0")
            await asyncio.sleep(0.1)
            feed.announce("session.created", "c", {})
            await asyncio.sleep(0.1)
            found += await anext(stream)
            for number in range(1, 8):  # no listener reads meanwhile
                session.add("user", str(number))
                await asyncio.sleep(0.05)
            while b"id: 8\n" not in found:
                found += await anext(stream)
            return found

    assert asyncio.run(heard()).count(b"id: 1\n") == 1


def test_who_read_ahead_of_the_others_and_comes_back_is_not_reset(monkeypatch: Any) -> None:
    monkeypatch.setattr(feeds, "SOON", 60.0)  # those who are there hear nothing more for a while

    async def heard() -> bytes:
        with Foveal(":memory:") as fov:
            feed = Feed(fov, asyncio.get_running_loop())
            there, back = feed.listen(None, ""), feed.listen(2, "")
            assert await anext(there) == feeds.OPENING
            await asyncio.sleep(0.1)
            for number in range(3):
                fov.session("a").add("user", str(number))
            assert await anext(back) == feeds.OPENING
            monkeypatch.setattr(feeds, "HEARTBEAT", 0.01)
            return await anext(back)

    assert asyncio.run(heard()) == feeds.BEAT


def test_an_erased_message_is_erased_from_events_that_were_sent_before(service: Served) -> None:
    secret = {"role": "user", "id": "xyzzyplugh", "content": "We decided: the word is xyzzyplugh. " * 40}
    said = [secret, *({"role": "user", "content": f"go on {n}"} for n in range(3))]
    with listening(service, session="erased") as events:
        service.post("/sessions/erased/messages/import", {"messages": said})
        service.post("/sessions/erased/summarize", {"keep": 1})
        service.post("/sessions/erased/pin", {"id": "m4"})
        first = [next(events) for _ in range(4)]
        assert "xyzzyplugh" in repr(first)
        service.post("/sessions/erased/forget", {"id": "xyzzyplugh"})
        assert next(events)[2]["mark"] == "erased"
        with listening(service, session="erased", after=str(int(first[1][0]) - 1)) as again:
            heard = [next(again) for _ in range(4)]
    assert [name for _, name, _ in heard] == [name for _, name, _ in [*first[1:], ("", "message.marked", 0)]]
    assert "xyzzyplugh" not in repr(heard)


def test_a_deleted_session_leaves_no_events_in_memory(service: Served) -> None:
    with listening(service, session="deleted") as events:
        service.post(
            "/sessions/deleted/messages/import",
            {"messages": [{"role": "user", "id": "xyzzyplugh", "content": "hello"}]},
        )
        last = [next(events) for _ in range(2)][-1]
        service.client.delete(f"{API}/sessions/deleted")
        assert next(events)[1] == "session.deleted"
        with listening(service, session="deleted", after=str(int(last[0]) - 1)) as again:
            assert next(again)[1] != "messages.added"


LARGE = 1_000_000
"""Characters of a large event."""


def with_large_events(file: Path, number: int) -> None:
    with Foveal(file) as fov:
        for each in range(number):
            fov._store.log(
                "large", [FileRefused(session="large", path=f"{each:02}" + "x" * LARGE, why="")], now=0
            )


def peak_memory(service: Served) -> int:
    """Bytes."""
    status = Path(f"/proc/{service.process.pid}/status").read_text()
    return 1024 * int(status.partition("VmHWM:")[2].split()[0])


@pytest.mark.skipif(sys.platform != "linux", reason="the peak is read from /proc")
def test_missed_events_are_read_by_bytes_so_that_large_ones_take_little_memory(tmp_path: Path) -> None:
    with_large_events(tmp_path / "store.db", 100)
    with served(tmp_path) as service:
        assert httpx.get(f"{service.address}/health").status_code == 200
        before = peak_memory(service)
        with listening(service, after="0") as one, listening(service, after="0") as other:
            heard = [[int(next(events)[0]) for _ in range(100)] for events in (one, other)]
            assert httpx.get(f"{service.address}/health").status_code == 200
        assert heard == [list(range(1, 101))] * 2
        assert peak_memory(service) - before < 60 * 2**20


def test_large_events_leave_memory_before_many_small_ones(monkeypatch: Any) -> None:
    monkeypatch.setattr(feeds, "RING_SIZE", 1_000)

    async def heard() -> bytes:
        with Foveal(":memory:") as fov:
            feed = Feed(fov, asyncio.get_running_loop())
            stream, found = feed.listen(0, ""), b""
            assert await anext(stream) == feeds.OPENING
            for number in range(20):
                fov.session("a").add("user", str(number), name="n" * 300)
                await asyncio.sleep(0.01)
            while b"id: 20\n" not in found:
                found += await anext(stream)
            assert sum(len(each.data) for each in feed._ring) <= 1_000
            return found

    found = asyncio.run(heard())
    assert [f"id: {number}\n".encode() in found for number in range(1, 21)] == [True] * 20


def test_a_large_event_is_sent_in_small_writes() -> None:
    async def sent() -> list[bytes]:
        async def chunks() -> AsyncGenerator[bytes, None]:
            yield b"x" * (feeds.WRITE + 1)

        async def send(message: Any) -> None:
            bodies.append(message.get("body", b""))

        bodies: list[bytes] = []
        await feeds.EventStream(chunks())({}, lambda: asyncio.sleep(60), send)  # type: ignore[arg-type]
        return bodies

    assert list(map(len, asyncio.run(sent()))) == [0, feeds.WRITE, 1]
