"""What the priority of a message does: `omar` and `fifth` select by it, everything else only keeps it."""

from __future__ import annotations

import math
from typing import Any

import pytest

import foveal
from foveal import Foveal, Session, operations
from foveal.errors import InputError

LINE = "alpha beta gamma delta epsilon zeta eta theta iota kappa"
ORDER = {"high": 90, "none": None, "low": 10}


def notes(*priorities: float | None) -> list[dict[str, Any]]:
    """Answers that differ in nothing but their priority, and a last question."""
    given = [{} if each is None else {"priority": each} for each in priorities]
    said = [{"role": "assistant", "content": LINE, "timestamp": 1_000.0, **each} for each in given]
    return [*said, {"role": "user", "content": "and now?", "timestamp": 1_000.0}]


def kept(priorities: list[float | None], preset: str) -> list[int]:
    """Which of the answers are in a window that has room for one of them."""
    window = foveal.fit(notes(*priorities), budget=45, preset=preset, now=1_000.0)
    return [each.first for each in window.manifest.kept if each.first < len(priorities)]


def test_omar_takes_the_priority_instead_of_that_of_the_kind() -> None:
    assert kept([None, None, None], "omar") == [0]
    assert kept([None, 141, None], "omar") == [1]
    assert kept([139, None, 3], "omar") == [1]


def test_omar_shows_the_priority_as_the_base_of_the_score() -> None:
    window = foveal.fit(notes(None, 175), budget=40, preset="omar", now=1_000.0)
    scores = [decision.score for decision in window.manifest.decisions]
    assert [score.parts["base"] for score in scores if score] == [140.0, 175.0, 190.0]


def test_fifth_breaks_ties_by_priority_and_says_so() -> None:
    assert kept([None, None, None], "fifth") == [2]
    assert kept([None, 51, None], "fifth") == [1]
    assert kept([None, None, 49], "fifth") == [1]
    first, second, _ = foveal.fit(notes(51, None), budget=45, preset="fifth").manifest.decisions
    assert ("priority 51" in first.because, "priority" in second.because) == (True, False)


def test_of_one_age_the_lowest_priority_is_compressed_first() -> None:
    entries = [{"content": LINE, "id": id, "priority": priority} for id, priority in ORDER.items()]
    plan = operations.run("levels_plan", {"entries": [*entries, {"content": "go on"}], "total": 40})
    assert [each["id"] for each in plan["compress"]] == ["low", "none", "high"]


@pytest.mark.parametrize("preset", ["recent", "reploid", "penguin", "openscroll", "foveal"])
def test_other_presets_select_as_without_it(preset: str) -> None:
    assert kept([1_000, None, 0], preset) == kept([None, None, None], preset)


def test_add_stores_it_and_entries_show_it(session: Session) -> None:
    session.add("user", "hello", priority=80)
    session.add("user", "again")
    assert [entry.priority for entry in session.entries()] == [80.0, None]


def test_messages_carry_it_into_a_session_and_out_of_it(session: Session) -> None:
    given = [{"role": "user", "content": "hello", "priority": 80}]
    session.sync(given)
    session.add("user", "again", priority=70.5)
    assert session.sync(given) == ()
    assert session.export() == [given[0], {"role": "user", "content": "again", "priority": 70.5}]
    assert [entry.priority for entry in session.entries()] == [80.0, 70.5]


def test_it_survives_a_fork_and_an_edited_history(tmp_path: Any) -> None:
    with Foveal(tmp_path / "store.db") as fov:
        fov.session("work").sync(notes(10, 20))
        fov.fork("work", "copy")
        assert [entry.priority for entry in fov.open("copy").entries()] == [10.0, 20.0, None]
        fov.session("work").sync([*notes(10)[:1], {"role": "user", "content": "else", "priority": 7}])
        assert [entry.priority for entry in fov.open("work").entries()] == [10.0, 7.0]


@pytest.mark.parametrize("format", ["openai", "responses", "anthropic", "gemini"])
def test_no_provider_gets_it(session: Session, format: Any) -> None:
    session.add("user", "hello", priority=80)
    assert "priority" not in "".join(session.build(budget=100, format=format).pieces)


def test_it_costs_no_tokens() -> None:
    plain = [{"role": "user", "content": "hello", "timestamp": 1_000.0}]
    assert foveal.count_tokens([plain[0] | {"priority": 80}]) == foveal.count_tokens(plain)


@pytest.mark.parametrize("wrong", [-1, 1_001, "high", True, math.nan, [80]])
def test_an_invalid_priority_is_refused_by_name_and_nothing_is_stored(session: Session, wrong: Any) -> None:
    with pytest.raises(InputError, match="`priority`") as failure:
        session.add("user", "hello", priority=wrong)
    assert failure.value.field == "priority"
    assert "from 0 to 1,000" in failure.value.remedy
    assert session.entries() == ()


@pytest.mark.parametrize("wrong", [-1, 1_001, "high", True, [80]])
def test_an_invalid_priority_of_a_message_is_refused_with_its_place(session: Session, wrong: Any) -> None:
    given = [{"role": "user", "content": "a"}, {"role": "user", "content": "b", "priority": wrong}]
    for take in (session.extend, session.sync, foveal.fit):
        with pytest.raises(InputError, match=r"messages\[1\]: `priority`") as failure:
            take(given)
        assert failure.value.field == "priority"


def test_null_means_none(session: Session) -> None:
    session.extend([{"role": "user", "content": "a", "priority": None}])
    assert session.entries()[0].priority is None


OWN = {"priority": 3, "private": True}
DATA = {"id": "x", "timestamp": 5.0, "metadata": {"a": 1}}


@pytest.mark.parametrize("model", ["", "gpt-5"])
def test_no_window_has_a_priority_or_privacy_and_exports_have_both(model: str) -> None:
    message = {"role": "user", "content": "a", **OWN, **DATA}
    window = foveal.fit([message], model=model)
    assert window.messages == [{"role": "user", "content": "a", **DATA}]
    assert window.tokens == foveal.fit(window.messages, model=model).tokens
    with Foveal(":memory:") as fov:
        session = fov.session("s", model=model)
        session.extend([message])
        session.add("user", "b", priority=5)
        assert session.build(budget=1_000).messages == [
            {"role": "user", "content": "a", **DATA},
            {"role": "user", "content": "b"},
        ]
        assert session.export() == [message, {"role": "user", "content": "b", "priority": 5}]


def test_a_shortened_message_has_no_priority_either() -> None:
    call = {"id": "c", "type": "function", "function": {"name": "ls", "arguments": "{}"}}
    history = [
        {"role": "user", "content": "list", "priority": 1},
        {"role": "assistant", "content": None, "tool_calls": [call], "priority": 2},
        {"role": "tool", "tool_call_id": "c", "content": "file\n" * 2_000, "priority": 3},
    ]
    window = foveal.fit(history, budget=400)
    assert len(window.messages) == 3
    assert "priority" not in str(window.messages)
