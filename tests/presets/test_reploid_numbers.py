"""Every number of `reploid` has an effect."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields

import pytest

from foveal import Foveal
from foveal.presets.reploid import ReploidNumbers

OTHER: dict[str, object] = {
    "recency": 5.0,
    "roles": {"assistant": 60.0},
    "error": 60.0,
    "error_words": "fine",
    "operation": 60.0,
    "operation_words": "fine",
    "length": 60.0,
    "long_above": 10,
    "target": 0.5,
    "keep": 3,
}
MESSAGES = [
    ("user", "Find out why the login fails."),
    ("assistant", "The test failed with an exception."),
    ("assistant", "I will create an index and deploy it."),
    ("assistant", "The handbook says nothing new. " * 40),
    *((("user", "assistant")[n % 2], f"Module {n} is fine, as far as one can see.") for n in range(20)),
    ("user", "So where is the bug?"),
]


def outcome(numbers: Mapping[str, object]) -> tuple[object, ...]:
    """The scores in a window, what a build prunes before it, and what a summary leaves."""
    with Foveal(":memory:", numbers={"reploid": numbers}) as fov:
        session = fov.session("login", model="gpt-5", preset="reploid")
        for role, text in MESSAGES:
            session.add(role, text)  # type: ignore[arg-type]
        summary = session.summarize(dry_run=True)
        window = session.build(budget=400, now=0.0)
        kept = [str(message["content"]) for message in window.messages]
        scores = [each.score for each in window.manifest.decisions]
        return summary, kept, scores, session.stats().full_at


def test_no_number_is_missing_here() -> None:
    assert OTHER.keys() == {field.name for field in fields(ReploidNumbers)}


@pytest.mark.parametrize("name", OTHER)
def test_another_number_gives_another_result(name: str) -> None:
    assert outcome({name: OTHER[name]}) != outcome({})
