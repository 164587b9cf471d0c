"""A window that keeps its layout costs what is new, and has every decision."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from foveal import Foveal, Session
from foveal.pipeline.explain import merged
from foveal.presets.foveal.log import LogReader
from foveal.session.build import layout
from foveal.session.state import MessageLog
from foveal.window import Window

BUDGET = 3_000


def turn(number: int) -> list[dict[str, Any]]:
    """A call and a long answer with an id in it, after a question now and then."""
    call = {"id": f"c{number}", "type": "function", "function": {"name": "look_up", "arguments": "{}"}}
    answer = f"The order has the id ORD{number:04} and was paid.\n" + "Nothing else is known. " * 10
    question = [{"role": "user", "content": f"What about order number {number}?"}]
    return [
        *(question if number % 7 == 0 else []),
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": f"c{number}", "content": answer},
    ]


def steps(session: Session, turns: range) -> list[Window]:
    """One window for each new turn."""
    windows = []
    for number in turns:
        session.extend(turn(number))
        windows.append(session.build(budget=BUDGET, preset="foveal"))
    return windows


def unchanged_builds(windows: list[Window]) -> list[int]:
    """The numbers of the builds that kept their layout."""
    return [at for at, window in enumerate(windows, 1) if "layout" not in window.manifest.record]


def stored_decisions(session: Session, build: int) -> list[tuple[int, int, str, str]]:
    decisions = merged(session.manifest(build).decisions)
    return [(each.first, each.last, each.verdict, each.because) for each in decisions]


def decisions_of(window: Window) -> list[tuple[int, int, str, str]]:
    return [(each.first, each.last, each.verdict, each.because) for each in merged(window.manifest.decisions)]


def test_a_stored_build_has_the_decisions_of_its_window(session: Session) -> None:
    windows = steps(session, range(60))
    assert unchanged_builds(windows)
    assert all(stored_decisions(session, at) == decisions_of(window) for at, window in enumerate(windows, 1))


def test_the_time_of_every_build_is_measured_also_where_everything_fits(session: Session) -> None:
    made = [window.manifest.metrics for window in steps(session, range(60))]
    assert {metrics["refocused"] for metrics in made} == {0.0, 1.0}
    assert made[0]["refocused"] == 0.0
    assert all(metrics["duration_ms"] > 0 for metrics in made)


def test_every_message_has_one_decision_where_a_window_holds_still(session: Session) -> None:
    for window in steps(session, range(60)):
        decisions = window.manifest.decisions
        places = [seq for each in decisions for seq in range(each.first, each.last + 1)]
        assert places == list(range(len(places)))


PARTS = ("history", "open turn", "requests", "pinned", "system")


def test_a_window_that_holds_still_adds_up(session: Session) -> None:
    for window in steps(session, range(60)):
        manifest = window.manifest
        said = sum(manifest.parts.get(part, 0) for part in PARTS)
        assert sum(each.tokens for each in manifest.kept) == said


def test_the_record_of_a_build_that_holds_still_does_not_repeat_the_past(session: Session) -> None:
    windows = steps(session, range(120))
    sizes = [len(each.manifest) for each in session._state.store.builds(session._state.id, limit=200)][::-1]
    late = [sizes[at - 1] for at in unchanged_builds(windows) if at > 60]
    assert late
    assert max(late) < 1.3 * min(late)


def test_after_a_restart_the_decisions_are_the_same(tmp_path: Path) -> None:
    with Foveal(tmp_path / "f.db") as fov:
        before = steps(fov.session("s"), range(41))[-1]
    with Foveal(tmp_path / "f.db") as fov:
        again = fov.session("s").build(budget=BUDGET, preset="foveal")
        assert decisions_of(again) == decisions_of(before) == stored_decisions(fov.session("s"), 42)
    assert "layout" not in again.manifest.record


def test_a_layout_is_found_however_long_it_was_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layout, "LOOKED_AT", 1)
    with Foveal(tmp_path / "f.db") as fov:
        before = steps(fov.session("s"), range(41))
    with Foveal(tmp_path / "f.db") as fov:
        after = fov.session("s").build(budget=BUDGET, preset="foveal")
    assert 41 in unchanged_builds(before)
    assert after.pieces == before[-1].pieces


def test_a_layout_whose_log_was_read_otherwise_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Foveal(tmp_path / "f.db") as fov:
        steps(fov.session("s"), range(41))
    monkeypatch.setattr(LogReader, "entries", lambda *_: ())
    with Foveal(tmp_path / "f.db") as fov:
        after = fov.session("s").build(budget=BUDGET, preset="foveal")
    assert "layout" in after.manifest.record


def test_windows_of_other_presets_do_not_say_how_far_a_layout_was_sent(tmp_path: Path) -> None:
    asked = [{"role": "user", "content": "Was the order with the id ORD0003 paid?"}]
    with Foveal(tmp_path / "f.db") as fov:
        steps(fov.session("s"), range(41))
        fov.session("s").extend(asked)
        fov.session("s").build(budget=BUDGET, preset="recent")
    with Foveal(tmp_path / "f.db") as fov:
        after = fov.session("s").build(budget=BUDGET, preset="foveal")
    assert after.manifest.parts["retrieved"]


def test_a_bill_in_the_record_that_others_go_on_from_changes_nothing_they_tell(session: Session) -> None:
    windows = steps(session, range(60))
    maker = max(set(range(1, unchanged_builds(windows)[-1])) - set(unchanged_builds(windows)))
    session.billed(1_000, build=maker)
    last = unchanged_builds(windows)[-1]
    assert stored_decisions(session, last) == decisions_of(windows[last - 1])


def test_a_refocus_reads_no_further_back_than_it_reaches(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    session.extend([message for number in range(1, 300) for message in turn(7 * number + 1)])
    read: list[int] = []
    whole = MessageLog.read
    monkeypatch.setattr(MessageLog, "read", lambda self, *span: read.append(span[0]) or whole(self, *span))
    session.build(budget=1_000, preset="foveal")
    assert min(read) > 300


def test_a_process_holds_no_more_turns_than_the_next_refocus_reaches(session: Session) -> None:
    at_hand = []
    for number in range(300):
        session.extend(turn(number))
        if number % 10 == 0:
            session.build(budget=1_000, preset="foveal")
        if number in (100, 299):
            (history,) = session._state.log._histories.values()
            at_hand.append(len(history._chunks))
    assert at_hand[1] < 1.5 * at_hand[0]


def test_a_refocus_that_would_come_soon_comes_after_a_pause_that_the_cache_did_not_outlast() -> None:
    def refocused(seconds: float) -> list[tuple[float, int]]:
        """What the builds at every fill of the window say, each after such a pause."""
        with Foveal(":memory:") as fov:
            session, found = fov.session(model="claude-sonnet-4-5"), []
            for number in range(90):
                session.extend(turn(number))
                window = session.build(budget=BUDGET, now=number * seconds)
                found.append((window.manifest.metrics.get("refocused", 0.0), window.tokens))
            return found

    warm, cold = refocused(30), refocused(300)
    assert max(tokens for _, tokens in warm) > 0.9 * BUDGET > max(tokens for _, tokens in cold[30:])
    assert 0 < sum(again for again, _ in warm) < sum(again for again, _ in cold) < len(cold)


def test_two_processes_that_build_one_session_in_turns_hold_one_window_still(tmp_path: Path) -> None:
    with Foveal(tmp_path / "shared.db") as here, Foveal(tmp_path / "shared.db") as there:
        sessions, before, stood = [here.session("one"), there.session("one")], "", 0
        for number in range(60):
            session = sessions[number % 2]
            session.extend(turn(number))
            window = session.build(budget=BUDGET)
            if not window.manifest.metrics.get("refocused"):
                assert "".join(window.pieces).startswith(before)
                stood += 1
            before = "".join(window.pieces)
        assert 30 < stood < 60


@pytest.mark.parametrize("recalls", [False, True])
def test_to_ask_why_of_an_older_build_changes_no_window(tmp_path: Path, recalls: bool) -> None:
    def last(place: Path, *, asked: bool) -> tuple[str, ...]:
        """The window after a restart, for an agent that has the tool to recall or not."""
        with Foveal(place) as fov:
            session = fov.session("one")
            tools = session.tools(format="openai") if recalls else None
            for number in range(58):
                session.extend(turn(number))
                session.build(budget=BUDGET, preset="foveal", tools=tools)
        with Foveal(place) as fov:
            session = fov.session("one")
            if asked:
                session.why("m1", build=1)
            session.extend(turn(58))
            return session.build(budget=BUDGET, preset="foveal", tools=tools).pieces

    assert last(tmp_path / "asked.db", asked=True) == last(tmp_path / "not.db", asked=False)


def test_after_a_pin_hardly_more_than_what_was_pinned_is_read_again(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    session.extend([message for number in range(100) for message in turn(number)])
    session.build(budget=BUDGET, preset="foveal")
    read: list[int] = []
    whole = MessageLog.read
    monkeypatch.setattr(MessageLog, "read", lambda self, *span: read.append(span[0]) or whole(self, *span))
    session.pin("m150")
    window = session.build(budget=BUDGET, preset="foveal")
    assert 0 < len(read) < 30  # the passages of the request, too
    assert any(each.because == "pinned" for each in window.manifest.kept)
