"""What pruning and summarizing a session promise: less in its windows, nothing lost, all of it back."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from foveal import Foveal, Session
from foveal.errors import BudgetError, InputError
from foveal.events import Event, Reported


@pytest.fixture
def fov(tmp_path: Path) -> Iterator[Foveal]:
    with Foveal(tmp_path / "foveal.db") as fov:
        yield fov


@pytest.fixture
def session(fov: Foveal) -> Session:
    session = fov.session("work", model="gpt-5")
    session.add("system", "Be brief.")
    session.extend([{"role": "user", "content": f"message {n} about parsers"} for n in range(30)])
    return session


def contents(session: Session) -> list[str]:
    return [message["content"] for message in session.build(budget=10_000).messages]


def test_pruning_leaves_the_best_that_fit_and_archives_the_rest(session: Session) -> None:
    removal = session.prune(max_tokens=100)
    assert removal.final <= 100 < removal.original
    assert len(contents(session)) == 31 - len(removal.ids)
    assert [entry.id for entry in session.archive()] == list(removal.ids)


def test_too_few_tokens_are_refused_by_the_name_of_the_argument(session: Session) -> None:
    with pytest.raises(BudgetError, match="raise `max_tokens` to that size"):
        session.prune(max_tokens=1)


def test_pruned_messages_can_be_restored(session: Session) -> None:
    before = contents(session)
    session.prune(max_tokens=100)
    session.restore()
    assert contents(session) == before


def test_pruning_what_fits_changes_nothing(session: Session) -> None:
    assert session.prune().ids == ()


def test_pruning_is_reported_with_its_numbers(fov: Foveal, session: Session) -> None:
    events: list[Event] = []
    fov.subscribe(events.append)
    removal = session.prune(max_tokens=100)
    (event,) = [each for each in events if isinstance(each, Reported)]
    assert (event.name, event.payload["removed"]) == ("context:pruned", len(removal.ids))
    assert event.payload["token_reduction"] == removal.original - removal.final


def test_a_summary_is_reported_with_its_numbers_and_its_text(fov: Foveal, session: Session) -> None:
    events: list[Event] = []
    fov.subscribe(events.append)
    removal = session.summarize(keep=5)
    (event,) = [each for each in events if isinstance(each, Reported)]
    assert (event.name, dict(event.payload)) == (
        "context:summarized",
        {"summarized": len(removal.ids), "kept": 31 - len(removal.ids), "summary": removal.summary},
    )


def test_a_summary_is_shown_in_place_of_what_it_replaces(session: Session) -> None:
    session.summarize(keep=5)
    found = contents(session)
    assert found[0] == "Be brief."
    assert "Previous 25 messages: 25 user messages" in found[1]
    assert found[2:] == [f"message {n} about parsers" for n in range(25, 30)]


def test_a_second_summary_includes_the_first(session: Session) -> None:
    session.summarize(keep=5)
    session.summarize(keep=2)
    found = contents(session)
    assert "Previous 28 messages" in found[1]
    assert len(found) == 4


def test_a_summary_carries_the_decisions_word_for_word(session: Session) -> None:
    session.add("user", "We decided on TLS 1.3. Never use MD5.")
    session.extend([{"role": "user", "content": f"more {n}"} for n in range(5)])
    for keep in (5, 3):  # a note, and a note that takes it in
        *_, note, end = session.summarize(keep=keep).summary.partition("On record:\n")[2].splitlines()
        assert (note, end) == ("- constraint by the user: Never use MD5.", "[End of summary]")
    assert "- decision by the user: We decided on TLS 1.3." in contents(session)[1]


def test_every_summary_reports_the_tokens_of_windows_before_and_after(session: Session) -> None:
    before = session.build(budget=10_000).tokens
    for keep in (20, 10, 2):
        removal = session.summarize(keep)
        after = session.build(budget=10_000).tokens
        assert (removal.original + 3, removal.final + 3) == (before, after)
        before = after


def test_what_was_summarized_can_be_recalled_and_restored(session: Session) -> None:
    removal = session.summarize(keep=5)
    assert session.recall(removal.ids[0])["content"] == "message 0 about parsers"
    session.restore()
    assert len(contents(session)) == 31


def test_a_client_that_sends_its_whole_history_again_is_recognised(fov: Foveal) -> None:
    session = fov.session("client")
    history = [{"role": "user", "content": f"message {n}"} for n in range(20)]
    session.sync(history)
    session.summarize(keep=3)
    assert session.sync([*history, {"role": "user", "content": "new"}]) == ("m21",)
    assert len(contents(session)) == 5


def test_a_negative_number_to_keep_is_refused(session: Session) -> None:
    with pytest.raises(InputError, match="`keep` is -1"):
        session.summarize(keep=-1)
    with pytest.raises(InputError, match="`max_tokens` is 0"):
        session.prune(0)


def test_the_latest_message_is_never_summarized(session: Session) -> None:
    session.summarize(keep=0)
    assert contents(session)[-1] == "message 29 about parsers"


def test_a_summary_counts_its_own_note(session: Session) -> None:
    removal = session.summarize(keep=5)
    assert session.build(budget=10_000).tokens == removal.final + 3  # and what frames a request


def test_builds_of_omar_report_what_its_design_documents(fov: Foveal, session: Session) -> None:
    events: list[Event] = []
    fov.subscribe(events.append)
    window = session.build(budget=100, preset="omar", now=1_800_000_000.0)
    names = [event.name for event in events if isinstance(event, Reported)]
    assert names[0] == "context.optimization.started"
    assert names[-1] == "context.optimization.success"
    assert {"context.budget.resolved", "context.chunks_dropped", "context.conflict_detected"} <= set(names)
    assert session.manifest().metrics == window.manifest.metrics
    assert window.manifest.metrics["chunks_dropped"] > 0


def test_a_build_of_omar_that_fails_is_reported_too(fov: Foveal, session: Session) -> None:
    events: list[Event] = []
    fov.subscribe(events.append)
    with pytest.raises(BudgetError):
        session.build(budget=5, preset="omar")
    assert [event.name for event in events] == ["context.optimization.failed"]


def test_an_optimization_is_filed_with_its_ids_and_its_duration(session: Session) -> None:
    session.build(budget=100, preset="omar", now=1_800_000_000.0)
    stored = session.manifest()
    assert {"branch", "budget", "optimization_id", "session", "trace_id"} == set(stored.record)
    assert stored.metrics["duration_ms"] > 0


def test_a_cap_of_omar_holds_even_where_everything_fits(fov: Foveal) -> None:
    with Foveal(":memory:", numbers={"omar": {"group_caps": {"history": 60}}}) as capped:
        session = capped.session("work", model="gpt-5")
        session.extend([{"role": "user", "content": f"message {n} about parsers"} for n in range(30)])
        (_, history) = session.build(budget=10_000, preset="omar").manifest.slots
    assert history.used <= history.allotted == 60


@pytest.mark.parametrize("half", ["m2", "m3"])
def test_a_call_is_restored_with_its_result(fov: Foveal, half: str) -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"at": "a.py"}'}}
    session = fov.session("calls")
    session.extend(
        [
            {"role": "user", "content": "Look at it."},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c1", "content": "It is fine. " * 40},
            *({"role": "user", "content": f"And {n}? " + "word " * 40} for n in range(9)),
        ]
    )
    session.prune(max_tokens=120)
    assert session.restore(half) == ("m2", "m3")
    assert "It is fine." in str(session.build(budget=10_000).messages)
