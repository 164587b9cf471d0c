"""The laws hold under every preset: never over, never invalid, every message accounted for."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import foveal
from foveal import presets, wire
from foveal.errors import BudgetError, InputError
from foveal.model import Format
from foveal.window import Window
from strategies import FORMATS, histories

pytestmark = pytest.mark.soak
EVERY = settings(max_examples=settings.default.max_examples * 2 // 5)  # 1 000 for each preset
SCORED = sorted(name for name, preset in presets.PRESETS.items() if preset.looks_at_all)


def parted(window: Window) -> int:
    return sum(window.manifest.parts.values())


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("preset", SCORED)
@EVERY
@given(data=st.data())
def test_every_preset_keeps_the_laws(preset: str, format: Format, data: st.DataObject) -> None:
    history, budget = data.draw(histories(format, broken=True)), data.draw(st.integers(1, 400))
    try:
        window = foveal.fit(history, budget=budget, format=format, preset=preset, task="read_file", now=0.0)
    except BudgetError:
        return
    except InputError as error:
        assert "no message to answer" in error.what  # noqa: PT017 — most histories have one
        return
    assert window.tokens == parted(window) == foveal.count_tokens(window.messages, format=format) <= budget
    assert set(wire.check(window.request, format)) <= {"ends_with_assistant"}
    covered = [seq for d in window.manifest.decisions for seq in range(d.first, d.last + 1)]
    assert covered == list(range(len(history)))
    assert all(decision.because for decision in window.manifest.decisions)
    kept = sum(decision.tokens for decision in window.manifest.kept)
    assert kept == window.tokens - sum(window.manifest.parts.get(p, 0) for p in ("framing", "tools", "notes"))


@pytest.mark.parametrize("preset", SCORED)
@given(data=st.data())
@settings(max_examples=settings.default.max_examples // 25)
def test_what_fits_is_left_as_it_is_under_every_preset(preset: str, data: st.DataObject) -> None:
    history = data.draw(histories("openai"))
    window = foveal.fit(history, budget=100_000, preset=preset)
    assert window.messages == history
    assert {d.because for d in window.manifest.kept} <= {"everything fits", "system prompt", "open turn"}


@pytest.mark.parametrize("preset", SCORED)
def test_the_same_question_gets_the_same_window(preset: str) -> None:
    history = [{"role": "user", "content": f"look at module_{n}.py " * 5} for n in range(40)]
    asked = {"budget": 500, "preset": preset, "task": "module_7.py", "now": 9.0}
    assert foveal.fit(history, **asked) == foveal.fit(history, **asked)  # type: ignore[arg-type]


def test_a_task_that_nobody_named_is_what_the_user_said_last() -> None:
    history = [{"role": "user", "content": f"module_{n}.py is slow, look into it"} for n in range(40)]
    history.append({"role": "user", "content": "what was it with module_7.py again?"})
    window = foveal.fit(history, budget=150, preset="fifth", now=0.0)
    assert "module_7.py is slow, look into it" in [message["content"] for message in window.messages]
