"""Recorded agent runs, turn by turn: every window is one the providers accept, within its budget.

The recordings are not part of the repository; `benchmarks/validity.py` runs all of them.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
from harness import ABSENT, trajectories

if not trajectories():
    pytest.skip(ABSENT, allow_module_level=True)

import validity

LONG = {"session": 10_000, "fit": 100}
"""Messages of the longest recording: `fit` reads all of it again for each turn."""


@pytest.mark.parametrize("system", LONG)
def test_no_request_of_a_recorded_run_is_invalid_or_over_budget(
    system: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    some = [case for case in validity.cases(12) if len(case.messages) <= LONG[system]]
    monkeypatch.setattr(validity, "cases", lambda _: some)
    row = validity.measure(system, None)
    assert row["turns"] > 100
    assert row["violations"] == {}
    assert (row["over_budget"], row["errors"]) == (0, 0)


@pytest.mark.parametrize("form", ["messages", "anthropic"])
def test_every_recorded_run_comes_out_as_it_went_in(form: str) -> None:
    from trajbench.data import load

    import foveal

    recorded: list[Any] = [record[form] for record in load("dev") if record.get(form)]
    assert recorded
    for history in recorded:
        messages = history["messages"] if isinstance(history, dict) else history
        if messages[-1]["role"] == "assistant":  # a window is for the model to answer
            messages = messages[:-1]
        assert foveal.fit(messages, budget=10_000_000).messages == messages
