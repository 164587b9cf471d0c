"""What `window_fit` promises: the same window as `fit`, as plain data."""

from __future__ import annotations

import pytest

import foveal
from foveal import operations
from foveal.errors import InputError

HISTORY = [{"role": "user", "content": f"line {n}"} for n in range(50)]


@pytest.mark.parametrize("preset", ["recent", "omar", "openscroll", "penguin", "fifth", "reploid"])
def test_an_operation_gives_the_window_that_fit_gives(preset: str) -> None:
    request = {"messages": HISTORY, "model": "gpt-5", "budget": 60, "preset": preset, "now": 9.0}
    window = foveal.fit(HISTORY, model="gpt-5", budget=60, preset=preset, now=9.0)
    result = operations.run("window_fit", request)
    assert (result["messages"], result["tokens"]) == (window.messages, window.tokens)
    assert len(result["manifest"]["decisions"]) == len(window.manifest.decisions)


def test_a_whole_request_body_is_taken() -> None:
    body = {"model": "claude-sonnet-4-5", "system": "Be brief.", "max_tokens": 100, "messages": HISTORY}
    assert operations.run("window_fit", body | {"budget": 2_000})["budget"] == 2_000


def test_now_is_a_number_or_a_text() -> None:
    dated = [{**message, "created_at": 1_738_310_400 + n} for n, message in enumerate(HISTORY)]
    request = {"messages": dated, "model": "gpt-5", "budget": 60, "preset": "fifth"}
    as_text, as_number = (
        operations.run("window_fit", request | {"now": now})
        for now in ("2025-01-31T09:30:00Z", 1_738_315_800)
    )
    assert as_text == as_number
    with pytest.raises(InputError, match="`now`"):
        operations.run("window_fit", request | {"now": "soon"})


def test_what_is_wrong_with_the_request_is_named() -> None:
    with pytest.raises(InputError, match="budget"):
        operations.run("window_fit", {"messages": HISTORY, "budget": "lots"})
    with pytest.raises(InputError, match=r"messages|input|contents"):
        operations.run("window_fit", {"model": "gpt-5"})
