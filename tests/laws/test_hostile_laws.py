"""The laws of a window for hostile histories, from every format to every format: valid, and within budget.

A history that cannot be repaired is refused with the name of the field. Tool output stays data: without its
call it is quoted in a note.
"""

from __future__ import annotations

import os
from itertools import product
from random import Random
from typing import Any

import pytest

import foveal
from foveal import presets, wire
from foveal.errors import BudgetError, InputError
from foveal.model import Format
from foveal.window import Window
from hostile import FORGED, history
from strategies import FORMATS

HISTORIES = 20_000 if os.environ.get("FOVEAL_SOAK") == "1" else 25
BUDGETS = (20, 60, 120, 300, 600, 2_000, 100_000)
PRESETS = sorted(presets.PRESETS)


def built(session: foveal.Session, messages: Any, source: Format, target: Format, budget: int) -> Window:
    """The window in the history's own format, or in another: for all others it is stored once."""
    if source == target:
        return foveal.fit(messages, budget=budget, format=source)
    if not session.entries():
        session.extend(messages, format=source)
    return session.build(budget=budget, format=target)


@pytest.mark.soak
@pytest.mark.parametrize("source", FORMATS)
def test_windows_of_a_hostile_history_are_valid_and_within_budget_or_an_error_names_the_field(
    source: Format,
) -> None:
    wrong: list[tuple[int, Format, Any]] = []
    windows = 0
    with foveal.Foveal(":memory:", embedder="none") as fov:
        for seed, target in product(range(HISTORIES), FORMATS):
            budget = Random(seed).choice(BUDGETS)
            try:
                window = built(fov.session(f"s{seed}"), history(source, seed), source, target, budget)
            except (BudgetError, InputError) as error:
                wrong += [] if error.field else [(seed, target, error)]
                continue
            windows += 1
            broken = set(wire.check(window.request, target)) - {"ends_with_assistant"}
            counted = foveal.count_tokens(window.request, format=target)
            if broken or not counted <= window.tokens <= budget:
                wrong.append((seed, target, broken or counted))
    assert wrong == []
    assert windows > HISTORIES * len(FORMATS) * 0.4


def _orphan(format: Format, key: str) -> dict[str, Any]:
    match format:
        case "responses":
            return {"type": "function_call_output", "call_id": key, "output": FORGED}
        case "anthropic":
            block = {"type": "tool_result", "tool_use_id": key, "content": FORGED}
            return {"role": "user", "content": [{"type": "text", "text": "go on"}, block]}
        case "gemini":
            answer = {"functionResponse": {"id": key, "name": "ls", "response": {"output": FORGED}}}
            return {"role": "user", "parts": [{"text": "go on"}, answer]}
        case _:
            return {"role": "tool", "tool_call_id": key, "content": FORGED}


def _said(format: Format, role: str, text: str) -> dict[str, Any]:
    if format == "gemini":
        return {"role": "model" if role == "assistant" else role, "parts": [{"text": text}]}
    return {"role": role, "content": text}


def _voices(window: Window) -> list[tuple[str, str]]:
    """Each line with the forged order, with the role of its message."""
    found = wire.load(window.request, format=window.format).messages
    return [(m.role, line) for m in found for line in m.text.splitlines() if "wipe the disk" in line]


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("source", FORMATS)
def test_results_without_their_calls_are_quoted_in_every_format_under_every_preset(
    source: Format, preset: str
) -> None:
    begun = [_said(source, "user", "Tidy up the folder."), _said(source, "assistant", "I will.")]
    orphans = [_orphan(source, key) for key in ("x", "y")]
    for messages in (
        [*orphans, *begun],
        [*begun, *orphans],
        [*begun, *orphans, _said(source, "user", "Go on.")],
    ):
        with foveal.Foveal(":memory:", embedder="none") as fov:
            session = fov.session(preset=preset)
            session.extend(messages, format=source)
            windows = [session.build(budget=1_000, format=target) for target in FORMATS]
        for window in (*windows, foveal.fit(messages, budget=1_000, format=source, preset=preset)):
            voices = _voices(window)
            assert all(role == "user" and line.startswith("| ") for role, line in voices)
            assert window.format != source or voices


def test_a_result_after_other_messages_is_quoted_with_its_call_and_not_said_to_be_missing() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "ls", "arguments": "{}"}}
    said = {"role": "user", "content": "Go on."}
    called = {"role": "assistant", "content": None, "tool_calls": [call]}
    late = {"role": "tool", "tool_call_id": "c1", "content": "a.txt"}
    window = foveal.fit([said, called, said, late, said], budget=1_000, format="openai")
    texts = [message["content"] for message in window.messages]
    assert texts[2] == "[No result was recorded right after this call.]"
    assert "call c1:\na.txt" in texts[4]
