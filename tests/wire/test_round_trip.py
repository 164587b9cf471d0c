"""Loading and dumping preserve every format, every block type and every unknown field."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foveal import wire
from foveal.model import MESSAGES_KEY, Format, Message
from strategies import FORMATS, histories, requests

BENCH = Path(os.environ.get("FOVEAL_BENCH") or Path(__file__).parents[3] / "shared" / "bench")
DEV = BENCH / "trajectories" / "data" / "dev.jsonl.gz"
some = settings(max_examples=max(1, settings().max_examples // 3))
formats = pytest.mark.parametrize("format", FORMATS)


def written(messages: tuple[Message, ...] | list[Message], format: Format) -> list[Any]:
    return [json.loads(piece) for piece in wire.dump(messages, format).pieces]


@formats
@some
@given(data=st.data())
def test_an_unchanged_message_is_dumped_as_it_was_loaded(format: Format, data: st.DataObject) -> None:
    history = data.draw(histories(format))
    assert written(wire.load(history, format=format).messages, format) == history


@formats
@some
@given(data=st.data())
def test_a_broken_history_is_dumped_as_it_was_loaded(format: Format, data: st.DataObject) -> None:
    history = data.draw(histories(format, broken=True))
    assert written(wire.load(history, format=format).messages, format) == history


@formats
@some
@given(data=st.data())
def test_a_message_written_from_its_parts_is_the_same(format: Format, data: st.DataObject) -> None:
    history = data.draw(histories(format))
    messages = [replace(message, body="") for message in wire.load(history, format=format).messages]
    assert [same(item) for item in written(messages, format)] == [same(item) for item in history]


def same(item: dict[str, Any]) -> dict[str, Any]:
    """An item of Responses is a message whether it says so or not."""
    return {"type": "message", **item} if "role" in item else item


@formats
@some
@given(data=st.data())
def test_a_request_body_can_be_split_and_rebuilt(format: Format, data: st.DataObject) -> None:
    body = data.draw(requests(format))
    found = wire.load(body, format=format)
    dumped = wire.dump(found.messages, format)
    again: dict[str, Any] = json.loads(found.envelope)
    for key, value in list(again.items()):
        if key == MESSAGES_KEY[format]:
            again[key] = [json.loads(piece) for piece in dumped.pieces]
        elif key == "tools":
            again[key] = json.loads(found.tools)
        elif value is None:
            again[key] = json.loads(dumped.system)
    assert again == body
    assert list(again) == list(body)


@formats
@some
@given(data=st.data())
def test_every_message_has_the_address_of_its_body(format: Format, data: st.DataObject) -> None:
    for message in wire.load(data.draw(histories(format)), format=format).messages:
        assert message.digest == wire.address(message.body)


@pytest.mark.skipif(not DEV.exists(), reason="no recorded trajectories; set FOVEAL_BENCH to their folder")
def test_recorded_trajectories_come_out_equal() -> None:
    for record in recorded():
        found = wire.load(record["messages"])
        assert (found.format, written(found.messages, "openai")) == ("openai", record["messages"])
        if record.get("anthropic"):
            check_anthropic(record["anthropic"])


def check_anthropic(body: dict[str, Any]) -> None:
    found = wire.load(body)
    assert (found.format, written(found.messages, "anthropic")) == ("anthropic", body["messages"])
    system = wire.dump(found.messages, "anthropic").system
    assert (json.loads(system) if system else "") == body["system"]


def recorded() -> Iterator[dict[str, Any]]:
    with gzip.open(DEV, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)
