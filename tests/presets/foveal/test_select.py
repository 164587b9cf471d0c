"""What the default preset promises: newest turns in full, excerpts of earlier ones, a stable prefix."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

import foveal
from foveal import Foveal, Session
from foveal.window import Window

CALL = {"id": "c1", "type": "function", "function": {"name": "look_up", "arguments": "{}"}}


def turn(number: int) -> list[dict[str, Any]]:
    """A question, a look-up, and a long answer with one id in it."""
    call = {**CALL, "id": f"c{number}"}
    return [
        {"role": "user", "content": f"What about order number {number}?"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {
            "role": "tool",
            "tool_call_id": f"c{number}",
            "content": f"The order has the id ORD{number:04} and was paid.\n"
            + "Nothing else is known here. " * 20,
        },
        {"role": "assistant", "content": "It is paid."},
    ]


def talk(turns: int) -> list[dict[str, Any]]:
    return [message for number in range(turns) for message in turn(number)] + [
        {"role": "user", "content": "And in all?"}
    ]


def text(window: Window) -> str:
    return "\n".join(str(message["content"]) for message in window.messages)


def steps(session: Session, turns: int, budget: int) -> list[Window]:
    """One window for each new turn."""
    found = []
    for number in range(turns):
        session.extend(turn(number)[:3])
        found.append(session.build(budget=budget, preset="foveal"))
        session.extend(turn(number)[3:])
    return found


def test_if_everything_fits_everything_is_sent_unchanged() -> None:
    assert foveal.fit(talk(3), budget=4_000, preset="foveal").messages == talk(3)


def test_what_does_not_fit_is_excerpted_with_its_ids() -> None:
    window = foveal.fit(talk(20), budget=1_500, preset="foveal")
    assert all(f"ORD{number:04}" in text(window) for number in range(20))
    assert window.tokens <= 1_500


def test_the_requests_of_the_user_stay_in_the_note() -> None:
    window = foveal.fit(talk(20), budget=1_500, preset="foveal")
    assert all(f"order number {number}?" in text(window) for number in range(20))


def test_the_first_request_is_excerpted_however_long_ago_it_was() -> None:
    task = {"role": "user", "content": "Move billing to Postgres 16 and never drop invoices_2019."}
    window = foveal.fit([task, *talk(120)], budget=1_000, preset="foveal")
    assert task["content"] in text(window)


def test_the_note_is_a_record_not_a_message_of_a_speaker() -> None:
    note = foveal.fit(talk(20), budget=1_500, preset="foveal").messages[0]
    assert note["role"] == "user"
    assert note["content"].startswith(
        "[Summary of earlier messages, made by a program. A record, not a request.]"
    )


def test_the_reason_of_a_note_counts_the_messages_it_has_snippets_of() -> None:
    manifest = foveal.fit(talk(60), budget=2_000).manifest
    note, *others = sorted((d for d in manifest.kept if d.detail == "folded"), key=lambda d: -d.tokens)
    messages = sum(each.last - each.first + 1 for each in (note, *others))
    assert {each.because for each in others} == {f"its turn is told in the note at message {note.first + 1}"}
    some = re.fullmatch(rf"the note: snippets of (\d+) of {messages} messages", note.because)
    assert some
    assert 0 < int(some[1]) < messages


def test_between_refocuses_a_window_begins_with_the_one_before() -> None:
    with Foveal(":memory:") as fov:
        windows = steps(fov.session("s"), 40, 3_000)
    moved = [
        after for before, after in pairwise(windows) if after.pieces[: len(before.pieces)] != before.pieces
    ]
    assert moved
    assert len(moved) < 10
    assert all("layout" in window.manifest.record for window in moved)


def test_a_refocus_reduces_the_window_to_the_low_water_mark() -> None:
    with Foveal(":memory:") as fov:
        windows = steps(fov.session("s"), 40, 3_000)
    first = next(window for window in windows[20:] if "layout" in window.manifest.record)
    assert first.tokens < 0.6 * 3_000


def test_a_change_of_what_was_said_is_seen_in_the_next_window() -> None:
    with Foveal(":memory:") as fov:
        session = fov.session("s")
        steps(session, 20, 3_000)
        session.pin("m3")
        window = session.build(budget=3_000, preset="foveal")
    assert "Nothing else is known here. Nothing else is known here." in text(window)
    assert window.manifest.parts["pinned"] > 100


def test_the_layout_outlives_the_process(tmp_path: Any) -> None:
    with Foveal(tmp_path / "f.db") as fov:
        before = steps(fov.session("s"), 20, 3_000)[-1]
    with Foveal(tmp_path / "f.db") as fov:
        after = fov.session("s").build(budget=3_000, preset="foveal")
    assert after.pieces[: len(before.pieces)] == before.pieces


def test_a_layout_keeps_no_words() -> None:
    with Foveal(":memory:") as fov:
        windows = steps(fov.session("s"), 20, 3_000)
    layouts = [window.manifest.record["layout"] for window in windows if "layout" in window.manifest.record]
    assert not any("ORD" in layout for layout in layouts)
