"""The flags of messages in windows by `omar`."""

from __future__ import annotations

from typing import Any

import foveal

LINE = "Acme asked for an offer. " * 4
DEAL = {"role": "assistant", "content": LINE, "metadata": {"revenue_impact": 400, "urgency": "critical"}}
PLAIN = {"role": "assistant", "content": LINE}
ASK = {"role": "user", "content": "Which one?"}


def flagged(history: list[Any], *, budget: int = 1_000, **numbers: Any) -> dict[int, tuple[str, ...]]:
    window = foveal.fit(history, budget=budget, preset="omar", numbers={"omar": numbers}, now=0.0)
    return {each.first: each.flags for each in window.manifest.decisions if each.flags}


def test_every_decision_has_the_flags_of_its_messages_kept_or_not() -> None:
    history = [PLAIN, *[DEAL] * 3, ASK]
    assert flagged(history) == dict.fromkeys((1, 2, 3), ("urgent",))
    assert flagged(history, budget=60) == flagged(history)


def test_settings_decide_what_is_flagged() -> None:
    found = flagged([PLAIN, DEAL, ASK], high_revenue=400, long=20)
    assert found[0] == ("requires_summarization",)
    assert found[1] == ("high_business_relevance", "urgent", "requires_summarization")


def test_the_explanation_shows_them() -> None:
    window = foveal.fit([PLAIN, DEAL, ASK], budget=60, preset="omar", now=0.0)
    (row,) = [line for line in window.explain().splitlines() if "urgent" in line]
    assert "requires" not in row


def test_other_presets_flag_nothing() -> None:
    for preset in ("fifth", "foveal", "penguin"):
        window = foveal.fit([PLAIN, DEAL, ASK], budget=60, preset=preset, now=0.0)
        assert not any(each.flags for each in window.manifest.decisions)
