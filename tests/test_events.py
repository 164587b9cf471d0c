"""The bus delivers every event in order, and an error in a subscriber does not stop the work."""

from __future__ import annotations

import asyncio
import logging

import pytest

from foveal.events import Bus, Event, Warned, payload

EVENT = Warned(session="work", text="look")


def test_every_subscriber_gets_every_event_in_order() -> None:
    heard: list[tuple[str, Event]] = []
    bus = Bus()
    bus.subscribe(lambda event: heard.append(("one", event)))
    bus.subscribe(lambda event: heard.append(("two", event)))
    bus.emit([EVENT])
    assert heard == [("one", EVENT), ("two", EVENT)]


def test_an_unsubscribed_subscriber_gets_no_more_events() -> None:
    heard: list[Event] = []
    bus = Bus()
    bus.subscribe(heard.append)()
    bus.emit([EVENT])
    assert heard == []


def test_a_failing_subscriber_is_logged_and_the_others_still_called(
    caplog: pytest.LogCaptureFixture,
) -> None:
    heard: list[Event] = []

    def broken(event: Event) -> None:
        raise ValueError(event)

    bus = Bus()
    bus.subscribe(broken)
    bus.subscribe(heard.append)
    with caplog.at_level(logging.ERROR):
        bus.emit([EVENT])
    assert heard == [EVENT]
    assert "subscriber failed on warning" in caplog.text


def test_an_async_subscriber_runs_outside_any_loop() -> None:
    heard: list[Event] = []

    async def listen(event: Event) -> None:
        await asyncio.sleep(0)
        heard.append(event)

    bus = Bus()
    bus.subscribe(listen)
    bus.emit([EVENT])
    assert heard == [EVENT]


def test_an_async_subscriber_runs_on_the_running_loop() -> None:
    heard: list[Event] = []

    async def listen(event: Event) -> None:
        heard.append(event)

    async def work() -> None:
        bus = Bus()
        bus.subscribe(listen)
        bus.emit([EVENT])
        await asyncio.sleep(0)

    asyncio.run(work())
    assert heard == [EVENT]


def test_a_failing_async_subscriber_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    async def broken(event: Event) -> None:
        raise ValueError(event)

    bus = Bus()
    bus.subscribe(broken)
    bus.emit([EVENT])
    assert "subscriber failed on warning" in caplog.text


def test_an_events_payload_is_its_fields() -> None:
    assert payload(EVENT) == {"session": "work", "text": "look"}


def test_an_async_subscriber_runs_on_the_loop_it_was_subscribed_from() -> None:
    loops: list[asyncio.AbstractEventLoop] = []

    async def listen(event: Event) -> None:
        loops.append(asyncio.get_running_loop())

    async def work() -> asyncio.AbstractEventLoop:
        bus = Bus()
        bus.subscribe(listen)
        await asyncio.to_thread(bus.emit, [EVENT])
        await asyncio.sleep(0.01)
        return asyncio.get_running_loop()

    assert [asyncio.run(work())] == loops
