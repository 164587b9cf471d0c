"""What a new task leaves out: volatile messages from before it, in whole turns, until they are restored."""

from __future__ import annotations

from typing import Any

import pytest

from foveal import Foveal, Session
from foveal.events import Event, Reported

LISTING = "src/auth.js and many more files " * 120


def contents(session: Session, preset: str = "fifth") -> list[str]:
    return [message["content"] for message in session.build(preset=preset, budget=4_000).messages]


def looked_up(session: Session, *results: str) -> None:
    """The model calls tools, and each returns one result."""
    calls = [
        {"id": f"c{number}", "type": "function", "function": {"name": "ls", "arguments": "{}"}}
        for number in range(len(results))
    ]
    answers = [
        {"role": "tool", "tool_call_id": f"c{number}", "content": result}
        for number, result in enumerate(results)
    ]
    session.extend([{"role": "assistant", "content": None, "tool_calls": calls}, *answers])
    session.add("assistant", "I looked.")


@pytest.mark.parametrize("preset", ["fifth", "recent", "openscroll"])
def test_verbose_output_from_before_the_task_is_left_out_with_its_call(session: Session, preset: str) -> None:
    session.add("user", "What is there?")
    looked_up(session, LISTING)
    session.start_task("fix the login")
    assert contents(session, preset) == ["What is there?", "I looked."]
    assert [entry.id for entry in session.archive()] == ["m2", "m3"]


def test_what_was_cleared_can_be_restored(session: Session) -> None:
    looked_up(session, LISTING)
    session.start_task("fix the login")
    assert session.restore("m2") == ("m1", "m2")
    assert session.restore() == ()


@pytest.mark.parametrize("marked", [{"level": "volatile"}, {"kind": "rag_generic_chunk"}])
def test_messages_marked_volatile_and_search_results_are_left_out(
    session: Session, marked: dict[str, Any]
) -> None:
    session.add("user", "an idle thought", **marked)
    session.add("assistant", "I see.")
    session.start_task("fix the login")
    assert [entry.id for entry in session.archive()] == ["m1"]


def test_short_output_and_everything_else_stays(session: Session) -> None:
    looked_up(session, "auth.js")
    session.start_task("fix the login")
    assert session.archive() == ()


def test_a_turn_with_something_that_lasts_stays_whole(session: Session) -> None:
    looked_up(session, LISTING, "auth.js")
    session.start_task("fix the login")
    assert session.archive() == ()


def test_pins_and_the_turn_to_be_answered_are_not_cleared(session: Session) -> None:
    session.add("user", "remember this", level="volatile", pinned=True)
    session.add("user", "and now?", level="volatile")
    session.start_task("fix the login")
    assert contents(session) == ["remember this", "and now?"]


def test_what_comes_with_the_task_is_not_cleared(session: Session) -> None:
    session.start_task("fix the login")
    session.add("user", "an idle thought", level="volatile")
    session.add("assistant", "I see.")
    session.complete_task()
    assert contents(session) == ["an idle thought", "I see."]


def test_the_summary_of_a_task_is_made_before_its_output_is_cleared(session: Session) -> None:
    session.start_task("look around")
    looked_up(session, f"Error: ECONNREFUSED on port 5432\n{LISTING}")
    session.start_task("fix the login")
    note, *rest = contents(session)
    assert "ECONNREFUSED" in note
    assert (rest, len(session.restore("m2"))) == ([], 3)


def test_clearing_is_reported_with_its_numbers(fov: Foveal, session: Session) -> None:
    events: list[Event] = []
    fov.subscribe(events.append)
    looked_up(session, LISTING)
    session.start_task("fix the login")
    (event,) = [event for event in events if isinstance(event, Reported)]
    tokens = sum(entry.tokens for entry in session.archive())
    payload = {"task": 1, "removed": 2, "token_reduction": tokens}
    assert (event.name, event.payload) == ("context:cleared", payload)
