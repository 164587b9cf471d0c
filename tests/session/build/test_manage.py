"""What a preset may do to the history before a build: what its design says, once a window is too full."""

from __future__ import annotations

import pytest

from foveal import Foveal, Session
from foveal.errors import BudgetError
from foveal.events import Event, Reported
from foveal.presets import PRESETS

TOPIC = "the login flow of src/auth.js drops the session cookie when the token expires"
BUDGET = 2_000


@pytest.fixture
def full(fov: Foveal) -> Session:
    """60 messages of 40 tokens."""
    session = fov.session("full", model="gpt-5", preset="fifth")
    session.add("system", "Be brief.")
    for number in range(30):
        session.add("user", f"Round {number}: {TOPIC}, and I would like to know why that happens there.")
        session.add("assistant", f"Round {number}: I read {TOPIC}; its key for JWT is in vault-{number}.")
    session.add("user", "What is next?")
    return session


def absent(session: Session) -> list[str]:
    return [entry.id for entry in session.entries() if entry.absence]


def test_a_window_that_is_over_four_fifths_full_compresses_the_oldest_working_memory(full: Session) -> None:
    window = full.build(budget=BUDGET)
    compressed = absent(full)
    assert compressed == [f"m{number}" for number in range(3, 3 + len(compressed))]
    assert (window.tokens <= 0.8 * BUDGET, full.stats().stand_ins > 0) == (True, True)


def test_a_window_with_room_compresses_nothing(full: Session) -> None:
    full.build(budget=20_000)
    assert absent(full) == []


def test_the_next_builds_need_not_compress_again(full: Session) -> None:
    full.build(budget=BUDGET)
    compressed = full.stats().summaries
    for number in range(3):
        full.add("assistant", f"Step {number}")
        full.build(budget=BUDGET)
    assert full.stats().summaries == compressed


def test_it_is_recorded_reported_and_undone_like_any_compression(fov: Foveal, full: Session) -> None:
    events: list[Event] = []
    fov.subscribe(events.append)
    full.build(budget=BUDGET)
    names = [event.name for event in events if isinstance(event, Reported)]
    assert names == ["context:compressed"]
    made, compressed = full.stats().last_compression, absent(full)
    assert made is not None
    assert made.compressed < made.original
    assert list(full.restore()) == compressed


def test_nothing_is_compressed_when_there_is_no_window(full: Session) -> None:
    with pytest.raises(BudgetError):
        full.build(budget=10)
    assert absent(full) == []


@pytest.mark.parametrize("preset", sorted(set(PRESETS) - {"fifth", "reploid"}))
def test_builds_of_other_presets_change_no_history(full: Session, preset: str) -> None:
    full.build(budget=BUDGET, preset=preset)
    assert absent(full) == []


def test_what_only_looks_at_a_session_changes_no_history(fov: Foveal, full: Session) -> None:
    full.build(budget=20_000)
    full.compare(budget=BUDGET)
    fov.replay(full, preset="fifth", budget=BUDGET)
    full.why("m5")
    full.focus("Which key is for JWT?", budget=BUDGET)
    full.compress(BUDGET, dry_run=True)
    assert absent(full) == []


def test_the_first_request_stays_word_for_word_however_much_is_compressed(fov: Foveal) -> None:
    session = fov.session("task", model="gpt-5", preset="fifth")
    request = "Make the login survive a restart, and do not touch the database."
    session.add("user", request)
    for number in range(60):
        session.add("assistant", f"Round {number}: I read {TOPIC}; its key for JWT is in vault-{number}.")
        session.add("user", f"Yes, go on with {number}.")
        window = session.build(budget=BUDGET)
        assert request in [message["content"] for message in window.messages]
    assert session.stats().stand_ins > 0


def test_stats_say_that_the_next_build_compresses_exactly_if_it_does(fov: Foveal) -> None:
    session = fov.session("task", model="gpt-5", preset="fifth")
    session.add("user", "Find out why users are logged out.")
    session.build(budget=BUDGET)
    seen = set()
    for number in range(60):
        session.add("assistant", f"Round {number}: I read {TOPIC}; its key for JWT is in vault-{number}.")
        session.add("user", f"And round {number}? What does {TOPIC} do there, and why does it do so?")
        promised, before = session.stats().needs_pruning, session.stats().stand_ins
        session.build(budget=BUDGET)
        assert (session.stats().stand_ins > before) <= promised
        seen.add((promised, session.stats().stand_ins > before))
    assert {(True, True), (False, False)} <= seen
