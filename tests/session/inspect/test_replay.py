"""What `replay` promises: what each call of the model would have been, measured, with nothing stored."""

from __future__ import annotations

import json
from typing import Any

import pytest

import foveal
from foveal import Foveal, InputError, NotFoundError
from foveal.presets import PRESETS
from foveal.session.inspect.replay import Facts, Replayed, calls
from foveal.wire import load

MODEL = "claude-sonnet-4-5"


def step(n: int, path: str) -> list[dict[str, Any]]:
    """A question, a tool call about a path, its result, an answer."""
    call = {"id": f"c{n}", "type": "function",
            "function": {"name": "read", "arguments": json.dumps({"file_path": path})}}  # fmt: skip
    return [
        {"role": "user", "content": f"look at {path}"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": f"c{n}", "content": f"{path} holds " + "words " * 60},
        {"role": "assistant", "content": "Done."},
    ]


HISTORY = [
    {"role": "system", "content": "You read files. " * 300},
    *(message for n in range(12) for message in step(n, f"src/file_{n}.py")),
    {"role": "user", "content": "look at the second one again"},
    *step(99, "src/file_1.py")[1:],
    {"role": "user", "content": "And now?"},
]


def replayed(fov: Foveal, **options: Any) -> Replayed:
    session = fov.session("work", model=MODEL, preset="recent")
    session.extend(HISTORY)
    return fov.replay("work", **{"preset": "omar", "budget": 1_800} | options)


def test_the_model_is_called_after_the_user_and_after_tools_and_at_the_end() -> None:
    assert calls(load(HISTORY[:9]).messages) == [2, 4, 6, 8]
    assert calls(load(HISTORY[:3]).messages) == [2]
    assert calls(load(HISTORY[:4]).messages) == [2, 4]


def test_a_window_is_built_for_every_call(fov: Foveal) -> None:
    found = replayed(fov)
    asked = calls(load(HISTORY).messages)
    assert found.calls == len(asked)
    assert [request.messages for request in found.run.requests] == asked


@pytest.mark.parametrize("preset", PRESETS)
def test_every_request_is_valid_and_within_the_budget(fov: Foveal, preset: str) -> None:
    run = replayed(fov, preset=preset).run
    assert (run.name, run.invalid, run.over, run.refused) == (preset, 0, 0, 0)
    assert 0 < run.largest <= 1_800
    assert run.tokens == sum(request.tokens for request in run.requests)


def test_the_windows_are_those_that_a_session_would_have_built(fov: Foveal) -> None:
    found = replayed(fov, preset="recent")
    session, taken = fov.session("again", model=MODEL), 0
    for request in found.run.requests:
        session.extend(HISTORY[taken : request.messages])
        taken = request.messages
        assert session.build(budget=1_800, preset="recent").tokens == request.tokens


def test_the_sessions_own_preset_and_the_whole_history_are_measured_too(fov: Foveal) -> None:
    found = replayed(fov)
    assert found.recorded
    assert (found.recorded.name, found.whole.name) == ("recent", "sent whole")
    assert found.whole.requests[-1].tokens == foveal.count_tokens(HISTORY, model=MODEL)
    assert found.whole.over > 0
    assert replayed(fov, preset="recent").recorded is None


def test_what_the_request_before_began_with_is_read_at_the_price_of_the_cache(fov: Foveal) -> None:
    whole = replayed(fov).whole
    assert whole.requests[0].cached == 0
    before, last = whole.requests[-2:]
    assert before.tokens - 20 < last.cached < before.tokens + 20
    assert last.cost
    assert last.cost < last.tokens * 3.0 / 1e6 / 2


def test_a_session_that_is_sent_whole_keeps_every_fact(fov: Foveal) -> None:
    found = replayed(fov)
    assert found.whole.kept_facts == 1.0
    assert found.whole.facts >= 13


def test_a_fact_that_left_the_window_is_missed(fov: Foveal) -> None:
    run = replayed(fov, preset="recent").run
    missed = [request for request in run.requests if request.kept < request.facts]
    assert [request.messages for request in missed] == [len(HISTORY) - 4]
    assert run.kept_facts < 1.0


def test_facts_are_values_that_were_read_before_not_names_of_arguments() -> None:
    messages = load(HISTORY[:4]).messages
    assert Facts(messages).needed == {2: {"src/file_0.py", "file_0.py"}, 4: set()}


def test_arguments_that_are_not_json_are_read_as_they_are() -> None:
    broken = json.loads(json.dumps(HISTORY[:4]))
    for arguments in ("src/file_0.py, ", "[" * 100_000 + "src/file_0.py"):
        broken[2]["tool_calls"][0]["function"]["arguments"] = arguments
        assert "src/file_0.py" in Facts(load(broken).messages).needed[2]


def test_nothing_is_stored(fov: Foveal) -> None:
    session = fov.session("work", model=MODEL)
    session.extend(HISTORY)
    before = (session.stats(), fov.sessions())
    fov.replay(session, preset="openscroll", budget=1_800)
    assert (session.stats(), fov.sessions()) == before


def test_what_was_pruned_is_played_and_what_was_erased_is_not(fov: Foveal) -> None:
    session = fov.session("work", model=MODEL)
    ids = session.extend(HISTORY)
    session.forget(ids[-1])
    session.prune(2_000)
    assert fov.replay(session, preset="recent").messages == len(HISTORY) - 1


def test_pins_are_in_every_window_from_their_message_on(fov: Foveal) -> None:
    session = fov.session("work", model=MODEL)
    ids = session.extend(HISTORY)
    session.pin(ids[5])
    assert fov.replay(session, preset="recent", budget=1_800).run.kept_facts == 1.0


def test_calls_for_which_no_window_fits_are_counted(fov: Foveal) -> None:
    found = replayed(fov, budget=1_000)
    assert (found.run.refused, found.run.requests, found.run.tokens) == (found.calls, (), 0)


def test_without_prices_there_is_no_cost(fov: Foveal) -> None:
    fov.session("work").extend(HISTORY)
    found = fov.replay("work", preset="recent", budget=3_000)
    assert (found.run.cost, found.whole.cost) == (None, None)


def test_progress_is_reported_call_by_call_to_the_end(fov: Foveal) -> None:
    reported: list[tuple[int, int]] = []
    found = replayed(fov, progress=lambda done, of: reported.append((done, of)))
    assert reported == [(n, 2 * found.calls) for n in range(1, 2 * found.calls + 1)]


def test_an_unknown_session_and_an_invalid_budget_are_errors(fov: Foveal) -> None:
    with pytest.raises(NotFoundError, match="no session 'nobody'"):
        fov.replay("nobody", preset="recent")
    with pytest.raises(InputError, match="`budget`"):
        replayed(fov, budget="many")


def test_a_session_without_a_call_has_nothing_to_replay(fov: Foveal) -> None:
    fov.session("empty")
    found = fov.replay("empty", preset="recent", budget=100)
    assert (found.calls, found.run.tokens, found.run.kept_facts) == (0, 0, 1.0)


def test_without_a_budget_the_session_is_replayed_with_that_of_its_newest_build(fov: Foveal) -> None:
    session = fov.session("work", model=MODEL, preset="recent")
    session.extend(HISTORY)
    session.build(budget=3_000)
    session.build(budget=2_000)
    found = fov.replay("work", preset="recent")
    assert (found.budget, found.run.over) == (2_000, 0)
    assert found.run.largest <= 2_000
    assert fov.replay("work", preset="recent", budget=1_900).budget == 1_900


def test_a_session_that_was_never_built_is_replayed_with_the_limit_of_its_model(fov: Foveal) -> None:
    assert replayed(fov, budget=None, preset="recent").budget > 100_000


def test_the_budget_of_a_build_is_not_taken_beyond_what_another_model_takes(fov: Foveal) -> None:
    session = fov.session("work", model=MODEL, preset="recent")
    session.extend(HISTORY)
    session.build(budget=100_000)
    assert fov.replay("work", preset="recent", model="gpt-4").budget < 10_000
