"""Every number of `recent` has an effect."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields

import pytest

import foveal
from foveal.presets.recent import RecentNumbers
from tool_runs import said, step

OTHER: dict[str, object] = {
    "short_forms": True,
    "full_share": 0.1,
    "short_share": 0.6,
    "short_least": 150,
}
HISTORY = [
    said("Find out why the login fails."),
    *(
        message
        for number in range(12)
        for message in step(
            number, "read", "\n".join(f"line {n} of file {number} is not the cause" for n in range(20))
        )
    ),
    said("So where is the bug?"),
]


def outcome(numbers: Mapping[str, object]) -> list[object]:
    """A window with room for six of twelve results."""
    return list(
        foveal.fit(HISTORY, budget=1_200, preset="recent", numbers={"recent": numbers}, now=0.0).messages
    )


def test_no_number_is_missing_here() -> None:
    assert OTHER.keys() == {field.name for field in fields(RecentNumbers)}


@pytest.mark.parametrize("name", OTHER)
def test_another_number_gives_another_result(name: str) -> None:
    usual = {} if name == "short_forms" else {"short_forms": True}
    assert outcome({**usual, name: OTHER[name]}) != outcome(usual)
