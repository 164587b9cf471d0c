"""The law of the stable prefix: between refocuses a request begins with the one before, byte for byte.

A request is compared as its provider reads it: cache markers are not content. A refocus is visible: the
record of its manifest has another layout.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np  # noqa: F401 — hypothesis looks at it, and a worker must not be importing it meanwhile
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import foveal
from foveal import Foveal, Session, wire
from foveal.errors import BudgetError, InputError, NotFoundError
from foveal.model import MESSAGES_KEY, Format
from foveal.session.target import target_for
from foveal.window import Window
from strategies import FORMATS, histories

pytestmark = pytest.mark.soak
FEWER = settings(max_examples=settings.default.max_examples // 10)
FEWEST = settings(max_examples=settings.default.max_examples // 20)
ROOMS = st.integers(150, 900)
WORDS = (
    "We decided to use JWT for the login in src/auth.js, because cookies expire too early there. ",
    "ConnectionError: replica db-7 refused the handshake at 10.0.0.7, as it does at every start. ",
    "What did src/auth.js use for the login before, and which replica refused the handshake? ",
)
LONG = st.builds(lambda words, times: words * times, st.sampled_from(WORDS), st.integers(1, 6))
TASKS = st.sampled_from(["", "read_file", "What failed in src/auth.js?"])
TOOLS = [{"name": "read_file", "description": "Reads a file.", "input_schema": {"type": "object"}}]


class Client:
    """A client that talks to one session of a store and reopens it now and then."""

    def __init__(self, place: Path, format: Format, room: int) -> None:
        self.place, self.format = place, format
        self.budget = room + target_for("gpt-5", format).price((), json.dumps(TOOLS))
        self.windows: list[Window] = []
        self.open()

    def open(self) -> None:
        self.fov = Foveal(self.place / "store.db", embedder="none")
        self.session: Session = self.fov.session("work", model="gpt-5", preset="foveal")

    def restart(self) -> None:
        self.fov.close()
        self.open()

    def say(self, messages: list[Any]) -> None:
        self.session.extend(messages, format=self.format)

    def build(self, task: str = "") -> None:
        self.windows.append(
            self.session.build(
                budget=self.budget, format=self.format, task=task, system="You fix bugs.", tools=TOOLS
            )
        )


@contextmanager
def client(format: Format, room: int) -> Iterator[Client]:
    with TemporaryDirectory() as place:
        found = Client(Path(place), format, room)
        try:
            yield found
        finally:
            found.fov.close()


def read(window: Window) -> str:
    """The request as its provider reads it, without its closing bracket."""
    request = wire.without_markers(window.request) if window.format == "anthropic" else window.request
    messages = request.pop(MESSAGES_KEY[window.format])
    return json.dumps([request, *messages])[:-1]


def layouts(windows: list[Window]) -> Iterator[dict[str, Any]]:
    """By window, the layout it begins with: its own, or that of the one before. What came back follows it."""
    found: dict[str, Any] = {}
    for window in windows:
        found = json.loads(window.manifest.record.get("layout", "null")) or found
        yield {key: value for key, value in found.items() if key not in ("brought", "task")}


def broken(windows: list[Window]) -> list[tuple[str, str]]:
    """Windows that neither refocused nor begin with the one before."""
    pairs = pairwise(zip(windows, layouts(windows), strict=True))
    same_layout = [(read(old), read(new)) for (old, layout), (new, same) in pairs if layout == same]
    return [(old, new) for old, new in same_layout if not new.startswith(old)]


def some_id(session: Session, data: st.DataObject) -> str:
    return data.draw(st.sampled_from([entry.id for entry in session.entries()]))


Act = Callable[[Client, st.DataObject], object]
TALK: tuple[Act, ...] = (
    lambda client, data: client.session.add("user", data.draw(LONG)),
    lambda client, data: client.session.add("assistant", data.draw(LONG)),
    lambda client, data: client.say(data.draw(histories(client.format, longest=2))),
    lambda client, data: client.say(data.draw(histories(client.format, longest=2))),
    lambda client, _: client.restart(),
)
CARE: tuple[Act, ...] = (
    lambda client, data: client.session.pin(some_id(client.session, data)),
    lambda client, data: client.session.unpin(some_id(client.session, data)),
    lambda client, data: client.session.forget(some_id(client.session, data), erase=False),
    lambda client, data: client.session.forget(some_id(client.session, data)),
    lambda client, _: client.session.restore(),
    lambda client, data: client.session.start_task(data.draw(TASKS) or "work"),
    lambda client, _: client.session.complete_task(),
    lambda client, data: client.session.sync(data.draw(histories(client.format)), format=client.format),
    lambda client, _: client.session.build(preset="recent", budget=client.budget),
)


def lived(client: Client, data: st.DataObject, acts: tuple[Act, ...]) -> None:
    """Let things happen and build a window after each; what is refused has not happened."""
    for happens in [TALK[-2], *data.draw(st.lists(st.sampled_from(acts), min_size=4, max_size=14))]:
        try:
            happens(client, data)
            client.build(data.draw(TASKS))
        except (BudgetError, InputError, NotFoundError):
            continue


@pytest.mark.parametrize("format", FORMATS)
@FEWER
@given(data=st.data())
def test_between_refocuses_a_request_begins_with_the_one_before(format: Format, data: st.DataObject) -> None:
    with client(format, data.draw(ROOMS)) as work:
        lived(work, data, TALK)
        assert broken(work.windows) == []
        for window in work.windows:
            assert set(wire.check(window.request, format)) <= {"ends_with_assistant"}
            assert foveal.count_tokens(window.request, model="gpt-5", format=format) <= window.budget


@pytest.mark.parametrize("format", FORMATS)
@FEWEST
@given(data=st.data())
def test_whatever_else_happens_a_request_with_another_beginning_has_another_layout(
    format: Format, data: st.DataObject
) -> None:
    with client(format, data.draw(ROOMS)) as work:
        lived(work, data, TALK + CARE)
        assert broken(work.windows) == []


def question(number: int) -> str:
    """A question about an early message."""
    return f"Order ORD{number:04} came in for customer {number % 7}. What did order ORD{number // 3:04} cost?"


def answer(number: int) -> str:
    return f"Order ORD{number // 3:04} cost {number * 17} euros. " + "Nothing else is known of it. " * 6


def windows_of(format: Format, restarts: int) -> list[Window]:
    """The windows of forty questions, with a restart of the store every `restarts` questions."""
    with client(format, 1_500) as work:
        for number in range(40):
            if number % restarts == restarts - 1:
                work.restart()
            work.session.add("user", question(number))
            work.build()
            work.session.add("assistant", answer(number))
        return work.windows


@pytest.mark.parametrize("format", FORMATS)
def test_a_long_conversation_refocuses_sometimes_and_keeps_its_prefix_between(format: Format) -> None:
    windows = windows_of(format, restarts=100)
    assert broken(windows) == []
    assert 3 <= sum(window.manifest.metrics["refocused"] for window in windows) <= 10


@pytest.mark.parametrize("format", FORMATS)
def test_a_restart_changes_no_window(format: Format) -> None:
    once, restarted = windows_of(format, restarts=100), windows_of(format, restarts=3)
    assert [window.request for window in once] == [window.request for window in restarted]
