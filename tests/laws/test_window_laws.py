"""The laws of a window, for any history in any format: budget, turns, nothing lost, stable, explained."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import foveal
from foveal import wire
from foveal.errors import BudgetError, InputError
from foveal.model import Format, handle_of
from foveal.window import Window
from strategies import FORMATS, histories, requests

pytestmark = pytest.mark.soak
BUDGETS = st.integers(1, 600)
FEWER = settings(max_examples=settings.default.max_examples // 5)
FEW = settings(max_examples=settings.default.max_examples // 10)
FEWEST = settings(max_examples=settings.default.max_examples // 50)


def fitted(history: Any, budget: int, format: Format) -> Window | None:
    """The window, or None where there is nothing to answer or no room for what must stay."""
    try:
        return foveal.fit(history, budget=budget, format=format)
    except BudgetError:
        return None
    except InputError as error:
        if "no message to answer" in error.what:
            return None
        raise


def violations(window: Window) -> set[str]:
    """Rules of the provider that a window breaks; callers may end with the assistant."""
    return set(wire.check(window.request, window.format)) - {"ends_with_assistant"}


def covered(window: Window) -> list[int]:
    return [seq for d in window.manifest.decisions for seq in range(d.first, d.last + 1)]


def recalled(window: Window, history: list[Any], format: Format) -> list[str]:
    """Addresses of what the handles recall: two messages that differ in cache markers share a handle."""
    messages = wire.load(history, format=format).messages
    return [wire.address(json.dumps(window.recall(handle_of(m.digest)))) for m in messages]


@pytest.mark.parametrize("format", FORMATS)
@given(data=st.data())
def test_budget_turns_and_reasons_hold_for_any_history_however_broken(
    format: Format, data: st.DataObject
) -> None:
    history = data.draw(histories(format, broken=True))
    window = fitted(history, data.draw(BUDGETS), format)
    if window is not None:
        assert window.tokens == foveal.count_tokens(window.messages, format=format) <= window.budget
        assert violations(window) == set()
        assert covered(window) == list(range(len(history)))
        assert all(decision.because for decision in window.manifest.decisions)
        assert recalled(window, history, format) == [wire.address(json.dumps(m)) for m in history]


@pytest.mark.parametrize("format", FORMATS)
@FEWER
@given(data=st.data())
def test_a_valid_history_that_fits_comes_out_as_it_came_in(format: Format, data: st.DataObject) -> None:
    history = data.draw(histories(format))
    window = foveal.fit(history, budget=1_000_000, format=format)
    assert window.messages == history
    assert window.manifest.left_out == window.manifest.repairs == ()


@pytest.mark.parametrize("format", FORMATS)
@FEWER
@given(data=st.data())
def test_a_request_body_that_fits_comes_out_as_it_came_in(format: Format, data: st.DataObject) -> None:
    body = data.draw(requests(format))
    assert foveal.fit(body, model="gpt-4.1", budget=1_000_000, format=format).request == body


def unmarked(window: Window) -> dict[str, Any]:
    return wire.without_markers({"messages": window.messages})


@pytest.mark.parametrize("format", FORMATS)
@FEW
@given(data=st.data())
def test_while_everything_fits_a_session_gives_the_window_that_fit_gives(
    format: Format, data: st.DataObject
) -> None:
    history = data.draw(histories(format, broken=True))
    with foveal.Foveal(":memory:") as fov:
        session = fov.session()
        for at, message in enumerate(history):
            session.extend([message], format=format)
            expected = fitted(history[: at + 1], 1_000_000, format)
            try:
                built = session.build(budget=1_000_000, format=format)
            except (BudgetError, InputError):
                built = None
            assert (built and unmarked(built)) == (expected and unmarked(expected))
            assert (built and built.tokens) == (expected and expected.tokens)


@pytest.mark.parametrize("format", FORMATS)
@FEWER
@given(data=st.data())
def test_the_prefix_is_stable_while_nothing_before_it_changes(format: Format, data: st.DataObject) -> None:
    history = data.draw(histories(format))
    more = data.draw(histories(format))
    before = foveal.fit(history, budget=1_000_000, format=format).pieces
    after = foveal.fit([*history, *more], budget=1_000_000, format=format).pieces
    assert after[: len(before)] == before


@pytest.mark.parametrize("source", FORMATS)
@pytest.mark.parametrize("format", FORMATS)
@FEWEST
@given(data=st.data())
def test_a_session_can_be_sent_to_any_provider(source: Format, format: Format, data: st.DataObject) -> None:
    history = data.draw(histories(source, broken=True))
    with foveal.Foveal(":memory:") as fov:
        session = fov.session()
        session.extend(history, format=source)
        try:
            window = session.build(budget=data.draw(BUDGETS), format=format)
        except BudgetError:
            return
        except InputError as error:
            assert "no message to answer" in error.what  # noqa: PT017 — most histories have one
            return
        assert foveal.count_tokens(window.request, format=format) <= window.tokens <= window.budget
        assert violations(window) == set()
