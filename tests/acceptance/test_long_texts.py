"""A text that is ten times as long costs at most about ten times as much, whatever is in it."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from time import process_time
from typing import Any

import pytest

from foveal import Foveal, FovealError, Session, count_tokens, fit
from long_texts import SHAPES

Measure = Callable[[str, int, Path], dict[str, float]]
SHORT, LONG = 100_000, 1_000_000
MOST = 12
"""How much ten times the text may cost."""
CALM = 0.5
"""Seconds of processor time below which the growth does not count: a short text may fit without any work."""
SAMPLE = ("letters and full stops", "opening quotes")
BUDGET = 1_500


def _in_result(text: str) -> list[dict[str, Any]]:
    call = {"id": "1", "type": "function", "function": {"name": "run", "arguments": '{"cmd": "ls"}'}}
    return [
        {"role": "user", "content": "Fix the parser in src/a.py"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "1", "content": text},
        {"role": "user", "content": "What failed?"},
    ]


def _as(role: str, text: str) -> list[dict[str, Any]]:
    return [{"role": role, "content": text}, {"role": "user", "content": "What failed?"}]


WITHOUT_STORE: dict[str, Callable[[str], object]] = {
    "count_tokens": lambda text: count_tokens(text, model="gpt-5"),
    "fit, in a result": lambda text: fit(_in_result(text), budget=BUDGET),
    "fit, from the user": lambda text: fit(_as("user", text), budget=BUDGET),
    "fit, from the assistant": lambda text: fit(_as("assistant", text), budget=BUDGET),
    "fit, as the model": lambda text: fit(_as("user", "hi"), model=text),
    "fit, as the preset": lambda text: fit(_as("user", "hi"), preset=text),
}
IN_SESSION: dict[str, Callable[[Session, str], object]] = {
    "extend": lambda session, text: session.extend(_in_result(text)),
    "build": lambda session, _: session.build(budget=BUDGET),
    "build, as the task": lambda session, text: session.build(task=text, budget=BUDGET),
    "search": lambda session, text: session.search(text),
    "focus": lambda session, text: session.focus(text, budget=BUDGET),
    "recall": lambda session, text: session.recall(text),
    "why": lambda session, text: session.why(text),
    "start_task": lambda session, text: session.start_task(text),
    "forget": lambda session, text: session.forget(text),
}


def _seconds(run: Callable[[], object]) -> float:
    started = process_time()
    with suppress(FovealError):  # a refusal is an answer
        run()
    return process_time() - started


def _without_store(shape: str, size: int, _: Path) -> dict[str, float]:
    text = SHAPES[shape](size)
    return {name: _seconds(lambda run=run: run(text)) for name, run in WITHOUT_STORE.items()}


def _in_session(shape: str, size: int, folder: Path) -> dict[str, float]:
    text = SHAPES[shape](size)
    with Foveal(folder / f"{size}.db") as fov:
        session = fov.session("long")
        return {name: _seconds(lambda run=run: run(session, text)) for name, run in IN_SESSION.items()}


def _too_slow(measure: Measure, shape: str, folder: Path) -> dict[str, str]:
    short, long = (measure(shape, size, folder) for size in (SHORT, LONG))
    return {
        name: f"{short[name]:.2f} s, then {long[name]:.2f} s"
        for name in long
        if long[name] > max(CALM, MOST * short[name])
    }


@pytest.mark.parametrize("shape", SAMPLE[1:])
def test_a_long_text_takes_linear_time_without_a_store(shape: str, tmp_path: Path) -> None:
    assert _too_slow(_without_store, shape, tmp_path) == {}


@pytest.mark.parametrize("shape", SAMPLE[:1])
def test_a_long_text_takes_linear_time_in_a_session(shape: str, tmp_path: Path) -> None:
    assert _too_slow(_in_session, shape, tmp_path) == {}


@pytest.mark.soak
@pytest.mark.skipif(os.environ.get("FOVEAL_SOAK") != "1", reason="`make soak` tries every shape")
@pytest.mark.parametrize("measure", [_without_store, _in_session])
@pytest.mark.parametrize("shape", SHAPES)
def test_every_long_text_takes_linear_time(measure: Measure, shape: str, tmp_path: Path) -> None:
    assert _too_slow(measure, shape, tmp_path) == {}
