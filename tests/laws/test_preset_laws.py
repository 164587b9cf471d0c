"""The laws hold under every preset: never over, never invalid, every message accounted for, stored or not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import foveal
from foveal import presets, wire
from foveal.errors import BudgetError, InputError
from foveal.model import Format
from foveal.window import FIXED, Window
from strategies import FORMATS, histories

pytestmark = pytest.mark.soak
EVERY = settings(max_examples=settings.default.max_examples // 5)  # all formats together as many as a law
SHORT = {"recent": {"short_forms": True, "full_share": 0.25, "short_least": 8}}
"""Without short forms `recent` is under the laws of every window."""
SCORED = sorted(name for name, preset in presets.PRESETS.items() if preset.looks_at_all)
LAWFUL = [*SCORED, "foveal", "recent"]
FORGETFUL = [name for name in LAWFUL if not presets.PRESETS[name].retrieves]
"""Their windows are made of messages and a moment alone; others also of what the session remembers."""
TIMELESS = ["openscroll", "penguin", "recent", "reploid"]
"""Presets to which it is all the same when a message was stored."""
WHOLE = {"everything fits", "among the newest turns that fit"}
BUDGETS = st.integers(1, 400)
FEWER = settings(max_examples=settings.default.max_examples // 25)


@pytest.fixture(scope="module", autouse=True)
def _nothing_known() -> Iterator[None]:
    """What is learnt in the background has laws of its own; here windows are made of messages alone."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(presets.PRESETS, "openscroll", replace(presets.PRESETS["openscroll"], knows=False))
        yield


def parted(window: Window) -> int:
    return sum(window.manifest.parts.values())


def fitted(history: Any, budget: int, format: Format, preset: str) -> Window | None:
    """The window, or None where there is nothing to answer or no room for what must stay."""
    try:
        return foveal.fit(
            history, budget=budget, format=format, preset=preset, numbers=SHORT, task="read_file", now=0.0
        )
    except BudgetError:
        return None
    except InputError as error:
        assert "no message to answer" in error.what  # noqa: PT017 — most histories have one
        return None


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("preset", FORGETFUL)
@EVERY
@given(data=st.data())
def test_every_preset_keeps_the_laws(preset: str, format: Format, data: st.DataObject) -> None:
    history, budget = data.draw(histories(format, broken=True)), data.draw(BUDGETS)
    window = fitted(history, budget, format, preset)
    if window is None:
        return
    assert window.tokens == parted(window) == foveal.count_tokens(window.messages, format=format) <= budget
    assert set(wire.check(window.request, format)) <= {"ends_with_assistant"}
    covered = [seq for d in window.manifest.decisions for seq in range(d.first, d.last + 1)]
    assert covered == list(range(len(history)))
    assert all(decision.because for decision in window.manifest.decisions)
    kept = sum(decision.tokens for decision in window.manifest.kept)
    beside = ("framing", "tools", "notes", "log", "retrieved")
    assert kept == window.tokens - sum(window.manifest.parts.get(part, 0) for part in beside)


def unmarked(window: Window) -> dict[str, Any]:
    """Cache markers aside: a session does not read what it leaves out, so it cannot move theirs."""
    return wire.without_markers({"messages": window.messages})


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("preset", TIMELESS)
@FEWER
@given(data=st.data())
def test_a_session_gives_the_window_that_fit_gives_under_presets_without_a_clock(
    preset: str, format: Format, data: st.DataObject
) -> None:
    history, budget = data.draw(histories(format, broken=True)), data.draw(BUDGETS)
    with foveal.Foveal(":memory:", numbers=SHORT, embedder="none") as fov:
        session = fov.session()  # a session of the preset might manage its history
        for at, message in enumerate(history):
            session.extend([message], format=format)
            expected = fitted(history[: at + 1], budget, format, preset)
            try:
                built = session.build(budget=budget, format=format, preset=preset, task="read_file", now=0.0)
            except (BudgetError, InputError):
                built = None
            assert (built and unmarked(built)) == (expected and unmarked(expected))
            assert (built and built.tokens) == (expected and expected.tokens)


@pytest.mark.parametrize("preset", TIMELESS)
def test_a_turn_that_grew_between_two_builds_is_seen_whole(preset: str) -> None:
    calls = [{"id": id, "type": "function", "function": {"name": "ls", "arguments": "{}"}} for id in "ab"]
    begun: list[Any] = [
        {"role": "user", "content": "Look. " * 60},
        {"role": "assistant", "tool_calls": calls},
    ]
    rest = [{"role": "tool", "tool_call_id": id, "content": "a.py " * 60} for id in "ab"]
    rest.append({"role": "user", "content": "And?"})
    with foveal.Foveal(":memory:", numbers=SHORT, embedder="none") as fov:
        session = fov.session()  # a session of the preset might manage its history
        session.extend(begun)
        session.build(budget=160, preset=preset, now=0.0)
        session.extend(rest)
        built = session.build(budget=280, preset=preset, now=0.0).messages
    assert built == foveal.fit([*begun, *rest], budget=280, preset=preset, numbers=SHORT, now=0.0).messages


@pytest.mark.parametrize("preset", LAWFUL)
@given(data=st.data())
@FEWER
def test_what_fits_is_left_as_it_is_under_every_preset(preset: str, data: st.DataObject) -> None:
    history = data.draw(histories("openai"))
    window = foveal.fit(history, budget=100_000, preset=preset, numbers=SHORT)
    assert window.messages == history
    assert {d.because for d in window.manifest.kept if d.code not in FIXED} <= WHOLE


@pytest.mark.parametrize("preset", LAWFUL)
def test_all_stays_in_full_up_to_the_last_token_under_every_preset(preset: str) -> None:
    history = [{"role": "user", "content": f"module_{n}.py is slow " + "and slow " * 40} for n in range(20)]
    room = foveal.count_tokens(history)
    assert foveal.fit(history, budget=room, preset=preset, numbers=SHORT, now=0.0).messages == history


@pytest.mark.parametrize("preset", LAWFUL)
def test_the_same_question_gets_the_same_window(preset: str) -> None:
    history = [{"role": "user", "content": f"look at module_{n}.py " * 5} for n in range(40)]
    asked = {"budget": 500, "preset": preset, "numbers": SHORT, "task": "module_7.py", "now": 9.0}
    assert foveal.fit(history, **asked) == foveal.fit(history, **asked)  # type: ignore[arg-type]


def test_without_a_task_the_latest_user_message_is_the_task() -> None:
    history = [{"role": "user", "content": f"module_{n}.py is slow, look into it"} for n in range(40)]
    history.append({"role": "user", "content": "what was it with module_7.py again?"})
    window = foveal.fit(history, budget=150, preset="fifth", now=0.0)
    assert "module_7.py is slow, look into it" in [message["content"] for message in window.messages]
