"""What a comparison promises: the windows that `fit` and `build` make, side by side, all of them valid."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

import foveal
from foveal import ConfigError, Foveal, InputError, presets
from foveal.cli.demo import script
from foveal.pipeline.values import Selection

CALL = {"id": "c1", "type": "function", "function": {"name": "ls", "arguments": "{}"}}
TURN: list[dict[str, Any]] = [
    {"role": "user", "content": "look at every module " * 4},
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "c1", "content": "module " * 40},
    {"role": "assistant", "content": "Nothing is wrong there."},
]
HISTORY = [{"role": "system", "content": "You fix bugs."}, *TURN * 12, {"role": "user", "content": "So?"}]


def test_every_preset_has_its_row_with_the_window_that_fit_makes() -> None:
    found = foveal.compare(HISTORY, budget=500, model="gpt-5", task="module", now=9.0)
    assert [row.preset for row in found.presets] == list(presets.PRESETS)
    for row in found.presets:
        window = foveal.fit(HISTORY, budget=500, model="gpt-5", preset=row.preset, task="module", now=9.0)
        assert row.tokens == window.tokens <= found.budget == 500
        assert row.messages == sum(d.last - d.first + 1 for d in window.manifest.kept)


def test_the_history_is_measured_whole_and_by_kind() -> None:
    found = foveal.compare(HISTORY, budget=500, model="gpt-5")
    assert (found.messages, found.tokens) == (50, foveal.count_tokens(HISTORY, model="gpt-5"))
    assert found.kinds == {"system": 1, "user": 13, "assistant": 12, "tool_calls": 12, "tool_output": 12}


def test_a_preset_without_a_window_for_the_budget_is_named_and_the_others_are_compared(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(*_: object) -> Selection:
        raise foveal.BudgetError("no room for the plan", "raise `budget`")

    refusing = replace(presets.PRESETS["openscroll"], select=refuse)
    monkeypatch.setitem(presets.PRESETS, "openscroll", refusing)
    asked: list[dict[str, Any]] = [{"role": "user", "content": "look at every module " * 30}, *TURN[1:3]]
    found = foveal.compare(asked, budget=120)
    assert list(found.refused) == ["openscroll"]
    assert len(found.presets) == len(presets.PRESETS) - 1


def test_a_budget_too_small_for_every_preset_is_an_error() -> None:
    with pytest.raises(foveal.BudgetError, match="the smallest possible window"):
        foveal.compare(HISTORY, budget=8)


def test_what_is_kept_by_kind_adds_up() -> None:
    for row in foveal.compare(HISTORY, budget=500).presets:
        assert sum(row.kinds.values()) == row.messages
        assert row.kinds["tool_calls"] == row.kinds["tool_output"]


def test_no_window_breaks_a_rule_of_the_provider() -> None:
    found = foveal.compare(list(script.messages()), budget=6_000, model="gpt-5")
    assert {row.invalid for row in found.presets} == {0}


def test_the_cost_is_that_of_the_tokens_and_less_where_the_beginning_stays() -> None:
    found = foveal.compare(list(script.messages()), budget=6_000, model="gpt-5")
    for row in found.presets:
        assert row.cost == pytest.approx(row.tokens * 1.25 / 1e6)
        fresh = row.tokens - row.cached
        assert row.cost_cached == pytest.approx((fresh * 1.25 + row.cached * 0.125) / 1e6)
    assert any(row.cached for row in found.presets)


def test_what_is_not_yet_in_the_cache_costs_the_writing_where_there_is_a_price() -> None:
    found = foveal.compare(list(script.messages()), budget=6_000, model="claude-sonnet-4-5")
    for row in found.presets:
        fresh, write = row.tokens - row.cached, 3.75 if row.tokens >= 1024 else 3.0  # too short to be cached
        assert row.cost_cached == pytest.approx((fresh * write + row.cached * 0.3) / 1e6)


def test_a_beginning_shorter_than_the_provider_caches_is_not_cached() -> None:
    assert {row.cached for row in foveal.compare(HISTORY, budget=500, model="gpt-5").presets} == {0}


def test_a_first_request_finds_nothing_cached() -> None:
    (row,) = foveal.compare(HISTORY[:2], presets=["recent"]).presets
    assert row.cached == 0


def test_an_unknown_price_is_none() -> None:
    (row,) = foveal.compare(HISTORY, budget=500, presets=["recent"]).presets
    assert (row.cost, row.cost_cached) == (None, None)


def test_presets_may_be_named_and_their_numbers_given() -> None:
    numbers = {"reploid": {"recency": 0.0}}
    rows = foveal.compare(HISTORY, budget=500, presets=["reploid", "recent"], numbers=numbers).presets
    assert [row.preset for row in rows] == ["reploid", "recent"]
    with pytest.raises(ConfigError, match="no preset 'nobody'"):
        foveal.compare(HISTORY, presets=["nobody"])
    with pytest.raises(InputError, match="`presets` is the text"):
        foveal.compare(HISTORY, presets="recent")


def test_a_request_body_of_any_provider_is_accepted() -> None:
    body = {"model": "claude-sonnet-4-5", "max_tokens": 9, "system": "Be brief.", "messages": TURN[:1] * 9}
    found = foveal.compare(body, budget=300)
    assert (found.model, found.format) == ("claude-sonnet-4-5", "anthropic")
    assert {row.kinds["system"] for row in found.presets} == {1}


def test_a_session_compares_what_it_holds_pins_included_and_stores_nothing() -> None:
    with Foveal(":memory:") as fov:
        session = fov.session(model="gpt-5")
        ids = session.extend(HISTORY)
        session.pin(ids[1])
        found = session.compare(budget=500, now=9.0)
        assert session.stats().builds == 0
        kept = [row for row in found.presets if not presets.PRESETS[row.preset].manages]
        for row in kept[:-1]:  # the last one keeps a stable prefix: see below
            assert row.tokens == session.build(budget=500, preset=row.preset, now=9.0).tokens
        assert asyncio.run(session.acompare(budget=500, now=9.0)).tokens == found.tokens


def test_a_session_leaves_out_what_is_left_out() -> None:
    with Foveal(":memory:") as fov:
        session = fov.session()
        ids = session.extend(HISTORY)
        session.forget(ids[-2], erase=False)
        session.forget(ids[4])
        rows = session.compare(budget=5_000, presets=["recent", "omar"]).presets
        assert {row.messages for row in rows} == {48}


def test_a_preset_with_a_stable_prefix_is_compared_as_the_request_after_another() -> None:
    with Foveal(":memory:") as fov:
        session = fov.session(model="gpt-5")
        session.extend([{"role": "user", "content": f"Read file_{n}.py"} for n in range(400)])
        session.build(budget=3_000)
        session.extend([{"role": "assistant", "content": "Done."}, {"role": "user", "content": "Go on."}])
        (row,) = session.compare(budget=3_000, presets=["foveal"]).presets
        assert row.tokens == session.build(budget=3_000).tokens
        assert row.cached > row.tokens / 2


def test_a_session_compares_windows_with_its_stable_prefix() -> None:
    with Foveal(":memory:") as fov:
        session = fov.session(model="gpt-5")
        for message in HISTORY:
            session.extend([message])
            if message["role"] in ("user", "tool"):
                window = session.build(budget=500)
        (row,) = session.compare(budget=500, presets=["foveal"]).presets
        assert row.tokens == window.tokens


def test_a_session_compares_what_it_retrieved_too() -> None:
    with Foveal(":memory:") as fov:
        session = fov.session(model="gpt-5")
        for number in range(120):
            session.add("user", f"Order {number} has the id ORD{number:04}. " * 5)
            session.add("assistant", "It is paid and on its way to the harbour.")
        session.build(budget=4_000, preset="foveal")
        session.add("user", "Is order ORD0003 paid?")
        window = session.build(budget=4_000, preset="foveal")
        (row,) = session.compare(budget=4_000, presets=["foveal"]).presets
        assert window.manifest.parts["retrieved"]
        assert row.tokens == window.tokens


def test_after_a_pause_that_the_cache_did_not_outlast_nothing_is_cached() -> None:
    with Foveal(":memory:") as fov:
        session = fov.session(model="claude-sonnet-4-5")
        session.extend([{"role": "user", "content": "word " * 3_000}])
        session.build(budget=50_000, now=1_000.0)
        cached = [
            session.compare(budget=50_000, presets=["foveal"], now=now).presets[0].cached
            for now in (1_100.0, 9_000.0)
        ]
        assert cached[0] > 2_000 > cached[1] == 0
