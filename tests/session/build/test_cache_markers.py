"""Windows with a stable prefix carry cache markers, for a provider that needs them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import foveal
from foveal import Foveal, Session, wire
from foveal.model import Format
from foveal.session.inspect.replay import sent
from foveal.window import Window

MARKED = {"cache_control": {"type": "ephemeral"}}
BUDGET = 3_000


def step(number: int) -> list[dict[str, Any]]:
    """A question, a call and its result."""
    call = {"type": "tool_use", "id": f"c{number}", "name": "f", "input": {"n": number}}
    result = {
        "type": "tool_result",
        "tool_use_id": f"c{number}",
        "content": f"ORD{number:04} " + "word " * 90,
    }
    return [
        {"role": "user", "content": f"Look at order {number}. " + "Please. " * 20},
        {"role": "assistant", "content": [call]},
        {"role": "user", "content": [result]},
    ]


def talk(steps: int) -> list[dict[str, Any]]:
    return [message for number in range(steps) for message in step(number)]


@pytest.fixture
def session() -> Iterator[Session]:
    with Foveal(":memory:", embedder="none") as fov:
        yield fov.session("work", model="claude-sonnet-4-5", preset="foveal")


def built(session: Session, **options: Any) -> Window:
    return session.build(**{"budget": BUDGET, "system": "You look up orders."} | options)


def markers(window: Window) -> list[int]:
    """The messages that have one."""
    return [at for at, piece in enumerate(window.pieces) if wire.markers_in(piece)]


def test_a_window_that_will_be_continued_is_marked_where_the_next_one_looks(session: Session) -> None:
    session.extend(talk(6))
    window = built(session)
    assert window.system == [{"type": "text", "text": "You look up orders.", **MARKED}]
    assert markers(window) == [len(window.pieces) - 3, len(window.pieces) - 1]


def test_after_a_refocus_the_standing_request_the_newest_and_the_end_are_marked(session: Session) -> None:
    session.extend(talk(30))
    window = built(session)
    request, note, *_ = window.messages
    assert request["content"][0]["text"].startswith("Look at order 0.")
    assert str(note["content"]).startswith("[Log of messages 2–")
    newest = [at for at, piece in enumerate(window.pieces) if '"Look at order 29.' in piece]
    assert markers(window) == [0, *newest, len(window.pieces) - 1]


def test_the_next_request_repeats_all_of_the_one_before(session: Session) -> None:
    session.extend(talk(6))
    before = sent(built(session))
    session.extend(step(6))
    after = sent(built(session))
    assert [message.digest for message in after[: len(before)]] == [message.digest for message in before]


@pytest.mark.parametrize("format", ["openai", "responses", "gemini", "plain"])
def test_providers_that_cache_by_themselves_get_no_markers(session: Session, format: Format) -> None:
    session.extend(talk(6))
    assert "cache_control" not in str(built(session, format=format).request)


def test_a_preset_that_does_not_hold_still_gets_no_markers(session: Session) -> None:
    session.extend(talk(6))
    assert built(session, preset="recent").messages == talk(6)


def test_fit_sets_no_markers() -> None:
    window = foveal.fit(talk(6), model="claude-sonnet-4-5", budget=BUDGET, preset="foveal")
    assert window.messages == talk(6)


def test_a_window_too_short_to_be_cached_is_left_as_it_is(session: Session) -> None:
    session.extend(talk(1))
    window = built(session)
    assert (window.messages, window.system) == (talk(1), "You look up orders.")


def test_markers_cost_no_tokens(session: Session) -> None:
    session.extend(talk(6))
    window = built(session)
    assert foveal.count_tokens(window.request, model="claude-sonnet-4-5", format="anthropic") == window.tokens


def test_a_client_s_marker_moves_to_the_nearest_message_before_it_that_is_in() -> None:
    history = [{"role": "user", "content": "Error: order 0 failed."}, *talk(12)]
    history[12]["content"][0] |= MARKED
    window = foveal.fit(history, model="claude-sonnet-4-5", budget=900, preset="reploid")
    assert str(history[12]["content"][0]["content"]) not in str(window.messages)
    assert window.messages[0]["content"] == [{"type": "text", "text": "Error: order 0 failed.", **MARKED}]
    assert markers(window) == [0]


def test_a_client_s_marker_with_nothing_before_it_is_left_out_with_its_message() -> None:
    history = talk(12)[1:]
    history[1]["content"][0] |= MARKED
    window = foveal.fit(history, model="claude-sonnet-4-5", budget=900, preset="recent")
    assert all(message in history[2:] for message in window.messages)


def test_windows_of_marked_messages_have_no_more_markers_than_are_allowed(session: Session) -> None:
    history = talk(8)
    for message in history[2::3]:
        message["content"][0] |= MARKED
    session.extend(history)
    window = built(session)
    assert len(markers(window)) == 4
    assert wire.check(window.request, "anthropic") == []
