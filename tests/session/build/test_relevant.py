"""When a session is searched for what a window is about, and how."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from foveal import Foveal, Session
from foveal.session.build import relevant as searching

CALL = {"type": "function", "function": {"name": "look", "arguments": "{}"}}


@pytest.fixture
def searched(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, ...]]:
    """What every search found, in order."""
    found: list[tuple[int, ...]] = []
    search = searching.relevant

    def noted(*given: Any) -> tuple[int, ...]:
        found.append(search(*given))
        return found[-1]

    monkeypatch.setattr(searching, "relevant", noted)
    return found


def full(session: Session) -> Session:
    """A session of more than its window of 1 000 tokens holds."""
    for number in range(40):
        session.extend([{"role": "user", "content": f"Order {number} has the id ORD{number:04}. " * 5}])
        session.extend([{"role": "assistant", "content": "It is paid and on its way to the harbour."}])
    session.build(budget=1_000, preset="foveal")
    return session


def test_a_turn_of_tools_searches_nothing(searched: list[tuple[int, ...]]) -> None:
    with Foveal(":memory:") as fov:
        session = full(fov.session("s"))
        for id in "ab":
            del searched[:]
            session.extend([{"role": "assistant", "content": None, "tool_calls": [{**CALL, "id": id}]}])
            session.extend([{"role": "tool", "tool_call_id": id, "content": "ORD0003 left the harbour."}])
            session.build(budget=1_000, preset="foveal")
    assert not searched


def test_new_words_of_the_user_are_looked_up_once(searched: list[tuple[int, ...]]) -> None:
    with Foveal(":memory:") as fov:
        session = full(fov.session("s"))
        del searched[:]
        session.add("user", "Is order ORD0003 paid?")
        first, again = (session.build(budget=1_000, preset="foveal") for _ in range(2))
    assert [found[:1] for found in searched] == [(6,)]
    assert first.pieces == again.pieces


def test_where_everything_fits_nothing_is_searched(searched: list[tuple[int, ...]]) -> None:
    with Foveal(":memory:") as fov:
        full(fov.session("s")).build(budget=50_000, preset="foveal", task="Is ORD0003 paid?")
        del searched[:]
        fov.session("s").build(budget=50_000, preset="foveal", task="Is ORD0004 paid?")
    assert not searched


def test_for_a_task_every_turn_is_ranked(searched: list[tuple[int, ...]]) -> None:
    with Foveal(":memory:") as fov:
        full(fov.session("s")).build(budget=1_000, preset="foveal", task="Is order ORD0003 paid?")
    assert searched[-1][0] == 6
    assert len(searched[-1]) == 80


def test_no_model_is_asked_for_a_window(searched: list[tuple[int, ...]], tmp_path: Path) -> None:
    with Foveal(":memory:", embedder=str(tmp_path / "no model here")) as fov:
        full(fov.session("s")).build(budget=1_000, preset="foveal", task="Is order ORD0003 paid?")
    assert searched[-1][0] == 6


def chat(session: Session) -> Session:
    for number in range(60):
        session.extend([{"role": "user", "content": f"Day {number}: we rowed to island {number} and back."}])
        session.extend([{"role": "assistant", "content": "The sea was calm and the sun was out all day."}])
    return session


def test_for_a_question_in_a_chat_every_earlier_message_is_ranked(searched: list[tuple[int, ...]]) -> None:
    with Foveal(":memory:") as fov:
        session = chat(fov.session("s"))
        session.add("user", "On which day did we row to island 7?")
        session.build(budget=1_000, preset="foveal")
    assert searched[-1][0] == 14
    assert len(searched[-1]) == 120


def test_for_any_other_request_only_what_has_its_rare_words_is_found(searched: list[tuple[int, ...]]) -> None:
    with Foveal(":memory:") as fov:
        session = chat(fov.session("s"))
        session.add("assistant", "The lighthouse keeper is Wilhelmina.")
        session.add("user", "Write to the lighthouse keeper.")
        session.build(budget=1_000, preset="foveal")
        assert searched[-1] == (120,)
        session.add("user", "Thanks a lot, great!")
        session.build(budget=1_000, preset="foveal")
    assert searched[-1] == ()


def test_a_long_session_is_searched_by_the_indexes_of_the_store(
    searched: list[tuple[int, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("foveal.session.search.search.LARGE", 10)
    with Foveal(":memory:") as fov:
        session = chat(fov.session("s"))
        session.add("assistant", "The lighthouse keeper is Wilhelmina.")
        session.add("user", "Who is the lighthouse keeper?")
        session.build(budget=1_000, preset="foveal")
    assert searched[-1][0] == 120
