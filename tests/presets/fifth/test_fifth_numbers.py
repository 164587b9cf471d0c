"""Every number of `fifth` has an effect."""

from __future__ import annotations

from dataclasses import fields, replace

import pytest

from choosing import item
from foveal.pipeline.values import Scene, Unit
from foveal.presets.fifth.due import due
from foveal.presets.fifth.levels import FifthNumbers, by_level, excess, levels, slot_of
from foveal.presets.fifth.score import fifth
from foveal.window import Score

NOW = 10_000.0
OTHER: dict[str, float] = {
    "total": 32_000,
    "permanent": 4_000,
    "session": 6_000,
    "working": 5_000,
    "session_minutes": 90.0,
    "working_minutes": 1.0,
    "full_at": 0.4,
    "low_score": 0.9,
    "verbose_tokens": 900,
    "priority": 70.0,
    "recency_weight": 0.1,
    "references_weight": 0.1,
    "relevance_weight": 0.1,
    "explicit_weight": 0.2,
}
ITEMS = [
    item(0, 400, timestamp=NOW - 200, text="auth.js", important=True),
    item(1, 100, "rag_memory_commit", timestamp=NOW - 3_600),
    item(2, 600, "tool_output", timestamp=NOW - 100, text="see auth.js"),
    item(3, 300, timestamp=NOW, text="why auth.js?"),
]


def outcome(numbers: FifthNumbers) -> tuple[object, ...]:
    """All that is decided about four items in a window of 1,600 tokens."""
    scene = Scene(now=NOW, budget=1_600, task="why auth.js?")
    scores, slots = fifth(ITEMS, scene, numbers=numbers), levels(ITEMS, scene, numbers=numbers)
    ties = [
        Unit(turn=turn, items=(one,), tokens=900, score=Score(total=0.5), by_slot={"working": 900})
        for turn, one in enumerate([item(0, 900, priority=60.0), item(1, 900)])
    ]
    return (
        [score.parts for score in scores],
        slots,
        [slot_of(each, numbers=numbers) for each in ITEMS],
        due(ITEMS, scores, scene, numbers=numbers),
        due(ITEMS, scores, replace(scene, budget=9_000), numbers=numbers),
        excess(ITEMS, scene, numbers=numbers),
        by_level(ties, 1_000, slots=slots, numbers=numbers).kept,
    )


def test_no_number_is_missing_here() -> None:
    assert OTHER.keys() == {field.name for field in fields(FifthNumbers)}


@pytest.mark.parametrize("name", OTHER)
def test_another_number_gives_another_result(name: str) -> None:
    assert outcome(replace(FifthNumbers(), **{name: OTHER[name]})) != outcome(FifthNumbers())  # type: ignore[arg-type]
